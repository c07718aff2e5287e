"""Agreement and farewell (chapter 6), for a job folder as chapter 7 describes it."""

import json
import re
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from encoding import Reader, T, listed, string, varint
from errors import Fault, need
from link import WIRE, Mesh
from plan import WITH_FORMS, Rows, all_plans, first_plan
from primitives import H, blake3

FILES = ["program.sealane", "network.json", "protocol.json", "plan.jsonl", "alone.jsonl"]
PART_NAMES = ["program", "network class", "protocol", "plan", "work of single parties"]
# Protocols, and their roles. Parties without a role are there in one of them.
VERSIONS = {("yao", 6): 2, ("trio", 4): 3, ("gmw", 1): 2, ("mixed", 1): 2,
            ("trio-malicious", 2): 3, ("auth", 2): 2}
FORM = b"\0\0"                                  # plan 0, not silent: the subset

# ------------------------------------------------------------------------------------ the job


class Job:
    """The files of a job, hashed and checked (chapter 7)."""

    def __init__(self, folder: Path) -> None:
        program, network, protocol, plan, alone = files = [
            (folder / name).read_bytes() for name in FILES]
        self.parts = [blake3(data) for data in files]
        self.hash = H("sealane job 2", b"".join(self.parts))
        parts = {name: part.hex() for name, part in zip(FILES, self.parts)}
        need(json.loads((folder / "job.json").read_bytes())
             == {"wire": WIRE, "job": self.hash.hex(), "parts": parts},
             "job.json does not state the hashes of the files", "own")
        fields = json.loads(protocol)
        self.setting: dict[str, Any] = fields["setting"]
        self.protocol: str = fields["profile"]["name"]
        self.parties: list[str] = fields["parties"]
        self.network: str = json.loads(network)
        self._check_subset(fields["profile"]["version"])
        self.program = program.decode("utf-8").split("\n")
        need(self.program[0] == "sealane program 1", "another version of program text", "own")
        self.plan = [json.loads(line) for line in plan.splitlines()]
        self.alone = [json.loads(line) for line in alone.splitlines()]
        # Forms that this party can run; the run takes one of them (step 3).
        self.forms = [i for i, lines in enumerate(all_plans(self.plan)) if i == 0 or (
            self.protocol in WITH_FORMS and lines[0]["plan"]["lookups"] in ("gates", "wide"))]
        self.tables = [Rows(**line["rows"]) for line in first_plan(self.plan) if "rows" in line]

    def _check_subset(self, version: int) -> None:
        """The job is one that chapter 1 lets a party run."""
        count = VERSIONS.get((self.protocol, version))
        roles, parties = self.setting["roles"], len(self.parties)
        has_others = self.protocol == "trio-malicious" and parties > len(roles)
        need(count == len(roles) and (count == parties or has_others),
             "another protocol, version or number of parties", "own")
        timing = "tile-by-tile" if self.protocol == "auth" else "counts-alone"
        wanted = {"parties": parties, "timing": timing, "network": self.network,
                  "pooled": False, "silent": False, "batch": None}
        found = {field: self.setting.get(field) for field in wanted}
        need(found == wanted, f"the setting has {found}, not {wanted}", "own")
        members = [party for role in roles for party in role]
        need(len(members) == len({*members} & {*range(parties)}) == count,
             "a role has not one party of its own", "own")


# --------------------------------------------------------------------------------- agreement


def agree(mesh: Mesh, job: Job, keys: list[bytes], rows: dict[str, int],
          contribution: bytes) -> list[int]:
    """All three steps: returns the row counts, and begins the session of the mesh.

    `keys` are those of all parties by index, or none over connections that show no keys.
    `rows` are the counts of all tables of which this party owns inputs.
    """
    for _, (parts, others) in exchange(mesh, lambda peer: job_message(job, keys), read_job):
        judge_job(job, keys, parts, others)
    own = [rows.get(table.name) for table in job.tables]
    merged = merge_rows(job.tables, [None] * len(own), own)
    body = listed([b"\0" if count is None else b"\1" + varint(count) for count in own])
    for _, stated in exchange(mesh, lambda peer: body, read_rows):
        merged = merge_rows(job.tables, merged, stated)
    counts = total_rows(job.tables, merged)
    hashes = {instance_hash(job.hash, counts, keys, bytes([form, 0])): form for form in job.forms}
    instances, contributions = [*hashes][:1], {mesh.me: contribution}
    # Who does not know the form learns it from the peer.
    for peer, (other, theirs) in exchange(mesh, lambda peer: instances[-1] + contribution + b"\0",
                                          read_instance, len(hashes) > 1):
        need(other in hashes, "the hash of the instance differs: rows, keys or form", "other-job")
        instances.append(other)
        contributions[peer] = theirs
    job.forms = [hashes[instances[-1]]]
    mesh.begin(session_of(instances[-1], [contributions[i] for i in range(mesh.parties)]))
    return counts


