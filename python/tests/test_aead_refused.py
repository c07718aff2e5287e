"""`sealane.aead`: arguments, modes, nonces and keys that are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sealane as sl
from sealane import aead
from test_aead import BUILDING_BLOCKS, KEY, MODES, NAMES, NONCE, nonces_of

NO_KEY = "takes a key of 16 bytes, not 15"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: aead.seal("aes", KEY, NONCE, b""), "there is no mode `aes`"),
        (lambda: aead.seal("ocb3", KEY[1:], NONCE, b""), NO_KEY),
        (lambda: aead.seal("ocb3", KEY, b"", b""), "takes a nonce of 1 to 15 bytes, not 0"),
        (lambda: aead.seal("ccm", KEY, NONCE, b"", tag_len=5), "CCM has no tag of 5 bytes"),
        (lambda: aead.seal("ccm", KEY, NONCE, b"", version="v1"), "CCM has no version `v1`"),
        (
            lambda: aead.seal("cbc", KEY, bytes(16), b"x", research=True),
            "takes whole blocks of 16 bytes",
        ),
        (
            lambda: aead.seal("ctr", KEY, bytes(16), b"", b"x", research=True),
            "takes no associated data",
        ),
        (lambda: aead.seal("ccm", KEY, bytes(13), bytes(65536)), "is too long"),
        (lambda: aead.seal("ocb3", KEY, NONCE, "text"), "`data` is of type `str`"),  # type: ignore[arg-type]
        (lambda: aead.seal("ocb3", KEY, NONCE, np.zeros(3)), "`data` is an array of float64"),  # type: ignore[arg-type]
        (lambda: aead.seal_many("ocb3", KEY, [NONCE], b"one"), "`messages` is "),  # type: ignore[call-overload]
        (lambda: aead.seal_many("ocb3", KEY, NONCE, [b"one"]), "`nonces` is "),  # type: ignore[call-overload]
        (lambda: aead.seal_many("ocb3", KEY, [NONCE], [7]), "`messages[0]` is of type `int`"),  # type: ignore[list-item]
        (lambda: aead.seal_many("ocb3", KEY, [NONCE], 7), "`messages` is "),  # type: ignore[call-overload]
        (lambda: aead.seal_many("ocb3", KEY, [NONCE], [b"", b""]), "`nonces` has 1 items for 2"),
        (lambda: aead.seal_many("ocb3", [KEY], [NONCE] * 2, [b"", b""]), "`keys` has 1 items"),
        (lambda: aead.seal_many("ocb3", KEY, [NONCE] * 2, [b"", b""], [b""]), "`aads` has 1"),
        (
            lambda: aead.seal_many("ocb3", [KEY, KEY[1:]], [NONCE] * 2, [b""] * 2),
            f": OCB3 {NO_KEY}",
        ),
        (lambda: aead.seal_many("ocb3", KEY, [NONCE, b""], [b""] * 2), "message 1: OCB3 takes a"),
        (
            lambda: aead.seal_many("gcm", KEY, [NONCE] * 2, np.array([b"ab\0\0", b"abcd"])),
            "`messages` is an array of |S4",
        ),
        (lambda: aead.seal_many("gcm", KEY, np.array([NONCE]), [b"a"]), "`nonces` is an array of"),
        (lambda: aead.seal_many("gcm", KEY, [NONCE] * 2, [b"a", b"b"], aads="ad"), "of type `str`"),
        (lambda: aead.open_many("ocb3", KEY, [], [], errors="no"), "`errors` is 'no'"),  # type: ignore[call-overload]
    ],
)
def test_what_a_mode_does_not_take_is_refused(call: Any, says: str) -> None:
    with pytest.raises(sl.MisuseError) as caught:
        call()
    assert caught.value.code == "aead-parameter"
    assert says in caught.value.message and caught.value.hint


STUDY = [*BUILDING_BLOCKS, *(NAMES.get(m, m) for m in MODES if m not in ("gcm", "ccm", "ocb3"))]


@pytest.mark.parametrize("mode", sorted(set(STUDY)))
def test_modes_for_study_are_asked_for_as_such(mode: str) -> None:
    key, nonce = bytes(32 if mode == "mcoe_g" else 16), bytes(16)
    for call in (
        lambda: aead.seal(mode, key, nonce, b""),
        lambda: aead.open(mode, key, nonce, b""),
        lambda: aead.seal_many(mode, key, [nonce], [b""]),
        lambda: aead.open_many(mode, key, [nonce], [b""]),
    ):
        with pytest.raises(sl.MisuseError) as caught:
            call()
        assert caught.value.code == "aead-for-study" and "research=True" in caught.value.hint


def test_a_nonce_is_sealed_with_once_in_a_call() -> None:
    count = 1300  # More than two windows.
    nonces = nonces_of("ocb3", count)
    again = [*nonces, nonces[5]]
    texts = [b"text"] * len(again)
    rows = np.frombuffer(b"".join(texts), np.uint8).reshape(len(texts), -1)
    as_rows = np.frombuffer(b"".join(again), np.uint8).reshape(len(again), -1)
    backwards = again[::-1]
    for keys in (KEY, [bytearray(KEY)] * len(again)):
        for messages in ((again, texts), (as_rows, rows), (backwards, texts)):
            with pytest.raises(sl.MisuseError) as caught:
                aead.seal_many("ocb3", keys, *messages)
            first, last = (0, 1295) if messages[0] is backwards else (5, 1300)
            assert caught.value.code == "aead-nonce-twice"
            assert f"messages {first} and {last} have the same nonce" in caught.value.message
        sealed = aead.seal_many("ocb3", keys, again, texts, equal_nonces=True)
        assert sealed[5] == sealed[-1]
    # Under keys of its own, each message may have the first nonce; no nonce at all is none twice.
    own = [number.to_bytes(16, "big") for number in range(count)]
    assert len(aead.seal_many("ocb3", own, nonces[:1] * count, texts[:count])) == count
    assert aead.seal_many("ecb", KEY, [b"", b""], [b"", b""], research=True) == [b"", b""]


def test_a_key_that_failed_too_often_opens_nothing_any_more() -> None:
    sealed = aead.seal("ccm", KEY, NONCE, b"text", tag_len=4)
    wrong = [bytes(8)] * (1 << 12)
    for messages in ([*wrong, sealed], np.frombuffer(b"".join([*wrong, sealed]), np.uint8)):
        if isinstance(messages, np.ndarray):
            messages = messages.reshape(-1, 8)
        nonces = np.zeros((len(messages), 12), np.uint8)
        with pytest.raises(sl.MisuseError) as caught:
            aead.open_many("ccm", KEY, nonces, messages, tag_len=4, errors="none")
        assert caught.value.code == "aead-key-worn-out"
        assert "4096 messages under this key were not authentic" in caught.value.message
        opened = aead.open_many("ccm", KEY, nonces[1:], messages[1:], tag_len=4, errors="none")
        assert opened[-1] == b"text" and opened[:-1] == [None] * (len(wrong) - 1)


def test_equal_keys_of_a_list_count_together() -> None:
    sealed = aead.seal("ccm", KEY, NONCE, b"text", tag_len=4)
    other = bytes(range(16, 32))
    messages = [bytes(8)] * (1 << 12) + [sealed]
    # Every third one under the other key, which is left with fewer failures.
    keys = [other if number % 3 == 0 else KEY for number in range(len(messages) - 1)]

    def open_all(last: bytes, failures: int) -> list[bytes | None]:
        return aead.open_many(
            "ccm",
            [*keys, last],
            [NONCE] * len(messages),
            messages,
            tag_len=4,
            errors="none",
            failures_before=failures,
        )

    failed = keys.count(KEY)
    assert open_all(KEY, 0)[-1] == b"text"
    assert open_all(KEY, (1 << 12) - failed - 1)[-1] == b"text"
    with pytest.raises(sl.MisuseError) as caught:
        open_all(KEY, (1 << 12) - failed)
    assert caught.value.code == "aead-key-worn-out"
    assert caught.value.message.startswith("message 4096: 4096 messages under this key")
    # Another key has counts of its own.
    fewer = (1 << 12) - failed - 1
    assert open_all(other, fewer)[-1] is None
    # All under one key, over many windows.
    with pytest.raises(sl.MisuseError) as caught:
        count = len(messages)
        aead.open_many("ccm", [KEY] * count, [NONCE] * count, messages, tag_len=4, errors="none")
    assert caught.value.code == "aead-key-worn-out"


def test_failures_before_a_call_count() -> None:
    most = 1 << 12
    sealed = aead.seal("ccm", KEY, NONCE, b"text", tag_len=4)

    def one(message: bytes, failures: int) -> bytes:
        return aead.open("ccm", KEY, NONCE, message, tag_len=4, failures_before=failures)

    def many(messages: list[bytes], failures: int) -> list[bytes | None]:
        nonces = [NONCE] * len(messages)
        return aead.open_many(
            "ccm", KEY, nonces, messages, tag_len=4, errors="none", failures_before=failures
        )

    assert one(sealed, most - 1) == b"text"
    with pytest.raises(aead.InvalidTag):
        one(bytes(8), most - 1)
    assert many([sealed, bytes(8)], most - 1) == [b"text", None]
    for refused in (
        lambda: one(sealed, most),
        lambda: one(sealed, (1 << 64) - 1),
        lambda: many([sealed], most),
        lambda: many([bytes(8), sealed], most - 1),
    ):
        with pytest.raises(sl.MisuseError) as caught:
            refused()
        assert caught.value.code == "aead-key-worn-out"
    with pytest.raises(sl.MisuseError) as caught:
        one(sealed, -1)
    assert caught.value.code == "argument"


@pytest.mark.parametrize(
    ("mode", "advice"),
    [
        ("gcm", "such as a counter"),
        ("otr", "such as a counter"),
        ("ctr", "lie further apart than texts have blocks"),
        ("cbc", "draw a random nonce for each message"),
    ],
)
def test_the_hint_of_equal_nonces_is_one_for_the_mode(mode: str, advice: str) -> None:
    nonce = bytes(12 if mode in ("gcm", "otr") else 16)
    research = mode != "gcm"
    with pytest.raises(sl.MisuseError) as caught:
        aead.seal_many(mode, KEY, [nonce] * 2, [bytes(16)] * 2, research=research)
    assert caught.value.code == "aead-nonce-twice"
    assert advice in caught.value.hint and "equal_nonces=True" in caught.value.hint
    assert ("counter" in caught.value.hint) == (mode != "cbc")


@pytest.mark.parametrize(
    "odd",
    [{"tag_len": -1}, {"tag_len": 1 << 70}, {"tag_len": "16"}, {"version": 1}, {"research": 1}],
)
def test_odd_arguments_are_refused_with_a_code(odd: dict[str, Any]) -> None:
    for call in (
        lambda: aead.seal("ccm", KEY, NONCE, b"", **odd),
        lambda: aead.open("ccm", KEY, NONCE, b"", **odd),
        lambda: aead.seal_many("ccm", KEY, [NONCE], [b""], **odd),
        lambda: aead.open_many("ccm", KEY, [NONCE], [b""], **odd),
        lambda: aead.open("julius", KEY, NONCE, b"", research=True, plaintext_len=-1),
        lambda: aead.open_many("julius", KEY, [], [], research=True, plaintext_lens=[-1]),
        lambda: aead.seal(7, KEY, NONCE, b""),  # type: ignore[arg-type]
    ):
        with pytest.raises(sl.MisuseError) as caught:
            call()
        assert caught.value.code == "argument"
