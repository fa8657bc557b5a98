"""Sentences that were written for Python, in the words of the command line."""

_OPTIONS = {
    "missing_target='drop'": "--drop-missing-targets",
    "pos_label=": "--positive ",
    "needs pos_label": "needs --positive of fit",
    "max_fpr needs": "--max-fpr needs",
    "min_precision needs": "--min-precision needs",
}


def in_option_words(sentence: str) -> str:
    """Name options where a sentence names what does the same in Python.

    Examples
    --------
    >>> in_option_words("max_fpr needs pos_label, the class whose false answers do harm.")
    '--max-fpr needs --positive of fit, the class whose false answers do harm.'
    """
    for words, option in _OPTIONS.items():
        sentence = sentence.replace(words, option)
    return sentence
