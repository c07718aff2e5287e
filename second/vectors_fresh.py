"""More tests of `primitives.json.gz`: valid ones again, with other bytes in all their places."""

from __future__ import annotations

from typing import Any

import vectors_control
import vectors_gadgets
import vectors_primitives
from vectors_kinds import Fields
from vectors_primitives import Repeat, Tests, data

GROUPS = vectors_primitives.GROUPS | vectors_control.GROUPS | vectors_gadgets.GROUPS
TURNS, LONG = 3, 800                            # turns of each; characters of long tests
# Of these kinds any bytes are valid, but for the fields that are kept.
KINDS = ["hash", "hash-context", "aes", "gf-mul", "poly-hash", "column-hash", "digest", "coins",
         "expanded", "component", "drawn-number", "job-hash", "instance", "session", "fingerprint",
         "card", "ristretto-map", "ristretto-multiply", "base-point", "base-key", "check-key",
         "gate-hash", "and-garble", "and-evaluate", "decode-pairs", "decode-hashes"]
KEPT = {"point", "tape", "form"}


def fresh(value: Any, name: str) -> Any:
    """A value with other bytes, made up for a name. The first bit stays: it may tell a label."""
    if isinstance(value, dict):
        return {field: part if field in KEPT else fresh(part, f"{name} {field}")
                for field, part in value.items()}
    if isinstance(value, list):
        return [fresh(part, f"{name} {i}") for i, part in enumerate(value)]
    if not isinstance(value, bytes) or isinstance(value, Repeat) or not value:
        return value
    made = data(name, len(value))
    return bytes([made[0] & 254 | value[0] & 1]) + made[1:]


def tests_of(kind: str) -> Tests:
    """Valid tests of a kind, with other bytes."""
    for turn in range(TURNS):
        for number, (_, given, *code) in enumerate(GROUPS[kind][2]()):
            again: Fields = fresh(given, f"fresh {turn} {kind} {number}")
            short = len(repr(given)) < LONG and (kind != "component" or turn == 0)
            if short and again != given and not any(code):
                yield "other bytes", again
