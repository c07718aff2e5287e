"""Who of two people is richer? Both learn the answer, and neither learns the other's fortune."""

import sealane as sl


@sl.program
def richer(
    alice: sl.Private[sl.u64, "alice", sl.column("fortune")],
    bob: sl.Private[sl.u64, "bob", sl.column("fortune")],
) -> sl.Revealed[sl.boolean, "alice", "bob"]:
    """True if Alice has more than Bob."""
    return alice > bob
