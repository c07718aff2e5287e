"""Plans of twenty programs of two parties, on five declared networks, protocol by protocol.

    python tools/twenty.py
    python tools/twenty.py --networks lan,wan --programs edits,series --rows 1000

Prints one JSON object for each program and network: seconds, payload bytes, rounds and memory of
each protocol as planned, and how long planning took, and of `mixed` the distance from the best
assignment of sharings. A table on standard error sets the time of `mixed` beside that of the best
protocol of one sharing, and that distance beside both; where the time is longer by more than two
hundredths, the tool ends with status 1.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
import warnings
from typing import Any, TypedDict

import sealane as sl
import twenty_programs

NETWORKS = ["lan", "wan", "100us/10Gbps", "10ms/1Gbps", "100ms/20Mbps"]
TOLERATED = 1.02
SINGLE = ["yao", "yao-three-halves", "gmw"]


class Planned(TypedDict):
    """A plan of one protocol on a network."""

    seconds: float
    bytes: int
    rounds: int
    memory: int
    planning: float
    gap: float | None


def programs() -> dict[str, sl.Program[..., Any]]:
    """All programs by name."""
    found = vars(twenty_programs).items()
    return {name: value for name, value in found if isinstance(value, sl.Program)}


def planned(
    program: sl.Program[..., Any], network: str, protocol: str, rows: int | None
) -> Planned:
    """Seconds on the network, bytes and rounds, and how long planning took."""
    begun = time.monotonic()
    bounds = program.plan(network=network, protocol=protocol).rows
    took = time.monotonic() - begun
    fewer = {name: min(bound, rows or bound) for name, bound in bounds.items()}
    plan = program.plan(protocol=protocol, network=network, rows=fewer or None)
    return {
        "seconds": plan.estimate_s[network],
        "bytes": sum(plan.payload_bytes.values()),
        "rounds": plan.rounds,
        "memory": max(plan.memory_bytes.values()),
        "planning": round(took, 2),
        "gap": json.loads(plan.json).get("gap", {}).get("above"),
    }


def main() -> int:
    """Plans all that is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument(
        "--programs", default=",".join(programs()), help="names (default: %(default)s)"
    )
    parser.add_argument("--rows", type=int, help="rows of each table, in place of its bound")
    asked = parser.parse_args()
    if unknown := set(asked.programs.split(",")) - set(programs()):
        parser.error(f"no such program: {', '.join(sorted(unknown))}; see --help")
    warnings.simplefilter("ignore")
    slower, gaps = 0, []
    for name in asked.programs.split(","):
        for network in asked.networks.split(","):
            of = {
                protocol: planned(programs()[name], network, protocol, asked.rows)
                for protocol in [*SINGLE, "mixed"]
            }
            print(json.dumps({"program": name, "network": network, **of}), flush=True)
            best = min(SINGLE, key=lambda protocol: of[protocol]["seconds"])
            least, mixed = of[best]["seconds"], of["mixed"]["seconds"]
            slower += mixed > TOLERATED * least
            line = f"{name:12} {network:14} mixed {mixed:8.3f} s  {best:16} {least:8.3f} s"
            gap = of["mixed"]["gap"]
            gaps.append(gap or 0.0)
            tenths = "" if gap is None else f"  gap {math.ceil(1000 * gap - 1e-6) / 10:.1f} %"
            print(f"{line}  {least / mixed:6.2f}{tenths}", file=sys.stderr)
    near = [sum(gap <= most for gap in gaps) for most in (0.02, 0.05)]
    print(f"gaps: {near[0]} up to 2 %, {near[1]} up to 5 %, of {len(gaps)}", file=sys.stderr)
    return int(slower > 0)


if __name__ == "__main__":
    sys.exit(main())
