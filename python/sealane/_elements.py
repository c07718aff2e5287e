"""Element types by their names: the usual ones, and others, made when a program names them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from sealane import _core
from sealane._refusal import refuse_type

if TYPE_CHECKING:
    from sealane._value import Value

T = TypeVar("T", bound="Value")

TYPES: dict[str, type[Value]] = {}
"""Element types by name. `_types` adds the usual ones, `element_type` others; the text form says
`bool`.
"""

BASES: dict[str, type[Value]] = {}
"""Base classes of those that are made on demand: `fixed` of fixed point, `int` of others."""


class ElementType(type):
    """The type of element types; prints as users write them."""

    def __repr__(cls) -> str:
        sign, fixed, bits = cls.__name__.partition("fixed")
        if fixed and bits:
            return f"sealane.{sign}{fixed}({bits.replace('.', ', ')})"
        return f"sealane.{cls.__name__}"

    @property
    def wrapping(cls: type[T]) -> type[T]:  # type: ignore[misc]
        """The same elements with arithmetic modulo `2**bits`, which is never refused.

        Raises `ProgramError` for fixed and floating point, which do not wrap.

        >>> import sealane as sl
        >>> sl.u32.wrapping
        sealane.u32.wrapping
        """
        if not cls._wraps:
            raise refuse_type(
                f"`{cls!r}` does not wrap",
                reason="Modulo a power of two, a number with a fraction means little.",
                hint="convert where it may not fit: `sl.saturate(x, type)`",
            )
        name = cls.__name__.removesuffix(".wrapping")
        return element_type(f"{name}.wrapping")  # type: ignore[return-value]


def element_type(name: str) -> type[Value]:
    """The element type of a name such as `u13` or `u32.wrapping`.

    Raises `KeyError` if there is none.
    """
    if name not in TYPES:
        plain, _, suffix = name.partition(".")
        if not _core.is_type(name):
            raise KeyError(name)
        base = BASES["fixed" if "fixed" in plain else "int"]
        if suffix == "wrapping":
            base = element_type(plain)
        space = {"__slots__": (), "__module__": "sealane", "__doc__": f"Elements of type `{name}`."}
        made: Any = ElementType(name, (base,), space)
        TYPES[name] = made
    return TYPES[name]


def type_name(dtype: type[Value]) -> str:
    """The name of an element type in the graph.

    Raises `ProgramError` for anything else.
    """
    if isinstance(dtype, ElementType) and TYPES.get(dtype.__name__) is dtype:
        return "bool" if dtype is TYPES["bool"] else dtype.__name__
    spelled = getattr(dtype, "__name__", None) or repr(dtype)
    hint = {"bool": "sl.boolean", "Fixe": "sl.fixed(16, 16)", "Floa": "sl.f32"}
    hint["floa"] = {"float16": "sl.f16", "float32": "sl.f32"}.get(spelled, "sl.f64")
    raise refuse_type(
        f"`{spelled}` is not an element type",
        hint=f"write `{hint.get(spelled[:4], 'sl.i64')}`, for example",
    )
