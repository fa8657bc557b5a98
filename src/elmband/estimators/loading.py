"""Models from files."""

from pathlib import Path
from typing import Any

from elmband.estimators._model import ELMModel
from elmband.estimators._saved import restore
from elmband.estimators.classifier import ELMClassifier
from elmband.estimators.interval import ELMIntervalRegressor
from elmband.estimators.point import ELMRegressor
from elmband.estimators.selective import ELMSelectiveClassifier
from elmband.models.model_file import KINDS
from elmband.sources.encode import TableEncoder
from elmband.sources.encode.saving import NAME as ENCODER
from elmband.sources.encode.saving import state_of
from elmband.sums.packed_file import Stored, read

_MODELS: dict[str, type[ELMModel]] = {
    model.__name__: model
    for model in (ELMRegressor, ELMIntervalRegressor, ELMClassifier, ELMSelectiveClassifier)
}


def load(path: str | Path) -> Any:
    """Return the model, or the encoder of tables, of a file that its `save` wrote.

    Nothing in the file is run. Checksums and shapes are verified; a file that is damaged, was
    changed, or belongs to a later format is refused with a sentence.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from elmband import ELMIntervalRegressor, load
    >>> from elmband.datasets import make_heteroscedastic
    >>> data = make_heteroscedastic(500, random_state=0)
    >>> model = ELMIntervalRegressor(random_state=0).fit(data.X, data.y)
    >>> with TemporaryDirectory() as folder:
    ...     again = load(model.save(Path(folder, "model.safetensors")))
    >>> bool((again.predict_interval(data.X) == model.predict_interval(data.X)).all())
    True
    """
    stored = read(path, KINDS)
    if stored.model == ENCODER:
        return _encoder(path, stored)
    kind = _MODELS.get(stored.model)
    if kind is None:
        raise ValueError(f"{path} holds a model of the unknown kind {stored.model[:40]!r}.")
    model = kind()
    try:
        restore(model, stored)
        _ = model.fitted_
    except Exception as error:
        raise ValueError(f"{path} is damaged or was changed: its model does not work.") from error
    return model


def _encoder(path: str | Path, stored: Stored) -> TableEncoder:
    """Return an encoder whose parts work together."""
    try:
        encoder = TableEncoder.from_state(state_of(stored))
        # Parameters that cannot be are refused where they are used.
        _ = encoder.text_columns
    except Exception as error:
        raise ValueError(f"{path} is damaged or was changed: its encoder does not work.") from error
    return encoder
