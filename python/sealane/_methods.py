"""Methods of values that arrange elements, accumulate them, or find their places, as NumPy's arrays
have them. Each is the function of the same name in `sealane`.
"""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sealane._unsupported import Unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self


class Methods(Unsupported):
    """Base class with the methods beside operators and reductions."""

    __slots__ = ()

    @property
    def T(self) -> Self:
        """The same elements with the axes in reverse order, as `sl.transpose` gives them."""
        return self.transpose()

    def transpose(self, *axes: int | Sequence[int] | None) -> Self:
        """The same elements with the axes in another order, or in reverse order."""
        from sealane import _shapes

        alone = len(axes) == 1 and (axes[0] is None or hasattr(axes[0], "__iter__"))
        order: Any = axes[0] if alone else axes or None
        this: Any = self
        return _shapes.transpose(this, order)

    def reshape(self, *shape: Any) -> Self:
        """The elements, in row-major order, in another shape: `x.reshape(2, -1)`."""
        from sealane import _shapes

        this: Any = self
        return _shapes.reshape(this, shape[0] if len(shape) == 1 else shape)

    def ravel(self) -> Self:
        """The elements along one axis, in row-major order."""
        from sealane import _shapes

        this: Any = self
        return _shapes.ravel(this)

    def flatten(self) -> Self:
        """The elements along one axis, in row-major order."""
        return self.ravel()

    def squeeze(self, axis: int | Sequence[int] | None = None) -> Self:
        """The same elements without the axes of length 1."""
        from sealane import _shapes

        this: Any = self
        return _shapes.squeeze(this, axis)

    def swapaxes(self, axis1: int, axis2: int) -> Self:
        """The same elements with two axes exchanged."""
        from sealane import _shapes

        this: Any = self
        return _shapes.swapaxes(this, axis1, axis2)

    def repeat(self, repeats: int, axis: int | None = None) -> Self:
        """Each element repeated so many times."""
        from sealane import _shapes

        this: Any = self
        return _shapes.repeat(this, repeats, axis)

    def cumsum(self, axis: int | None = None, *, dtype: Any = None) -> Any:
        """Sums of the elements up to each one, as `sl.cumsum` gives them."""
        from sealane import _scans

        this: Any = self
        return _scans.cumsum(this, axis, dtype=dtype)

    def cumprod(self, axis: int | None = None, *, dtype: Any = None) -> Any:
        """Products of the elements up to each one, as `sl.cumprod` gives them."""
        from sealane import _scans

        this: Any = self
        return _scans.cumprod(this, axis, dtype=dtype)

    def argmax(self, axis: int | None = None) -> Any:
        """Index of the largest element, as `sl.argmax` gives it."""
        from sealane import _search

        this: Any = self
        return _search.argmax(this, axis)

    def argmin(self, axis: int | None = None) -> Any:
        """Index of the smallest element, as `sl.argmin` gives it."""
        from sealane import _search

        this: Any = self
        return _search.argmin(this, axis)

    def clip(self, min: Any = None, max: Any = None) -> Self:
        """Each element, or the end that it exceeds, as `sl.clip` gives it."""
        from sealane import _functions

        this: Any = self
        return _functions.clip(this, min, max)

    def round(self, decimals: int = 0) -> Self:
        """The nearest whole numbers, as `sl.round` gives them."""
        from sealane import _search

        this: Any = self
        return _search.round(this, decimals)

    def dot(self, other: Any) -> Any:
        """Sums of products, as `sl.dot` gives them."""
        from sealane import _functions

        this: Any = self
        return _functions.dot(this, other)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Receives NumPy's functions."""
        from sealane import _numpy

        return _numpy.call(function.__name__, args, kwargs)
