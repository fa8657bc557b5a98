"""Base classes of scikit-learn for type checkers, which know nothing of its own.

Bases without types would let constructors take any parameter: of a dataclass all of them count.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:

    class BaseEstimator:
        """Whatever scikit-learn adds is there, without a type."""

        def __getattr__(self, name: str) -> Any: ...
        def __sklearn_tags__(self) -> Any: ...
        def __setstate__(self, state: Any) -> None: ...

    class ClassifierMixin:
        """Adds a score."""

    class MultiOutputMixin:
        """Adds a tag."""

    class RegressorMixin:
        """Adds a score."""

else:
    from sklearn.base import BaseEstimator, ClassifierMixin, MultiOutputMixin, RegressorMixin

__all__ = ["BaseEstimator", "ClassifierMixin", "MultiOutputMixin", "RegressorMixin"]
