"""Authenticated encryption with AES: of one message, or of many at once in the lanes of the CPU.

>>> import secrets
>>> from sealane import aead
>>> key, nonce = secrets.token_bytes(16), secrets.token_bytes(12)
>>> sealed = aead.seal("ocb3", key, nonce, b"meet at noon", aad=b"to ben")
>>> aead.open("ocb3", key, nonce, sealed, aad=b"to ben")
b'meet at noon'

Many messages in one call are faster than one after the other, above all short ones, and in modes
that are a chain. With one key for all and a nonce each:

>>> nonces = [number.to_bytes(12, "big") for number in range(3)]
>>> sealed = aead.seal_many("ocb3", key, nonces, [b"one", b"two", b"three"])
>>> aead.open_many("ocb3", key, nonces, sealed)
[b'one', b'two', b'three']

Messages of one length can be the rows of an array; so can keys and nonces.

>>> import numpy as np
>>> rows = np.zeros((1000, 64), np.uint8)
>>> counters = np.arange(1000, dtype=">u4")[:, None].view(np.uint8)
>>> nonces = np.hstack([np.zeros((1000, 8), np.uint8), counters])
>>> aead.seal_many("ocb3", key, nonces, rows).shape
(1000, 80)

A nonce may be used once under a key. `mode` is `"gcm"`, `"ccm"` or `"ocb3"` for everyday use.
All others need `research=True`, which says that nothing is protected by them: `"ecb"`, `"ctr"` and
`"cbc"` are building blocks, which authenticate nothing; `"otr"`, `"cloc"`, `"silc"`, `"jambu"`,
`"copa"`, `"poet"`, `"julius"`, `"mcoe_g"` and `"cobra_r1"` are for research only, and some are
broken. `version` chooses among the versions that some of these have (`"v1"`, `"v2"`, `"v3"`; by
default the first), and `tag_len` among lengths of tags, in bytes (by default the longest).

Lengths in bytes, and sources; a key has 16 bytes, and 32 for `"mcoe_g"`:

==============  =========  ========  =============================================================
mode            nonce      tag       source
==============  =========  ========  =============================================================
`"gcm"`         12         12 to 16  NIST SP 800-38D, 2007
`"ccm"`         7 to 13    4 to 16   NIST SP 800-38C, 2004; RFC 3610
`"ocb3"`        1 to 15    16        RFC 7253
`"ecb"`         none       none       NIST SP 800-38A, 2001; whole blocks of 16 bytes
`"ctr"`         16         none      NIST SP 800-38A, 2001
`"cbc"`         16         none      NIST SP 800-38A, 2001; whole blocks of 16 bytes
`"otr"`         1 to 15    16        Minematsu, EUROCRYPT 2014; AES-OTR, CAESAR
`"cloc"`        12         8         Iwata, Minematsu, Guo and Morioka, FSE 2014; CAESAR
`"silc"`        12         8         Iwata and others, SILC, CAESAR
`"jambu"`       8          8         Wu and Huang, AES-JAMBU, CAESAR
`"copa"`        16         16        Andreeva and others, ASIACRYPT 2013; AES-COPA, CAESAR
`"poet"`        16         16        Abed and others, FSE 2014; CAESAR
`"julius"`      16         none      Bahack, Julius, CAESAR, 2014
`"mcoe_g"`      16         16        Fleischmann, Forler, Lucks and Wenzel, FSE 2012
`"cobra_r1"`    16         16        a reconstruction after COBRA: Andreeva and others, FSE 2014
==============  =========  ========  =============================================================

A tag of CCM has an even length. GCM also takes nonces of other lengths, 1 to 65,536 bytes; do not
choose them.

Bytes are `bytes`, or anything that holds them: a `bytearray`, a `memoryview`, an array of
`uint8`. Anything but `bytes` is copied before the interpreter is set free, so that other threads
may go on with it. A key is expanded in each call, and what a key has sealed, or failed to open, is
counted within a call alone, for equal keys of a list together: keep within the limits of the mode
yourself. `failures_before` adds the failures of earlier calls, or elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, overload

import numpy as np

from sealane import _core
from sealane._errors import InvalidTag
from sealane._refusal import call, misuse, refuse_old_names

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["InvalidTag", "open", "open_many", "seal", "seal_many"]

Bytes: TypeAlias = "bytes | bytearray | memoryview | npt.NDArray[np.uint8]"
"""Object that holds bytes."""
Rows: TypeAlias = "npt.NDArray[np.uint8]"
"""A row of bytes for each message."""
Many: TypeAlias = "Rows | Sequence[Bytes]"
"""Bytes for each message."""
Some: TypeAlias = "Bytes | Sequence[Bytes]"
"""The same bytes for all messages, or bytes for each."""


@refuse_old_names
def seal(
    mode: str,
    key: Bytes,
    nonce: Bytes,
    data: Bytes,
    aad: Bytes = b"",
    *,
    tag_len: int | None = None,
    version: str | None = None,
    research: bool = False,
) -> bytes:
    """Seals a message: returns the whole output of the mode as `bytes`, which for most modes is as
    long as `data` and the tag together. Lengths of `key`, `nonce` and `tag_len` are in bytes and
    depend on the mode: the module lists them.

    `aad` is authenticated and not part of the output.

    Raises `MisuseError` if the mode does not take these lengths (`aead-parameter`), or protects
    nothing and `research=True` does not say that this is known (`aead-for-study`); and
    `ConfigError` if the environment variable `SEALANE_TIER` names a tier that the CPU lacks
    (`cpu-tier`).

    >>> from sealane import aead
    >>> aead.seal("gcm", bytes(16), bytes(12), bytes(16)).hex()
    '0388dace60b6a392f328c2b971b2fe78ab6e47d42cec13bdf53a67b21257bddf'

    This is test case 2 of the submission of GCM to NIST (McGrew and Viega).
    """
    return call(_core.aead_seal, mode, key, nonce, data, aad, tag_len, version, research)


@refuse_old_names
def open(
    mode: str,
    key: Bytes,
    nonce: Bytes,
    data: Bytes,
    aad: Bytes = b"",
    *,
    tag_len: int | None = None,
    version: str | None = None,
    research: bool = False,
    plaintext_len: int | None = None,
    failures_before: int = 0,
) -> bytes:
    """Opens a sealed message: returns the plaintext as `bytes`.

    Lengths of `key`, `nonce` and `tag_len` are in bytes and depend on the mode: the module lists
    them. `plaintext_len`, in bytes, is for Julius, whose output does not say how long the plaintext
    is; other modes do not look at it. `failures_before` is how many messages the key has failed to
    open so far.

    Raises `InvalidTag` if message, nonce or associated data are not what was sealed under this key,
    or the message has a length that no sealed one has. Raises `MisuseError` if the mode does not
    take the lengths of the others (`aead-parameter`), protects nothing (`aead-for-study`), or can
    bear no more failures with its tag than `failures_before` (`aead-key-worn-out`); and
    `ConfigError` if the environment variable `SEALANE_TIER` names a tier that the CPU lacks
    (`cpu-tier`).

    >>> from sealane import aead
    >>> key, nonce = bytes(range(16)), bytes(12)
    >>> sealed = aead.seal("gcm", key, nonce, b"meet at noon", aad=b"to ben")
    >>> aead.open("gcm", key, nonce, sealed, aad=b"to ben")
    b'meet at noon'
    >>> try:
    ...     aead.open("gcm", key, nonce, sealed, aad=b"to cyd")
    ... except aead.InvalidTag as error:
    ...     print(error.code)
    invalid-tag
    """
    options = (tag_len, version, research, plaintext_len, failures_before)
    return call(_core.aead_open, mode, key, nonce, data, aad, *options)


@overload
def seal_many(
    mode: str,
    keys: Some,
    nonces: Many,
    messages: Rows,
    aads: Some | None = None,
    *,
    tag_len: int | None = None,
    version: str | None = None,
    research: bool = False,
    equal_nonces: bool = False,
) -> Rows: ...


@overload
def seal_many(
    mode: str,
    keys: Some,
    nonces: Many,
    messages: Sequence[Bytes],
    aads: Some | None = None,
    *,
    tag_len: int | None = None,
    version: str | None = None,
    research: bool = False,
    equal_nonces: bool = False,
) -> list[bytes]: ...


@refuse_old_names
def seal_many(
    mode: str,
    keys: Some,
    nonces: Many,
    messages: Many,
    aads: Some | None = None,
    *,
    tag_len: int | None = None,
    version: str | None = None,
    research: bool = False,
    equal_nonces: bool = False,
) -> Rows | list[bytes]:
    """Seals messages side by side, of any lengths: returns the output of `seal` for each, in order,
    as a list of `bytes`, or as an array of `uint8` of shape `(messages, bytes)`.

    `keys` is one key for all or a list of them, `nonces` a list, `messages` a list of messages,
    `aads` one for all or a list. Each list may be an array of `uint8` with a row for each message:
    `keys` of shape `(messages, 16)`, `nonces` of shape `(messages, 12)`. Where `messages` is one,
    so is the result. Lengths are in bytes and depend on the mode, as in `seal`.

    Raises `MisuseError` if two messages have one nonce under one key and `equal_nonces=True` does
    not say that it is meant (`aead-nonce-twice`), if lists differ in length, and as `seal` does:
    then nothing is sealed. Raises it as well if one key would seal more than its mode can bear
    (`aead-key-worn-out`).

    >>> import numpy as np
    >>> import sealane as sl
    >>> from sealane import aead
    >>> keys = np.arange(3 * 16, dtype=np.uint8).reshape(3, 16)
    >>> sealed = aead.seal_many("ocb3", keys, [bytes(12)] * 3, np.zeros((3, 20), np.uint8))
    >>> sealed.shape, sealed.dtype
    ((3, 36), dtype('uint8'))
    >>> try:
    ...     aead.seal_many("ocb3", bytes(16), [bytes(12)] * 2, [b"one", b"two"])
    ... except sl.MisuseError as error:
    ...     print(error.code)
    aead-nonce-twice
    """
    options = (tag_len, version, research, None, equal_nonces, 0)
    made, shape, _ = call(_core.aead_many, False, mode, keys, nonces, messages, aads, *options)
    if shape is not None:
        return _rows(made, shape)
    return cast("list[bytes]", made)


@overload
def open_many(
    mode: str,
    keys: Some,
    nonces: Many,
    messages: Many,
    aads: Some | None = None,
    *,
    tag_len: int | None = None,
    version: str | None = None,
    research: bool = False,
    plaintext_lens: int | Sequence[int] | None = None,
    failures_before: int = 0,
    errors: Literal["none"],
) -> list[bytes | None]: ...


@overload
def open_many(
    mode: str,
    keys: Some,
    nonces: Many,
    messages: Rows,
    aads: Some | None = None,
    *,
    tag_len: int | None = None,
    version: str | None = None,
    research: bool = False,
    plaintext_lens: int | Sequence[int] | None = None,
    failures_before: int = 0,
    errors: Literal["raise"] = "raise",
) -> Rows | list[bytes]: ...


@overload
def open_many(
    mode: str,
    keys: Some,
    nonces: Many,
    messages: Sequence[Bytes],
    aads: Some | None = None,
    *,
    tag_len: int | None = None,
    version: str | None = None,
    research: bool = False,
    plaintext_lens: int | Sequence[int] | None = None,
    failures_before: int = 0,
    errors: Literal["raise"] = "raise",
) -> list[bytes]: ...


@refuse_old_names
def open_many(
    mode: str,
    keys: Some,
    nonces: Many,
    messages: Many,
    aads: Some | None = None,
    *,
    tag_len: int | None = None,
    version: str | None = None,
    research: bool = False,
    plaintext_lens: int | Sequence[int] | None = None,
    failures_before: int = 0,
    errors: Literal["raise", "none"] = "raise",
) -> Rows | list[bytes] | list[bytes | None]:
    """Opens messages side by side: returns the plaintext of each, in order. Arguments are those of
    `seal_many`; `plaintext_lens`, in bytes, is one length for all or a list, for Julius.

    A message that is not authentic keeps none of the others from being opened. Failures count for
    each key. `failures_before` is how many there have been so far, with a list of keys for each of
    them.

    Where `messages` is an array of rows, so is the result: `uint8` of shape `(messages, bytes)`.
    But for Julius and version 2 of COPA, whose plaintexts may differ in length, and with
    `errors="none"`, it is a list.

    Raises `InvalidTag` when all have been tried and some are not authentic: `error.failed` has the
    numbers of those that failed, and `error.opened` the plaintexts of the others. With
    `errors="none"` nothing is raised for them: the result is a list with `None` in their places.
    Raises `MisuseError` once a key has had as many failures as its mode and its tag can bear
    (`aead-key-worn-out`), and nothing is opened; if lists differ in length; and as `open` does.

    >>> from sealane import aead
    >>> key, nonces = bytes(range(16)), [bytes([number]) * 12 for number in range(3)]
    >>> sealed = aead.seal_many("gcm", key, nonces, [b"one", b"two", b"three"])
    >>> aead.open_many("gcm", key, nonces, sealed)
    [b'one', b'two', b'three']
    >>> sealed[1] = bytes(19)
    >>> aead.open_many("gcm", key, nonces, sealed, errors="none")
    [b'one', None, b'three']
    """
    if not (isinstance(errors, str) and errors in ("raise", "none")):
        message = f'`errors` is {errors!r}, neither "raise" nor "none"'
        raise misuse("aead-parameter", message, hint='leave it out, or say `errors="none"`')
    options = (tag_len, version, research, plaintext_lens, True, failures_before)
    made, shape, failed = call(_core.aead_many, True, mode, keys, nonces, messages, aads, *options)
    if shape is not None and not failed and errors == "raise":
        return _rows(made, shape)
    opened = cast("list[bytes | None]", made)
    if shape is not None:
        lost = set(failed)
        rows = enumerate(_rows(made, shape))
        opened = [None if number in lost else row.tobytes() for number, row in rows]
    if failed and errors == "raise":
        shown = ", ".join(map(str, failed[:5])) + (", ..." if len(failed) > 5 else "")
        verb = "is" if len(failed) == 1 else "are"
        noun = "message" if len(opened) == 1 else "messages"
        error = misuse(
            "invalid-tag",
            f"{len(failed)} of {len(opened)} {noun} {verb} not authentic, counted from 0: {shown}",
            hint="nothing of these is kept; the others are in `error.opened`, and with "
            '`errors="none"` the result has `None` in place of these',
        )
        if isinstance(error, InvalidTag):
            error.failed, error.opened = failed, opened
        raise error
    return opened


def _rows(made: list[bytes | None] | bytearray, shape: tuple[int, int]) -> Rows:
    """Array of the rows in a buffer."""
    return np.ndarray(shape, np.uint8, cast(Any, made))
