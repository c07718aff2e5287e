"""Kinds of columns: what dates, timestamps, texts, categories and nullable columns have in common.

A kind is a declaration in a signature. In the graph its elements are integers; the values here have
the operations that have a meaning for them. `_cells` converts data and results.
"""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from sealane import _operands, _operations, _value
from sealane._methods import later
from sealane._refusal import refuse, refuse_operand
from sealane._unsupported import Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sealane import _core
    from sealane._declarations import Between
    from sealane._value import Value


class KindType(type):
    """The type of kinds; prints as users write them."""

    _word: str

    def __repr__(cls) -> str:
        return f"sealane.{cls.__dict__.get('_spelled', cls.__name__)}"


def _refused(symbol: str) -> Any:
    """Makes an operator that kinds do not have, unless their own class defines it."""

    def operator(self: Kind, *_: object) -> NoReturn:
        raise refuse(
            "operator",
            f"`{symbol}` does not work on `{type(self)!r}`",
            reason="The operator computes with numbers.",
            hint=self._numbers(symbol),
        )

    return operator


def _compared(name: str) -> Any:
    """Makes an operator that compares."""
    return lambda self, other: self._compare(name, other)


class Kind(Unsupported, metaclass=KindType):
    """Base of the values of columns that are no plain numbers. They have the operations that mean
    something for their kind, `==` and `!=` among them, and those of all kinds: an index, `shape`,
    `sl.where` and `sl.count`.

    >>> import sealane as sl
    >>> issubclass(sl.date, sl.Value)
    False
    """

    __slots__ = ("_value",)
    _value: Value
    _word: ClassVar[str] = ""
    """Word of the text form; empty for a base class."""
    _texts: ClassVar[tuple[str, ...]] = ()
    _element: ClassVar[str] = ""
    _ends: ClassVar[tuple[int, int]] = (0, 0)
    """Range of the elements."""
    _nullable: ClassVar[bool] = False
    _example: ClassVar[str] = ""
    """A constant, as a program writes it."""
    _bytes: ClassVar[tuple[int, ...]] = ()
    """The dimension that a cell has of its own."""

    @property
    def shape(self) -> tuple[int | str, ...]:
        """Dimensions, as of a `Value`."""
        shape = self._value.shape
        return shape[: len(shape) - len(self._bytes)]

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    def __repr__(self) -> str:
        return f"<{type(self)!r} of {self._value!r}>".replace("sealane.", "", 1)

    def __getitem__(self, index: Any) -> Any:
        items = index if isinstance(index, tuple) else (index,)
        if self._bytes and not any(item is Ellipsis for item in items):
            items = (*items, Ellipsis)
        if self._bytes:
            items = (*items, slice(None))
        return self._of(self._value[items])

    def __eq__(self, other: Any) -> Any:
        return self._compare("eq", other)

    def __ne__(self, other: Any) -> Any:
        return self._compare("ne", other)

    __hash__ = Unsupported.__hash__  # defining `__eq__` takes an inherited one away

    __lt__, __le__, __gt__, __ge__ = map(_refused, ("<", "<=", ">", ">="))
    __add__ = __radd__ = _refused("+")
    __sub__ = __rsub__ = __neg__ = _refused("-")
    __mul__ = __rmul__ = _refused("*")
    __truediv__ = __rtruediv__ = _refused("/")
    __floordiv__ = __rfloordiv__ = _refused("//")
    __mod__ = __rmod__ = _refused("%")
    __divmod__ = __rdivmod__ = _refused("divmod")
    __pow__ = __rpow__ = _refused("**")
    __matmul__ = __rmatmul__ = _refused("@")
    __and__ = __rand__ = _refused("&")
    __or__ = __ror__ = _refused("|")
    __xor__ = __rxor__ = _refused("^")
    __lshift__ = __rlshift__ = _refused("<<")
    __rshift__ = __rrshift__ = _refused(">>")
    __pos__, __invert__, __abs__ = map(_refused, ("+", "~", "abs"))

    def __len__(self) -> int:
        return _operands.length_of(self.shape)

    def __iter__(self) -> Iterator[Any]:
        return (self[position] for position in range(_operands.loop_length(self.shape)))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """Receives NumPy's operators with an array on their left, and NumPy's functions."""
        return later("_numpy").ufunc_of_cells(self, ufunc.__name__, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """Receives NumPy's functions."""
        return later("_numpy").call(function.__name__, args, kwargs)

    @classmethod
    def _of(cls, value: Any) -> Any:
        """Makes a value of this kind of the elements."""
        made = object.__new__(cls)
        made._value = value
        return made

    def _compare(self, name: str, other: Any) -> Any:
        return _operations.operate(name, self._value, self._meant(other))

    def _meant(self, other: Any) -> Any:
        """The elements of an operand: of a value of this kind, or of a constant."""
        if isinstance(other, Kind | _value.Value):
            if type(other) is type(self):
                return other._value
            raise mixed(self, other)
        return self._constant(other)

    def _constant(self, item: Any) -> Any:
        """The elements of a constant of this kind.

        Raises `ProgramError` for one of another kind.
        """
        raise no_constant(self, item, "use values of the program")

    @classmethod
    def _ends_of(cls, declared: Between) -> tuple[int, int] | None:
        """The ends of a declared range as elements; `None` where they are none."""
        return None


def mixed(a: Kind, b: object) -> Exception:
    return refuse_operand(
        f"`{type(a)!r}` and `{type(b)!r}` have no common kind",
        reason="Elements of two kinds mean different things, even where their numbers are equal.",
        hint="convert one of them, such as a timestamp by `.date`"
        if isinstance(b, Kind)
        else a._numbers(),
    )


def no_constant(kind: Kind, item: object, hint: str) -> Exception:
    return refuse_operand(f"{reprlib.repr(item)} is no constant of `{type(kind)!r}`", hint=hint)


def is_kind(thing: Any) -> bool:
    """Returns whether it is a kind that a column can have."""
    return isinstance(thing, KindType) and bool(thing._word)


class Ordered(Kind):
    """Values with an order: `<`, `sl.minimum`, `x.max()`."""

    __slots__ = ()

    __lt__, __le__, __gt__, __ge__ = map(_compared, ("lt", "le", "gt", "ge"))


def made(base: Any, spelled: str, space: dict[str, Any]) -> Any:
    """The class of a kind with parameters, one for each spelling."""
    key = (base, spelled, *(repr(space[name]) for name in ("_texts", "_element")))
    if key not in _MADE:
        space = {"__slots__": (), "__module__": "sealane", "_spelled": spelled, **space}
        space["__doc__"] = f"Cells of kind `{spelled}`."
        _MADE[key] = KindType(base.__name__, (base,), space)
    return _MADE[key]


_MADE: dict[Any, Any] = {}


def meaning(kind: Any) -> _core.Meaning:
    """The kind of an element type, as the native module takes it."""
    if not is_kind(kind):
        return False, "number", []
    return kind._nullable, kind._word, list(kind._texts)


def mask_name(name: str) -> str:
    """The name of the input or result that tells which cells of another one are missing."""
    return f"{name}_missing"
