"""Classifiers that may abstain: what their most certain answers are worth, and what they promise.

``python -m benchmarks.abstain`` runs all of it.

===============  ====================================================================
``data.py``      the sets and their splits
``rivals/``      elmband with each of its rules, and scikit-learn's classifiers
``answers.py``   labels and confidences of test rows, kept as files
``scores.py``    what the answers of one split are worth
``worker.py``    a process that runs one method on one set, or one study
``studies/``     beside one threshold for all; ensembles; promises kept; times
``runner.py``    starts the workers, keeps what is finished, resumes
``summary.py``   means over splits
``report.py``    the Markdown tables
``plot.py``      rates of the most certain part; risk against coverage
``check.py``     a quick test of all this
===============  ====================================================================

Results are kept by the store of ``benchmarks.quality``; a study stands where a method would.
"""
