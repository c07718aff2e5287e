"""Texts and categories."""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sealane._kinds import Kind, Ordered, made, mixed, no_constant
from sealane._methods import later
from sealane._operations import operate
from sealane._refusal import counted, refuse_type
from sealane._types import u8, u64
from sealane._value import Value

if TYPE_CHECKING:
    from collections.abc import Sequence

ENCODINGS = {"ascii": "ascii", "latin1": "latin-1", "utf8": "utf-8"}
"""Encodings of texts by their names in a program, as Python calls them."""


class Text(Ordered):
    """Texts of a declared length in bytes: see `sl.text`, which makes the kind. To type checkers
    the element type is `Annotated[sl.Text, sl.text(12)]`.

    `a == b` and `a < b` compare letter by letter, by the bytes of the encoding; the order is that
    of characters. Texts compare with each other and with a `str`. `t.startswith(p)`, `t.lower()`
    and `t.upper()` work on the letters of ASCII.

    >>> import sealane as sl
    >>> sl.text(12)
    sealane.text(12)
    >>> @sl.program
    ... def initial(
    ...     name: sl.Private[sl.text(12), "shop"], more: sl.Private[sl.u8, "bank"]
    ... ) -> sl.Revealed[sl.u8, "bank"]:
    ...     return sl.maximum(name.bytes[0], more)
    >>> initial("Ada", 1)
    np.uint8(65)
    """

    __slots__ = ()
    _encoding: ClassVar[str] = "utf8"
    _below, _example = "sl.rank(x)", '""'
    _of_texts = (
        "texts compare, and have `x.startswith(p)`, `x.lower()`, `x.upper()` and `x.bytes`: do "
        "what else they need before they are given"
    )
    _instead: ClassVar[dict[str, str]] = {
        **dict.fromkeys(("aes128", "sha256"), "give their bytes: `x.bytes`"),
        **dict.fromkeys(("casefold", "str"), "write the method itself: `x.lower()`"),
        **dict.fromkeys(("length", "nbytes"), "count: `(x.bytes != 0).sum(axis=-1, dtype=sl.u16)`"),
        "max": "take the last in order: `sl.top_k(x, 1)[0]`",
        "min": "take the first in order: `sl.sort(x)[0]`, of rows `sl.head(sl.sort(x), 1)[0]`",
    }

    @property
    def bytes(self) -> Any:
        """The bytes, along a last dimension, with zeros behind the end of each text."""
        return self._value

    def startswith(self, prefix: Text | str) -> Any:
        """Returns whether each text begins with a prefix: a `str`, or texts of the program.

        Raises `ProgramError` for a prefix of another encoding.

        >>> import sealane as sl
        >>> @sl.program
        ... def begins(
        ...     name: sl.Private[sl.text(6), "shop", "all <= 9"], n: sl.Private[sl.text(2), "bank"]
        ... ) -> sl.Revealed[sl.boolean, "bank"]:
        ...     return name.startswith(n)
        >>> begins(["Ada", "Zoe"], "Ad")
        array([ True, False])
        """
        if isinstance(prefix, str):
            code = self._encoded(prefix)
            if not code:
                raise no_constant(self, prefix, "every text begins with the empty one")
            first = np.frombuffer(code, np.uint8)
            return (self._value[..., : len(code)] == first).all(axis=-1)
        if not isinstance(prefix, Text) or prefix._encoding != self._encoding:
            raise mixed(self, prefix)
        most = min(self._bytes[0], prefix._bytes[0])
        mine, other = self._value[..., :most], prefix._value
        head = other[..., :most]
        found = ((mine == head) | (head == 0)).all(axis=-1)
        if most < prefix._bytes[0]:
            found = found & (other[..., most:] == 0).all(axis=-1)
        return found

    def lower(self) -> Any:
        """The texts with small letters for the capital ones of ASCII.

        Raises no error of its own; `ProgramError` is for the operations on what it gives.

        >>> import sealane as sl
        >>> @sl.program
        ... def small(
        ...     name: sl.Private[sl.text(6), "shop", "all <= 9"], n: sl.Private[sl.text(2), "bank"]
        ... ) -> sl.Revealed[sl.text(6), "bank"]:
        ...     return sl.where(name == "Zoe", name, name.lower())
        >>> small(["Ada", "Zoe"], "Ad")
        array(['ada', 'Zoe'], dtype='<U3')
        """
        return self._flipped(b"AZ")

    def upper(self) -> Any:
        """The texts with capital letters for the small ones of ASCII.

        Raises no error of its own; `ProgramError` is for the operations on what it gives.

        >>> import sealane as sl
        >>> @sl.program
        ... def large(
        ...     name: sl.Private[sl.text(6), "shop", "all <= 9"], n: sl.Private[sl.text(2), "bank"]
        ... ) -> sl.Revealed[sl.text(6), "bank"]:
        ...     return sl.where(name == "Zoe", name, name.upper())
        >>> large(["Ada", "Zoe"], "Ad")
        array(['ADA', 'Zoe'], dtype='<U3')
        """
        return self._flipped(b"az")

    def _flipped(self, ends: Any) -> Any:
        value = self._value
        turned = (value >= ends[0]) & (value <= ends[1])
        return self._of(value ^ (turned.astype(u8) << 5))

    def _compare(self, name: str, other: Any) -> Any:
        mine, theirs = self._words(other)
        if name in ("eq", "ne"):
            same = mine[0] == theirs[0]
            for a, b in zip(mine[1:], theirs[1:], strict=True):
                same = same & (a == b)
            return same if name == "eq" else ~same
        if name in ("gt", "le"):
            mine, theirs = theirs, mine
        # The first words that differ decide.
        less = operate("lt", mine[-1], theirs[-1])
        for a, b in zip(mine[-2::-1], theirs[-2::-1], strict=True):
            less = operate("lt", a, b) | (operate("eq", a, b) & less)
        return less if name in ("lt", "gt") else ~less

    def _words(self, other: Any) -> tuple[list[Any], list[Any]]:
        """Both texts as numbers of up to eight bytes each, of equal length."""
        if isinstance(other, str):
            code, room = self._encoded(other), self._bytes[0]
            ends = range(0, room, _WORD)
            words = [int.from_bytes(code.ljust(room, b"\0")[at : at + _WORD]) for at in ends]
            return _joined(self._value, room, room), words
        if not isinstance(other, Kind):
            self._constant(other)
        if not isinstance(other, Text) or other._encoding != self._encoding:
            raise mixed(self, other)
        mine, theirs = self._bytes[0], other._bytes[0]
        room = max(mine, theirs)
        return _joined(self._value, mine, room), _joined(other._value, theirs, room)

    def _constant(self, item: Any) -> Any:
        if not isinstance(item, str):
            raise no_constant(self, item, "texts of the source are a `str` of Python")
        return u8(np.frombuffer(self._encoded(item).ljust(self._bytes[0], b"\0"), np.uint8))

    def _encoded(self, text: str) -> Any:
        try:
            code = text.encode(ENCODINGS[self._encoding])
        except UnicodeEncodeError:
            code = b"\0"
        if b"\0" in code:
            raise no_constant(self, text, f'use characters that "{self._encoding}" has')
        if len(code) > self._bytes[0]:
            most = counted(self._bytes[0], "byte")
            raise no_constant(self, text, f"use at most {most}: no value is longer")
        return code


