"""Whole runs in memory: the player of sessions, and the file `sessions.json.gz` (chapter 14)."""

from __future__ import annotations

import base64
import gzip
import json
import struct
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import link
import vectors_memory
from errors import Fault, need
from link import CONTROL, DATA, FRAME, Mesh, check_header
from party import Work
from primitives import H, blake3
from streams import Coins
from vectors_kinds import Fields

vectors_memory.keep()

Event = tuple[str, int, bytes]                  # kind, stamp (or cause of an abort), bytes
LONG = 4096


# --------------------------------------------------------------------------------------- files


def read(folder: Path, name: str) -> Fields:
    """Read a file of vectors."""
    content: Fields = json.loads(gzip.decompress((folder / f"{name}.json.gz").read_bytes()))
    assert (content["schema"], content["wire"]) == (f"{name}-1", link.WIRE), name
    return content


def shown(payload: bytes) -> Any:
    """Bytes as an output of a file."""
    if len(payload) > LONG:
        return {"length": len(payload), "blake3": blake3(payload).hex()}
    return payload.hex()


# --------------------------------------------------------------------------------------- jobs


class Files:
    """A folder, or a file in it, in memory: as much of a path as a party uses."""

    def __init__(self, files: dict[str, bytes], name: str = "") -> None:
        self.files, self.name = files, name

    def __truediv__(self, name: str) -> Files:
        return Files(self.files, f"{self.name}/{name}" if self.name else name)

    def read_bytes(self) -> bytes:
        """The content of a file."""
        return self.files[self.name]

    def read_text(self, encoding: str) -> str:
        """The same, as text."""
        return self.read_bytes().decode(encoding)


class Jobs:
    """The jobs of a file of a folder of vectors."""

    def __init__(self, folder: Path, file: str = "jobs") -> None:
        self.content = {job["name"]: job for job in read(folder, file)["jobs"]}
        self.found: dict[tuple[str, int], Work] = {}

    def parties(self, name: str) -> list[str]:
        """The names of all parties of a job."""
        names: list[str] = json.loads(self.content[name]["files"]["protocol.json"])["parties"]
        return names

    def work(self, name: str, party: int) -> Work:
        """What a party has to do in a job."""
        if (name, party) not in self.found:
            job = self.content[name]
            files = {file: text.encode() for file, text in job["files"].items()}
            files |= {f"tapes/{digest}": zlib.decompress(base64.b64decode(data))
                      for digest, data in job["tapes"].items()}
            folder: Any = Files(files)
            self.found[name, party] = Work(folder, self.parties(name)[party])
        return self.found[name, party]


# ------------------------------------------------------------------------------------ players


class Wire(Mesh):
    """A mesh in memory: frames go to `post`, and come from `take`."""

    def __init__(self, me: int, parties: int, post: Callable[[int, Event, bool], None],
                 take: Callable[[int], Event]) -> None:
        super().__init__(me, parties)
        self.links = {peer: None for peer in range(parties) if peer != me}      # type: ignore
        self.post, self.take = post, take
        self.asked = b""                        # the last digest of what a peer sent

    def _send(self, peer: int, tag: int, flag: int, payload: bytes) -> None:
        stamp = self.received + 1 if tag == DATA else 0
        self.rounds = max(self.rounds, stamp)
        self.post(peer, ("data" if tag == DATA else "control", stamp, payload), flag == 1)

    def _next_frame(self, peer: int, due: int) -> tuple[int, bytes]:
        kind, stamp, payload = self.take(peer)
        if kind == "end":
            raise Fault(f"party {peer} is gone", "peer-vanished")
        if kind == "goodbye":
            raise Fault(f"party {peer} has said goodbye", "peer-finished")
        if kind == "abort":
            raise Fault(link.HIDDEN.sub(" ", payload.decode()), link.ABORTS[stamp])
        tag = DATA if kind == "data" else CONTROL
        check_header(FRAME.pack(tag, 0, 0, stamp, len(payload)))
        need(tag == due, f"party {peer} sent payload for a control message, or the reverse")
        return stamp, payload

    def digest(self, sender: int, receiver: int) -> bytes:
        """D, which is kept where it is to be compared with that of a peer."""
        value = super().digest(sender, receiver)
        self.asked = value if receiver == self.me else self.asked
        return value

    def goodbye(self) -> None:
        """Leave: goodbyes are not listed."""


