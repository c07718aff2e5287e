"""Results that are kept, so that a check takes seconds: all parties of a run compute the same.

The functions are pure, and their code is the one of `primitives.py`: only repeats are saved.
"""

from __future__ import annotations

from functools import lru_cache

import garbling
import link
import primitives
import silent
import streams
import transfers

KEPT = 150000                                   # results of each function


def _keep_compress() -> None:
    """Keep results of the compression of BLAKE3."""
    primitives.compress = lru_cache(maxsize=KEPT)(primitives.compress)


def _keep_aes() -> None:
    """Keep blocks of AES, as of labels that two parties hash."""
    kept: dict[tuple[int, bytes], bytes] = {}
    inner = primitives.Aes128.encrypt

    def encrypt(self: primitives.Aes128, text: bytes) -> bytes:
        key = self.keys[0], text
        if key not in kept:
            if len(kept) > KEPT:
                kept.clear()
            kept[key] = inner(self, text)
        return kept[key]
    primitives.Aes128.encrypt = encrypt         # type: ignore[method-assign]


def keep() -> None:
    """Keep results from here on."""
    _keep_compress()
    _keep_aes()
    primitives.spread = lru_cache(maxsize=KEPT)(primitives.spread)
    primitives.derive = lru_cache(maxsize=KEPT)(primitives.derive)
    streams.__dict__["derive"] = primitives.derive
    powers = link.key_powers
    link.__dict__["key_powers"] = lru_cache(maxsize=KEPT)(lambda key: tuple(powers(key)))
    link.__dict__["hash_run"] = lru_cache(maxsize=KEPT)(link.hash_run)
    garbling.__dict__["Aes128"] = lru_cache(maxsize=KEPT)(primitives.Aes128)
    streams.__dict__["Aes128"] = garbling.__dict__["Aes128"]
    transfers.__dict__["keys_of_leaves"] = lru_cache(maxsize=KEPT)(transfers.keys_of_leaves)
    transfers.__dict__["deal"] = lru_cache(maxsize=KEPT)(transfers.deal)
    transfers.__dict__["choose"] = lru_cache(maxsize=KEPT)(transfers.choose)
    for name in ("deal", "choose", "matrix", "weighed"):
        silent.__dict__[name] = lru_cache(maxsize=KEPT)(silent.__dict__[name])
    for name in ("multiply", "ristretto_map", "ristretto_encode", "ristretto_decode"):
        transfers.__dict__[name] = lru_cache(maxsize=KEPT)(transfers.__dict__[name])