_WORD = 8
"""Bytes that are compared as one number."""


def _joined(value: Value, count: int, room: int) -> list[Any]:
    """The bytes of texts as numbers of `_WORD` bytes, the first byte highest, as if there were
    `room` bytes.
    """
    words = []
    for start in range(0, room, _WORD):
        width = min(_WORD, room - start)
        word: Any = 0
        for at in range(start, min(start + width, count)):
            byte = value[..., at].astype(u64)
            word = (byte << (8 * (width - 1 - at + start))) | word
        words.append(word)
    # Zeros behind the end of a shorter text.
    return [value[..., 0].astype(u64) * 0 if isinstance(word, int) else word for word in words]


def text(length: int, encoding: str = "utf8") -> type[Text]:
    """The kind of texts of at most `length` bytes in an encoding: `"utf8"`, `"latin1"` or
    `"ascii"`. Shorter texts have zeros behind their end; longer ones are refused with their place,
    as is a character that the encoding does not have. Results are `str`.

    Raises `ProgramError` for another length (1 to 4,096) or encoding.

    >>> import sealane as sl
    >>> @sl.program
    ... def listed(
    ...     name: sl.Private[sl.text(8), "shop", "people <= 9"],
    ...     wanted: sl.Private[sl.text(8), "bank"],
    ... ) -> tuple[sl.Revealed[sl.boolean, "bank"], sl.Revealed[sl.text(8), "bank"]]:
    ...     return name.lower() == wanted, sl.where(name < "C", name, wanted)
    >>> listed(["Ada", "Zoë"], "ada")
    Results(result_0=array([ True, False]), result_1=array(['Ada', 'ada'], dtype='<U3'))
    """
    whole = isinstance(length, int | np.integer) and not isinstance(length, bool)
    if not whole or not 1 <= length <= _LONGEST or encoding not in ENCODINGS:
        raise refuse_type(
            f"`sl.text({reprlib.repr(length)}, {reprlib.repr(encoding)})` is no kind of column",
            reason=f"A text has 1 to {_LONGEST} bytes in one of: {', '.join(ENCODINGS)}.",
            hint='write `sl.text(12)` or `sl.text(12, "latin1")`, for example',
        )
    spelled = f"text({length})" if encoding == "utf8" else f'text({length}, "{encoding}")'
    space = {
        "_word": "text",
        "_texts": (encoding,),
        "_element": "u8",
        "_encoding": encoding,
        "_ends": (0, 127 if encoding == "ascii" else 255),
        "_bytes": (int(length),),
    }
    return made(Text, spelled, space)