def exchange(mesh: Mesh, body: Callable[[int], bytes], read: Callable[[Reader], T],
             answers: bool = False) -> Iterator[tuple[int, T]]:
    """Send a message to every peer, then read one of every peer, which is judged at once.

    A party that answers sends to a peer when it has judged the message of that one.
    """
    for peer in [] if answers else mesh.peers():
        mesh.send_control(peer, body(peer))
    for peer in mesh.peers():
        reader = Reader(mesh.recv_control(peer))
        fields = read(reader)
        reader.end()
        yield peer, fields
        if answers:
            mesh.send_control(peer, body(peer))


def job_message(job: Job, keys: list[bytes]) -> bytes:
    """The message of step 1."""
    return (b"".join(job.parts) + string(job.protocol) + listed([*map(string, job.parties)])
            + string(job.network) + b"\0" + listed(keys))


def read_job(reader: Reader) -> tuple[list[bytes], list[bytes]]:
    """Parts and keys of a message of step 1."""
    parts = [reader.take(32) for _ in FILES]
    reader.string()
    reader.list(reader.string)
    check_network(reader.string())
    reader.flag()
    return parts, reader.list(lambda: reader.take(32))


def judge_job(job: Job, keys: list[bytes], parts: list[bytes], others: list[bytes]) -> None:
    """Compare parts and keys with a peer's."""
    for name, mine, other in zip(PART_NAMES, job.parts, parts):
        need(mine == other, f"the {name} differs: {mine.hex()[:8]} here, {other.hex()[:8]} there",
             "other-job")
    need(len(others) == len(keys), "the peer has another number of keys")
    for name, mine, other in zip(job.parties, keys, others):
        need(mine == other, f"the peer has another key of {name}", "keys-differ")


def check_network(text: str) -> None:
    """A canonical text of a network class (chapter 6, step 1)."""
    pattern = r"([1-9]00?us|[1-9]0{0,2}ms|1s)/([1-9]0{0,2}Mbps|[1-9]0?Gbps|100Gbps)"
    canonical = re.fullmatch(pattern, text) and text not in ("500us/1Gbps", "40ms/100Mbps")
    need(text in ("lan", "wan") or bool(canonical), f"no canonical network class: {text[:40]!r}")


def read_rows(reader: Reader) -> list[int | None]:
    """The row counts of a message of step 2."""
    return reader.list(lambda: reader.varint() if reader.flag() else None)


def merge_rows(tables: list[Rows], merged: list[int | None],
               stated: list[int | None]) -> list[int | None]:
    """Merge the counts of one party with those before."""
    need(len(stated) == len(tables), "another number of row counts than tables")
    for table, before, count in zip(tables, merged, stated):
        need(count is None or count <= table.bound,
             f"{count} rows of {table.name}, at most {table.bound}", "rows-differ")
        need(count is None or before in (None, count),
             f"{count} and {before} rows of {table.name}", "rows-differ")
    return [before if count is None else count for before, count in zip(merged, stated)]


def total_rows(tables: list[Rows], merged: list[int | None]) -> list[int]:
    """One count for each table."""
    counts: list[int] = []
    for table, count in zip(tables, merged):
        total = sum(counts[part] for part in table.sum) if table.sum else count
        if total is None or count not in (None, total):
            raise Fault(f"no count, or a wrong sum, of {table.name}", "rows-differ")
        need(total > 0, f"{table.name} has no rows", "own")
        counts.append(total)
    return counts


def instance_hash(job: bytes, counts: list[int], keys: list[bytes], form: bytes = FORM) -> bytes:
    """The hash of step 3."""
    numbers = struct.pack(f"<{len(counts)}Q", *counts)
    return H("sealane instance 2", job + numbers + form + b"".join(keys))


def read_instance(reader: Reader) -> tuple[bytes, bytes]:
    """Hash and contribution of a message of step 3."""
    fields = reader.take(32), reader.take(32)
    need(not reader.flag(), "the peer has a pool", "own")
    return fields


def session_of(instance: bytes, contributions: list[bytes]) -> bytes:
    """The identifier of the session."""
    return H("sealane 3 session", instance + b"".join(contributions))


# ---------------------------------------------------------------------------------- farewell


def farewell(mesh: Mesh) -> int:
    """Send and judge the farewells; returns the rounds of the run. Then results may go out."""
    mesh.flush()
    most = mesh.rounds
    for peer, (sent, rounds, digest) in exchange(
            mesh, lambda peer: farewell_message(mesh.sent, mesh.rounds, mesh.digest(mesh.me, peer)),
            read_farewell):
        need(len(sent) == mesh.parties and (sent[mesh.me], sent[peer]) == (mesh.got[peer], 0),
             f"party {peer} counts other bytes than this one has read")
        need(digest == mesh.digest(peer, mesh.me), f"what party {peer} sent was altered", "altered")
        most = max(most, rounds)
    return most


def farewell_message(sent: list[int], rounds: int, digest: bytes) -> bytes:
    """The message of the farewell to one peer."""
    return listed([varint(count) for count in sent]) + varint(rounds) + digest


def read_farewell(reader: Reader) -> tuple[list[int], int, bytes]:
    """Counts of bytes, rounds and digest of a farewell."""
    return reader.list(reader.varint), reader.varint(32), reader.take(32)
