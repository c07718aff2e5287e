"""Methods of values that arrange elements, accumulate them, or find their places, as NumPy's arrays
have them. Each is the function of the same name in `sealane`.
"""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from sealane._operands import Traced

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self


def later(module: str) -> Any:
    """A module of the package that imports this one: it is looked up when it is needed."""
    return importlib.import_module(f"sealane.{module}")


class Methods(Traced):
    """Base class with the methods beside operators and reductions."""

    __slots__ = ()

    @property
    def T(self) -> Self:
        """The same elements with the axes in reverse order, as `sl.transpose` gives them."""
        return self.transpose()

    def transpose(self, *axes: int | Sequence[int] | None) -> Self:
        """The same elements with the axes in another order, or in reverse order."""
        alone = len(axes) == 1 and (axes[0] is None or hasattr(axes[0], "__iter__"))
        order: Any = axes[0] if alone else axes or None
        return later("_shapes").transpose(self, order)

    def reshape(self, *shape: Any) -> Self:
        """The elements, in row-major order, in another shape: `x.reshape(2, -1)`."""
        return later("_shapes").reshape(self, shape[0] if len(shape) == 1 else shape)

    def ravel(self) -> Self:
        """The elements along one axis, in row-major order."""
        return later("_shapes").ravel(self)

    def flatten(self) -> Self:
        """The elements along one axis, in row-major order."""
        return self.ravel()

    def squeeze(self, axis: int | Sequence[int] | None = None) -> Self:
        """The same elements without the axes of length 1."""
        return later("_shapes").squeeze(self, axis)

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """The same elements with two axes exchanged."""
        return later("_shapes").swapaxes(self, axis1, axis2)

    def repeat(self, repeats: int, axis: int | None = None) -> Self:
        """Each element repeated so many times."""
        return later("_shapes").repeat(self, repeats, axis)

    def cumsum(self, axis: int | None = None, *, dtype: Any = None) -> Any:
        """Sums of the elements up to each one, as `sl.cumsum` gives them."""
        return later("_scans").cumsum(self, axis, dtype=dtype)

    def cumprod(self, axis: int | None = None, *, dtype: Any = None) -> Any:
        """Products of the elements up to each one, as `sl.cumprod` gives them."""
        return later("_scans").cumprod(self, axis, dtype=dtype)

    def argmax(self, axis: int | None = None) -> Any:
        """Index of the largest element, as `sl.argmax` gives it."""
        return later("_extremes").argmax(self, axis)

    def argmin(self, axis: int | None = None) -> Any:
        """Index of the smallest element, as `sl.argmin` gives it."""
        return later("_extremes").argmin(self, axis)

    def clip(self, min: Any = None, max: Any = None) -> Self:
        """Each element, or the end that it exceeds, as `sl.clip` gives it."""
        return later("_functions").clip(self, min, max)

    def round(self, decimals: int = 0) -> Self:
        """The nearest whole numbers, as `sl.round` gives them."""
        return later("_search").round(self, decimals)

    def dot(self, other: Any) -> Any:
        """Sums of products, as `sl.dot` gives them."""
        return later("_functions").dot(self, other)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Receives NumPy's functions."""
        return later("_numpy").call(function.__name__, args, kwargs)