_LONGEST = 4096


class Category(Kind):
    """One of a public list of names: see `sl.category`, which makes the kind. To type checkers the
    element type is `Annotated[sl.Category, sl.category([...])]`.

    Categories are equal to each other, and to the name of one. `c.isin(names)` is true for any of
    them, and `c.codes` is the place in the list, from 0 on.

    >>> import sealane as sl
    >>> sl.category(["north", "south"])
    sealane.category(['north', 'south'])
    >>> @sl.program
    ... def place(
    ...     c: sl.Private[sl.category(["north", "south"]), "shop"], more: sl.Private[sl.u8, "bank"]
    ... ) -> sl.Revealed[sl.u8, "bank"]:
    ...     return sl.minimum(c.codes, more)
    >>> place("south", 9)
    np.uint8(1)
    """

    __slots__ = ()
    _below = "x.codes"
    _of_texts = (
        "write names as they are listed in `sl.category([...])`: compare with one, `x == name`, or "
        "with several, `x.isin(names)`"
    )

    @property
    def codes(self) -> Any:
        """The places in the list of categories."""
        return self._value

    def isin(self, names: Sequence[str]) -> Any:
        """Returns whether each is one of these categories.

        Raises `ProgramError` for a name that is not in the list.

        >>> import sealane as sl
        >>> Size = sl.category(["s", "m", "l"])
        >>> @sl.program
        ... def large(
        ...     size: sl.Private[Size, "shop", "people <= 9"], more: sl.Private[sl.boolean, "bank"]
        ... ) -> sl.Revealed[sl.boolean, "bank"]:
        ...     return size.isin(["m", "l"]) | more
        >>> large(["s", "l"], False)
        array([False,  True])
        """
        if isinstance(names, str) or not names:
            raise no_constant(self, names, "give a list of categories")
        return later("_search").isin(self, names)

    def _constant(self, item: Any) -> Any:
        if item in self._texts:
            return self._texts.index(item)
        listed = ", ".join(f'"{name}"' for name in self._texts[:8])
        raise no_constant(self, item, f"the categories are: {listed}")


def category(names: Sequence[str]) -> type[Category]:
    """The kind of columns whose cells are one of these names. The list is part of the program, so
    both sides name the same one, and a cell with another name is refused with its place. Results
    are `str`, and a column of categories in a table.

    Raises `ProgramError` for anything but a list of different names.

    >>> import sealane as sl
    >>> Region = sl.category(["north", "south"])
    >>> @sl.program
    ... def northern(
    ...     region: sl.Private[Region, "shop", "people <= 9"], other: sl.Private[Region, "bank"]
    ... ) -> tuple[sl.Revealed[sl.u4, "bank"], sl.Revealed[sl.boolean, "bank"]]:
    ...     return (region == "north").sum(), region == other
    >>> northern(["south", "north", "south"], "south")
    Results(result_0=np.uint8(1), result_1=array([ True, False,  True]))
    """
    listed = isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)
    if not listed or not names or len(set(names)) < len(names):
        raise refuse_type(
            f"`sl.category({reprlib.repr(names)})` is no kind of column",
            reason="It is a list of names, each of them once.",
            hint='write `sl.category(["north", "south"])`, for example',
        )
    last = len(names) - 1
    space = {
        "_word": "category",
        "_texts": tuple(names),
        "_element": f"u{max(last.bit_length(), 1)}",
        "_ends": (0, last),
        "_example": repr(names[0]),
    }
    return made(Category, f"category({reprlib.repr(list(names))})", space)
