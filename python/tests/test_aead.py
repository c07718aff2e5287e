"""`sealane.aead`: every known answer, every form that bytes can have, and what does not open."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import threading
import time
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sealane as sl
from sealane import aead

REPOSITORY = Path(__file__).parents[2]
FOLDER = REPOSITORY / "testdata" / "aead"
BUILDING_BLOCKS = {"ecb", "ctr", "cbc"}
# As `aead` calls them; the files say what is not our own invention.
NAMES = {"cobra": "cobra_r1"}
MODES = [
    "ecb", "ctr", "cbc", "gcm", "ccm", "ocb3", "otr", "cloc", "silc", "jambu", "copa", "poet",
    "julius", "mcoe_g", "cobra",
]  # fmt: skip


class Vector(NamedTuple):
    """A known answer."""

    id: str
    suite: tuple[str, str | None, int | None]
    key: bytes
    nonce: bytes
    ad: bytes
    pt: bytes
    ct: bytes
    valid: bool

    @property
    def options(self) -> dict[str, Any]:
        """Arguments of `seal` besides the bytes."""
        return {"version": self.suite[1], "tag_len": self.suite[2], "research": True}


@cache
def vectors(mode: str) -> list[Vector]:
    """The known answers of a mode, which lie in the repository."""
    found = []
    for item in json.loads(gzip.decompress((FOLDER / f"{mode}.json.gz").read_bytes())):
        first = item["variant"].split("-")[0]
        version = first if first in ("v1", "v2", "v3") else None
        valid = item["result"] == "valid"
        tag_len = item["tag_len"] if mode == "ccm" or not valid else None
        key, nonce, ad, pt, ct = (
            bytes.fromhex(item[name]) for name in ("key", "nonce", "ad", "pt", "ct")
        )
        if rule := item.get("ad_rule"):
            assert rule == "256 repetitions of bytes 00..ff (65536 bytes)"
            ad = bytes(range(256)) * 256
        suite = (NAMES.get(mode, mode), version, tag_len)
        found.append(Vector(item["id"], suite, key, nonce, ad, pt, ct, valid))
    assert len(found) > 40
    return found


@pytest.mark.parametrize("mode", MODES)
def test_known_answers_one_at_a_time(mode: str) -> None:
    for v in vectors(mode):
        length = {"plaintext_len": len(v.pt)}
        if v.valid:
            sealed = aead.seal(v.suite[0], v.key, v.nonce, v.pt, v.ad, **v.options)
            assert sealed == v.ct, v.id
            opened = aead.open(v.suite[0], v.key, v.nonce, v.ct, v.ad, **v.options, **length)
            assert opened == v.pt, v.id
        else:
            with pytest.raises((aead.InvalidTag, sl.MisuseError)):
                aead.open(v.suite[0], v.key, v.nonce, v.ct, v.ad, **v.options, **length)


@pytest.mark.parametrize("mode", MODES)
def test_known_answers_side_by_side(mode: str) -> None:
    suites = defaultdict(list)
    for v in vectors(mode):
        if v.valid:
            suites[v.suite].append(v)
    for suite, of in suites.items():
        keys, nonces, ads = [v.key for v in of], [v.nonce for v in of], [v.ad for v in of]
        texts, sealed = [v.pt for v in of], [v.ct for v in of]
        options, lengths = of[0].options, [len(v.pt) for v in of]
        # Known answers use a nonce again and again.
        again = aead.seal_many(suite[0], keys, nonces, texts, ads, equal_nonces=True, **options)
        assert again == sealed
        opened = aead.open_many(
            suite[0], keys, nonces, sealed, ads, plaintext_lens=lengths, **options
        )
        assert opened == texts


# A mode of each kind: parallel, a chain, two passes over the buffer, padding in the output.
KINDS = ["ocb3", "ccm", "cbc", "copa", "cobra_r1"]
KEY = bytes(range(16))


def nonces_of(mode: str, count: int) -> list[bytes]:
    width = 12 if mode in ("ocb3", "ccm") else 16
    return [number.to_bytes(width, "big") for number in range(count)]


@pytest.mark.parametrize("mode", KINDS)
@pytest.mark.parametrize(("count", "width"), [(0, 16), (1, 32), (3, 48), (700, 64), (5, 0)])
def test_rows_are_lists_of_messages(mode: str, count: int, width: int) -> None:
    random = np.random.default_rng(7)
    rows = random.integers(0, 256, (count, width), np.uint8)
    texts = [row.tobytes() for row in rows]
    nonces = nonces_of(mode, count)
    as_rows = np.frombuffer(b"".join(nonces), np.uint8).reshape(count, -1) if nonces else nonces
    sealed = aead.seal_many(mode, KEY, as_rows, rows, research=True)
    assert isinstance(sealed, np.ndarray) and sealed.dtype == np.uint8 and sealed.flags.writeable
    assert [row.tobytes() for row in sealed] == aead.seal_many(
        mode, KEY, nonces, texts, research=True
    )
    opened = aead.open_many(mode, KEY, as_rows, sealed, research=True)
    assert isinstance(opened, np.ndarray) and np.array_equal(opened, rows)
    assert aead.open_many(mode, KEY, nonces, sealed, errors="none", research=True) == texts


def test_version_2_of_copa_opens_rows_to_a_list() -> None:
    rows = np.arange(60, dtype=np.uint8).reshape(3, 20)
    nonces = nonces_of("copa", 3)
    sealed = aead.seal_many("copa", KEY, nonces, rows, version="v2", research=True)
    assert sealed.shape == (3, 49)
    opened = aead.open_many("copa", KEY, nonces, sealed, version="v2", research=True)
    assert opened == [row.tobytes() for row in rows]


def test_bytes_have_many_forms() -> None:
    text, nonce, ad = bytes(range(100)), b"n" * 12, b"associated"
    expected = aead.seal("ocb3", KEY, nonce, text, ad)
    forms = [
        bytes,
        bytearray,
        memoryview,
        lambda b: memoryview(bytearray(b)),
        lambda b: np.frombuffer(b, np.uint8),
        lambda b: np.repeat(np.frombuffer(b, np.uint8), 3)[::3],
        lambda b: np.frombuffer(b[::-1], np.uint8)[::-1],
        lambda b: memoryview(b[::-1])[::-1],
    ]
    for form in forms:
        sealed = aead.seal("ocb3", form(KEY), form(nonce), form(text), form(ad))
        assert sealed == expected
        assert aead.open("ocb3", form(KEY), form(nonce), form(sealed), form(ad)) == text
        many = aead.seal_many(
            "ocb3", form(KEY), [form(nonce)] * 2, [form(text)] * 2, form(ad), equal_nonces=True
        )
        assert many == [expected] * 2
        keys, ads = (form(KEY), form(KEY)), (form(ad), form(ad))
        many = aead.open_many("ocb3", keys, (form(nonce),) * 2, (form(many[0]),) * 2, ads)
        assert many == [text] * 2


def test_arrays_need_not_be_contiguous() -> None:
    rows = np.random.default_rng(1).integers(0, 256, (900, 40), np.uint8)
    nonces = np.zeros((900, 12), np.uint8)
    nonces[:, 10:] = np.arange(900, dtype=">u2")[:, None].view(np.uint8)
    keys = np.random.default_rng(2).integers(0, 256, (900, 16), np.uint8)
    straight = aead.seal_many("ccm", keys, nonces, rows)
    wide = np.zeros((1800, 80), np.uint8)
    wide[::2, ::2] = rows
    crooked = aead.seal_many("ccm", np.asfortranarray(keys), nonces[::-1][::-1], wide[::2, ::2])
    assert np.array_equal(straight, crooked)
    reverse = aead.open_many("ccm", keys[::-1], nonces[::-1], straight[::-1])
    assert np.array_equal(reverse, rows[::-1])


@settings(deadline=None, max_examples=40)
@given(
    lengths=st.lists(st.integers(0, 90) | st.integers(0, 20_000), max_size=40),
    own_keys=st.booleans(),
    mode=st.sampled_from(["ocb3", "ccm", "ctr"]),
)
def test_many_is_one_after_the_other(lengths: list[int], own_keys: bool, mode: str) -> None:
    texts = [bytes([length % 251]) * length for length in lengths]
    nonces = [number.to_bytes(16 if mode == "ctr" else 12, "big") for number in range(len(texts))]
    keys = [bytes([number]) * 16 for number in range(len(texts))] if own_keys else KEY
    ads = [b"" if mode == "ctr" else bytes(length % 50) for length in lengths]
    sealed = aead.seal_many(mode, keys, nonces, texts, ads, research=True)
    for number, text in enumerate(texts):
        key = keys[number] if isinstance(keys, list) else keys
        alone = aead.seal(mode, key, nonces[number], text, ads[number], research=True)
        assert sealed[number] == alone
    assert aead.open_many(mode, keys, nonces, sealed, ads, research=True) == texts


def test_a_message_as_long_as_a_window_goes_alone() -> None:
    texts = [b"a", bytes((1 << 26) + 1), b"b" * 100, bytes(1 << 25), bytes(1 << 25), b""]
    nonces = nonces_of("ocb3", len(texts))
    sealed = aead.seal_many("ocb3", KEY, nonces, texts)
    assert [len(item) for item in sealed] == [len(text) + 16 for text in texts]
    assert sealed[1] == aead.seal("ocb3", KEY, nonces[1], texts[1])
    assert aead.open_many("ocb3", KEY, nonces, sealed) == texts
    broken = [*sealed]
    broken[1] = sealed[1][:-1] + bytes([sealed[1][-1] ^ 1])
    opened = aead.open_many("ocb3", KEY, nonces, broken, errors="none")
    assert opened == [texts[0], None, *texts[2:]]
    row = np.frombuffer(texts[1], np.uint8)[None]
    assert aead.seal_many("ocb3", KEY, nonces[1:2], row)[0].tobytes() == sealed[1]


@pytest.mark.parametrize("as_rows", [False, True])
def test_one_bad_tag_fails_one_message(as_rows: bool) -> None:
    texts = [bytes([number % 256]) * 33 for number in range(1200)]
    nonces = nonces_of("ocb3", 1200)
    sealed: Any = aead.seal_many("ocb3", KEY, nonces, texts)
    for bad in (0, 511, 512, 1199):
        sealed[bad] = sealed[bad][:20] + b"\0\0" + sealed[bad][22:]
    if as_rows:
        sealed = np.frombuffer(b"".join(sealed), np.uint8).reshape(1200, -1)
    expected = [None if n in (0, 511, 512, 1199) else text for n, text in enumerate(texts)]
    with pytest.raises(aead.InvalidTag) as caught:
        aead.open_many("ocb3", KEY, nonces, sealed)
    error = caught.value
    assert error.failed == [0, 511, 512, 1199] and error.opened == expected
    assert error.code == "invalid-tag" and isinstance(error, sl.DataError)
    assert "4 of 1200 messages are not authentic, counted from 0: 0, 511, 512, 1199" in str(error)
    assert aead.open_many("ocb3", KEY, nonces, sealed, errors="none") == expected


@pytest.mark.parametrize("mode", ["ocb3", "ccm", "copa", "cobra_r1", "otr", "cloc", "silc"])
def test_no_changed_message_opens(mode: str) -> None:
    nonce = bytes(12 if mode in ("ocb3", "ccm", "otr", "cloc", "silc") else 16)
    for length in (0, 5, 16, 50):
        sealed = aead.seal(mode, KEY, nonce, bytes(length), b"ad", research=True)
        for at in range(len(sealed)):
            changed = bytearray(sealed)
            changed[at] ^= 0x10
            with pytest.raises(aead.InvalidTag) as caught:
                aead.open(mode, KEY, nonce, changed, b"ad", research=True)
            assert caught.value.failed == [0] and caught.value.opened == [None]
        with pytest.raises(aead.InvalidTag):
            aead.open(mode, KEY, nonce, sealed, b"Ad", research=True)


NONCE = bytes(12)


def test_a_message_of_no_sealed_length_is_not_authentic() -> None:
    with pytest.raises(aead.InvalidTag, match="15 bytes are nothing that OCB3 seals"):
        aead.open("ocb3", KEY, NONCE, bytes(15))
    sealed = aead.seal("ocb3", KEY, NONCE, b"text")
    with pytest.raises(aead.InvalidTag) as caught:
        aead.open_many("ocb3", KEY, [NONCE] * 3, [sealed, b"short", sealed])
    assert caught.value.failed == [1] and caught.value.opened == [b"text", None, b"text"]
    rows = np.zeros((2, 5), np.uint8)
    nonces = np.zeros((2, 12), np.uint8)
    assert aead.open_many("ocb3", KEY, nonces, rows, errors="none") == [None, None]


def test_nothing_to_do_is_done() -> None:
    assert aead.seal_many("ocb3", KEY, [], []) == []
    assert aead.open_many("ocb3", [], (), (), []) == []
    none = np.empty((0, 32), np.uint8)
    assert aead.seal_many("ocb3", KEY, [], none).shape == (0, 48)
    assert aead.open_many("ocb3", KEY, none[:, :12], none).shape == (0, 16)
    assert aead.seal("ocb3", KEY, NONCE, b"") == aead.seal_many("ocb3", KEY, [NONCE], [b""])[0]


@pytest.mark.parametrize("as_rows", [False, True])
def test_other_threads_run_meanwhile(as_rows: bool) -> None:
    # One chain after the other, in one window: far longer than a thread waits for its turn.
    rows = np.zeros((64, 1 << 20), np.uint8)
    datas: Any = rows if as_rows else [row.tobytes() for row in rows]
    nonces = nonces_of("ccm", 64)
    before = sys.getswitchinterval()

    def this_thread_ran() -> bool:
        """Returns whether it ran often while another sealed, not only at the ends."""
        started, done = threading.Event(), threading.Event()
        spans = []

        def work() -> None:
            started.set()
            start = time.perf_counter()
            aead.seal_many("ccm", KEY, nonces, datas)
            spans.append((start, time.perf_counter()))
            done.set()

        thread = threading.Thread(target=work)
        thread.start()
        started.wait()
        ticks = [time.perf_counter()]
        while not done.is_set():
            time.sleep(0.0002)
            ticks.append(time.perf_counter())
        thread.join()
        [(start, end)] = spans
        inside = [tick for tick in ticks if start < tick < end]
        longest = max(b - a for a, b in zip([start, *inside], [*inside, end], strict=True))
        return len(inside) > 5 and longest < 0.9 * (end - start)

    # No thread is ever made to give way: only who releases the interpreter lets others run. On a
    # busy machine this thread may get no core for a while; if it cannot run, it never does.
    sys.setswitchinterval(1000)
    try:
        assert any(this_thread_ran() for _ in range(50))
    finally:
        sys.setswitchinterval(before)


def test_what_changes_meanwhile_is_not_read_twice() -> None:
    # Writing and copying both hold the interpreter: a text is seen whole, before or after.
    text = bytearray(1 << 22)
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            text[:] = bytes([text[0] ^ 1]) * len(text)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        for _ in range(20):
            sealed = aead.seal("ocb3", KEY, NONCE, text)
            assert aead.open("ocb3", KEY, NONCE, sealed)[1:] in (
                bytes(len(text) - 1),
                b"\1" * (len(text) - 1),
            )
    finally:
        stop.set()
        thread.join()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems count memory in other units")
def test_memory_beside_inputs_and_results_is_bounded() -> None:
    code = """
import resource
import numpy as np
from sealane import aead
rows = np.ones((1 << 14, 1 << 14), np.uint8)
nonces = np.arange(1 << 14, dtype=">u4")[:, None].view(np.uint8)
aead.seal_many("ocb3", bytes(16), nonces[:2], rows[:2])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
sealed = aead.seal_many("ocb3", bytes(16), nonces, rows)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(after - before - sealed.nbytes // 1024)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # In KiB: a window of 64 MiB and little more, beside 256 MiB of input and as much of results.
    assert int(done.stdout) < 80 << 10