def key_of(party: int) -> bytes:
    """The key that all have pinned for a party."""
    return bytes([party + 1]) * 32


def coins_of(test: Fields, party: int) -> Coins:
    """The coins of a party in a session."""
    return Coins(struct.pack("<Q24x", test["seeds"][party]))


def play(jobs: Jobs, test: Fields, party: int, mesh: Wire) -> Fields:
    """One party of a session; returns its results and rounds."""
    work, given = jobs.work(test["job"], party), test["inputs"][party]
    work.rows.clear()
    work.job.forms = [test.get("form", 0)]
    texts = Files({name: json.dumps(numbers).encode() for name, numbers in given.items()})
    inputs = {i: work._read_input(i, texts / one.name)              # type: ignore[arg-type]
              for i, one in enumerate(work.given) if one.name in given}
    keys = [key_of(i) for i in range(mesh.parties)]
    return work.play(mesh, keys, inputs, coins_of(test, party))


class Run:
    """Parties under way in memory, each in a thread, and all messages between them."""

    def __init__(self, parties: int) -> None:
        self.parties = parties
        pairs = [(a, b) for a in range(parties) for b in range(parties) if a != b]
        self.queues: dict[tuple[int, int], SimpleQueue[Event]] = {
            pair: SimpleQueue() for pair in pairs}
        self.messages: dict[tuple[int, int], list[Event]] = {pair: [] for pair in pairs}
        self.open: set[tuple[int, int]] = set() # directions whose last message goes on
        self.found: list[Any] = [None] * parties
        self.meshes = [self._mesh(i) for i in range(parties)]

    def _mesh(self, party: int) -> Wire:
        def post(peer: int, event: Event, ends: bool) -> None:
            self.queues[party, peer].put(event)
            self.keep((party, peer), event, ends)
        return Wire(party, self.parties, post, lambda peer: self.queues[peer, party].get())

    def keep(self, pair: tuple[int, int], event: Event, ends: bool) -> None:
        """Keep a frame, as a message or part of one."""
        kind, stamp, payload = event
        if pair in self.open:
            payload = self.messages[pair].pop()[2] + payload
        self.messages[pair].append((kind, stamp, payload))
        (self.open.discard if ends or kind == "control" else self.open.add)(pair)

    def run(self) -> None:
        """Run all parties to their ends."""
        threads = [threading.Thread(target=self._run_one, args=(i,)) for i in range(self.parties)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for fault in self.found:
            if isinstance(fault, BaseException):
                raise fault

    def _run_one(self, party: int) -> None:
        try:
            self.found[party] = self.party(party, self.meshes[party])
        except BaseException as fault:          # told to the thread that waits
            self.found[party] = fault
            for peer in self.meshes[party].links:
                self.queues[party, peer].put(("end", 0, b""))

    def party(self, party: int, mesh: Wire) -> Any:
        """What one party does; returns what it has found."""
        raise NotImplementedError


def learned(found: Fields) -> Fields:
    """The results of a party, each as a list."""
    return {name: numbers if isinstance(numbers, list) else [numbers]
            for name, numbers in found["results"].items()}


class Session(Run):
    """A whole run of a job."""

    def __init__(self, jobs: Jobs, test: Fields) -> None:
        super().__init__(len(jobs.parties(test["job"])))
        self.jobs, self.test = jobs, test
        self.run()

    def party(self, party: int, mesh: Wire) -> Fields:
        """One party of the job."""
        return play(self.jobs, self.test, party, mesh)

    def outcome(self) -> Fields:
        """What must come of the session (chapter 14, Sessions)."""
        results = [learned(found) for found in self.found]
        return {
            "frames": [[*pair, kind, stamp, shown(payload)]
                       for pair, messages in self.messages.items()
                       for kind, stamp, payload in messages],
            "digests": [[a, b, self.meshes[a].sent[b], self.meshes[a].digest(a, b).hex()]
                        for a, b in self.messages],
            "results": results, "rounds": max(found["rounds"] for found in self.found)}


# --------------------------------------------------------------------------------------- make


def draw(name: str, span: int) -> int:
    """A number below `span` that looks random, made up for a name."""
    return int.from_bytes(H("sealane vectors", name.encode(), 16), "little") % span


def numbers_of(given: Any, count: int, name: str) -> list[int]:
    """Stored numbers of an input: its bounds, then others."""
    span = given.high - given.low + 1
    found = [given.low + draw(f"{name} {given.name} {i}", span) for i in range(count)]
    if draw(f"{name} {given.name}", 4) == 0 and count > 1:
        found[:2] = [given.low, given.high]
    return found


def row_choices(jobs: Jobs, name: str) -> Iterator[list[int]]:
    """Row counts to run a job with: few, and those on both sides of its tiles."""
    work = jobs.work(name, 0)
    tables, tiles = work.job.tables, [table.tile for table in work.plan.tables]
    sizes: list[int] = [1]
    for tile in tiles:
        sizes += [tile - 1, tile, tile + 1, 2 * tile, 4 * tile, 4 * tile + 1]
    sizes = sorted({size for size in sizes if 0 < size <= 80}) or [1]
    if len(sizes) < 3:
        sizes += [2, 5, 9]
    if not tables:
        yield []
        return
    seen: list[list[int]] = []
    for size in sizes + [3, 7]:
        counts: list[int] = []
        for i, table in enumerate(tables):
            whole = sum(counts[part] for part in table.sum)
            counts.append(whole if table.sum else max(1, min(size - i, table.bound)))
        if counts not in seen:
            seen.append(counts)
            yield counts


def session_of(jobs: Jobs, name: str, rows: list[int], turn: int) -> Fields:
    """The inputs of a session."""
    parties, work = jobs.parties(name), jobs.work(name, 0)
    counts = dict(zip((table.name for table in work.job.tables), rows))
    inputs: list[Fields] = [{} for _ in parties]
    for given in work.given:
        count = given.elements * (1 if given.table is None else counts[given.table])
        inputs[parties.index(given.owner)][given.name] = numbers_of(given, count, f"{name} {turn}")
    return {"job": name, "seeds": [draw(f"{name} {turn} seed {i}", 2**64)
                                   for i in range(len(parties))], "rows": rows, "inputs": inputs}


KEPT: dict[int, Session] = {}                   # sessions that were run, by id
# The form that a run of a job takes, if it is not the first: it follows from estimates of Sealane.
FORMS = {"mixed-ot-numbers": 3, "mixed-ot-rings": 3, "mixed-ot-network": 1}


# Sessions with base transfers take seconds here; those of these jobs are in `transfers.json.gz`.
LEFT_OUT = ("yao-ot-choices", "yao-ot-many")


def chosen(jobs: Jobs) -> Iterator[Fields]:
    """The sessions to make: small jobs three times, or with several row counts."""
    for name in jobs.content:
        if name in LEFT_OUT:
            continue
        choices = [*row_choices(jobs, name)]
        if "-ot-" in name:
            choices = choices[-3:-2] or choices
        elif choices == [[]]:
            tapes = jobs.work(name, 0).plan.tapes
            large = sum(len(tape.ands) for tape in tapes) > 20 or name.endswith("165")
            choices *= 1 if large else 3
        elif "random" in name:
            choices = choices[-3:]
        for turn, rows in enumerate(choices):
            given = session_of(jobs, name, rows, turn)
            yield given | ({"form": FORMS.get(name, 0)} if name.startswith("mixed") else {})


def make(folder: Path) -> Fields:
    """Run all sessions."""
    jobs, tests = Jobs(folder), []
    for number, given in enumerate(chosen(jobs), 1):
        found = KEPT[number] = Session(jobs, given)
        tests.append({"id": number, "comment": "", **given, "result": "valid", **found.outcome()})
    return {"tests": tests}


def check(content: Fields, folder: Path) -> list[str]:
    """Run all sessions again; returns what differs."""
    jobs, wrong = Jobs(folder), []
    for test in content["tests"]:
        found = KEPT[test["id"]] = Session(jobs, test)
        for name, value in found.outcome().items():
            if test[name] != value:
                wrong.append(f"session {test['id']} ({test['job']}): {name}")
    return wrong
