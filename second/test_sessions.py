"""Tests of chapters 2 to 6 over sockets: TLS, meetings and sessions."""

from __future__ import annotations

import json
import socket
import struct
import tempfile
import time
import unittest
from functools import partial
from pathlib import Path

import errors
import link
import tls as tls_module
from agreement import FILES, Job, agree, farewell
from link import WIRE, Mesh, make_hello
from meeting import Meeting, Party
from primitives import H, blake3
from streams import Coins
from test_stage_a import PLAN, PROGRAM, PUBLIC, SEEDS, SESSION, TABLES, Case, both, settle
from tls import ACCESS_DENIED, Tls, accept, connect


class TlsTest(Case):
    """TLS client against TLS server."""

    def pair(self, judge_server, judge_client, client_index=1):
        """Both ends after the handshake, with what each side returned or raised."""
        ends = [Tls(sock) for sock in socket.socketpair()]
        self.addCleanup(lambda: [end.sock.close() for end in ends])
        results = both(lambda: connect(ends[0], client_index, SEEDS[1], judge_server),
                       lambda: self.accepting(ends[1], judge_client))
        return ends, results

    def accepting(self, end, judge):
        """The server's side, which closes after a fault."""
        try:
            return accept(end, 0, 2, SEEDS[0], judge)
        except errors.Fault:
            end.close_send()
            raise

    def test_stream(self):
        """A handshake, data in both directions, key updates, and the end."""
        shown = []
        (client, server), results = self.pair(
            shown.append, lambda index, key: shown.append((index, key)))
        self.assertEqual(results, [None, 1])
        self.assertEqual(shown, [PUBLIC[0], (1, PUBLIC[1])])
        client.send(b"hello")
        self.assertEqual(server.read(5), b"hello")
        server.send(bytes(40000))
        server.write_record(22, b"\x18\0\0\1\0")
        server.writing = server.writing.updated()
        server.send(b"more")
        self.assertEqual(client.read(40004), bytes(40000) + b"more")
        client.write_record(22, b"\x18\0\0\1\1")
        client.writing = client.writing.updated()
        client.send(b"asks for an update")
        self.assertEqual(server.read(18), b"asks for an update")
        server.send(b"under new keys")
        self.assertEqual(client.read(14), b"under new keys")
        client.close_send()
        with self.assertRaises(EOFError):
            server.read(1)

    def test_wrong_keys(self):
        """A key that is refused, on each side, and a wrong server name."""
        def refuse(*_):
            raise errors.Fault("test", "wrong-key", ACCESS_DENIED)

        _, results = self.pair(refuse, lambda index, key: None)
        self.assertEqual([error.code for error in results], ["wrong-key", "wrong-key"])
        (client, _), results = self.pair(lambda key: None, refuse)
        self.assertEqual(results[1].code, "wrong-key")
        with self.fault("wrong-key"):
            client.read(1)                      # the client hears of it with the first read
        (client, _), results = self.pair(lambda key: None, refuse, 2)
        self.assertEqual([error.code for error in results], ["peer-vanished", "wrong-party"])


def free_ports(count):
    """Ports that nobody listens at."""
    socks = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [sock.getsockname()[1] for sock in socks]
    for sock in socks:
        sock.close()
    return ports


class Sessions(Case):
    """Runs of this party's own links in threads, over TCP and TLS."""

    def meet(self, count, silence=30.0, patience=30.0):
        """Meshes of all parties, connected over TCP and TLS."""
        ports = free_ports(count)
        parties = [Party(f"p{i}", "127.0.0.1", ports[i], PUBLIC[i]) for i in range(count)]
        meshes = [Mesh(i, count, silence, patience) for i in range(count)]
        results = both(*(Meeting(meshes[i], i, parties, list(range(count)), SEEDS[i], 10.0).run
                         for i in range(count)))
        self.assertEqual(results, [None] * count)
        for mesh in meshes:
            for one in mesh.links.values():
                self.addCleanup(one.tls.sock.close)
                self.addCleanup(one.tls.close_send)
        return meshes

    def job(self, program=PROGRAM):
        """A job folder as an export writes it."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        setting = {"parties": 2, "roles": [[0], [1]], "security": {}, "timing": "counts-alone",
                   "network": "lan", "pooled": False, "silent": False}
        protocol = {"profile": {"name": "yao", "version": 6}, "parties": ["a", "b"],
                    "setting": setting}
        texts = [program, '"lan"\n', json.dumps(protocol) + "\n", PLAN, ""]
        for name, text in zip(FILES, texts):
            (Path(folder.name) / name).write_text(text, encoding="utf-8")
        parts = [blake3(text.encode()) for text in texts]
        stated = {"wire": WIRE, "job": H("sealane job 2", b"".join(parts)).hex(),
                  "parts": {name: part.hex() for name, part in zip(FILES, parts)}}
        (Path(folder.name) / "job.json").write_text(json.dumps(stated), encoding="utf-8")
        return Job(Path(folder.name))

    def test_run(self):
        """Meeting, agreement, payload of both classes, settle, farewell and goodbye."""
        meshes, job = self.meet(2), self.job()
        self.assertEqual(job.tables, TABLES)
        rows = [{"t": 3}, {"u": 4}]

        def party(i):
            mesh = meshes[i]
            counts = agree(mesh, job, PUBLIC[:2], rows[i], Coins().public("session").read(32))
            self.assertEqual(counts, [3, 4, 7])
            if i == 0:
                mesh.write(1, bytes(300000), bulk=True)
                mesh.flush()
            else:
                self.assertEqual(mesh.read(0, 300000, bulk=True), bytes(300000))
                mesh.write(0, b"answer")
                mesh.flush()
            if i == 0:
                self.assertEqual(mesh.read(1, 6), b"answer")
            settle(mesh)
            rounds = farewell(mesh)
            mesh.goodbye()
            return rounds, mesh.sent, mesh.got

        self.assertEqual(both(lambda: party(0), lambda: party(1)),
                         [(3, [0, 300032], [0, 38]), (3, [38, 0], [300032, 0])])

    def test_three_parties(self):
        """A ring in which all send much first, and a party that gives up."""
        meshes = self.meet(3)

        def party(i):
            mesh = meshes[i]
            mesh.begin(SESSION)
            try:
                mesh.write((i + 1) % 3, bytes(150000))
                mesh.flush()
                mesh.read((i + 2) % 3, 150000)
                if i == 0:
                    raise errors.Fault("test\nin two lines", "rows-differ")
                mesh.read(3 - i, 1)
            except errors.Fault as fault:
                mesh.abort(fault.code, str(fault.args[0]))
                return str(fault)
            return "nothing"

        results = both(*(lambda i=i: party(i) for i in range(3)))
        self.assertEqual(results[0], "rows-differ: test\nin two lines")
        self.assertIn("peer-gave-up: party ", results[1])
        self.assertIn("test in two lines", results[1] + results[2])

    def test_signals(self):
        """Heartbeats keep a slow party alive; silence and patience end a wait."""
        meshes = self.meet(2, silence=0.4, patience=1.0)
        for mesh in meshes:
            mesh.begin(SESSION)
        with self.fault("peer-overdue"):
            meshes[0].read(1, 1)                # the peer beats all the time
        meshes[1].links[0].interval = 1000.0
        time.sleep(0.2)
        with self.fault("peer-silent"):
            meshes[0].read(1, 1)

    def test_silence_of_another(self):
        """A wait for one party ends with the silence of another."""
        meshes = self.meet(3, silence=0.6)
        meshes[0].begin(SESSION)
        meshes[2].links[0].interval = 1000.0
        with self.fault("peer-silent"):
            meshes[0].read(1, 1)

    def test_malformed(self):
        """A wrong header is answered by an abort at once."""
        meshes = self.meet(2)
        for mesh in meshes:
            mesh.begin(SESSION)
        meshes[0].links[1].tls.send(struct.pack("<BBHII", 9, 0, 0, 0, 0))
        with self.fault("peer-gave-up"):
            meshes[0].read(1, 1)
        with self.fault("malformed-message"):
            meshes[1].read(0, 1)

    def test_misplaced(self):
        """Control in place of payload, and payload that nobody reads."""
        meshes = self.meet(2)
        for mesh in meshes:
            mesh.begin(SESSION)
        meshes[0].send_control(1, b"")
        with self.fault("malformed-message"):
            meshes[1].read(0, 1)
        meshes[1].write(0, b"ab")
        meshes[1].send_control(0, b"")
        self.assertEqual(meshes[0].read(1, 1), b"a")
        with self.fault("malformed-message"):
            meshes[0].recv_control(1)
        self.assertEqual((meshes[0].read(1, 1), meshes[0].recv_control(1)), (b"b", b""))
        meshes[1].links[0].tls.close_send()
        with self.fault("peer-vanished"):
            meshes[0].read(1, 1)

    def test_other_job(self):
        """Another program; other keys."""
        for jobs, keys, code in (
                ((self.job(), self.job(PROGRAM.replace("100", "99"))), PUBLIC[1:2], "other-job"),
                ((self.job(), self.job()), PUBLIC[2:], "keys-differ")):
            meshes = self.meet(2)
            seen = PUBLIC[:2], PUBLIC[:1] + keys
            tasks = [partial(agree, meshes[i], jobs[i], seen[i], {"t": 1, "u": 1}, bytes(32))
                     for i in range(2)]
            self.assertEqual([error.code for error in both(*tasks)], [code, code])

    def test_endings(self):
        """Goodbye where more is due; the end of the stream without one."""
        meshes = self.meet(2)
        for mesh in meshes:
            mesh.begin(SESSION)
        meshes[1].write(0, b"ab")
        meshes[1].flush()
        meshes[1].links[0].end(link.GOODBYE, 0, b"")
        self.assertEqual(meshes[0].read(1, 2), b"ab")
        with self.fault("peer-finished"):
            meshes[0].read(1, 1)
        meshes[0].links[1].tls.close_send()     # a good end, since party 1 has said goodbye
        with self.fault("peer-finished"):
            meshes[1].read(0, 1)

    def test_altered(self):
        """One side has counted other bytes: at settle, and at the farewell."""
        for check in (settle, farewell):
            meshes = self.meet(2)
            for mesh in meshes:
                mesh.begin(SESSION)
            meshes[0].digests[0, 1].update(b"not sent", False)

            def party(mesh, check=check):
                try:
                    check(mesh)
                    mesh.goodbye()
                    return "nothing"
                except errors.Fault as fault:
                    mesh.abort(fault.code, "test")
                    return fault.code

            results = both(*(lambda mesh=mesh: party(mesh) for mesh in meshes))
            self.assertEqual(results[1], "altered")


class Meetings(Case):
    """Who is let in (chapters 2 and 3)."""

    def test_strangers(self):
        """Garbage, a stranger's key and a name of no party do not end a meeting."""
        port = free_ports(1)[0]
        parties = [Party("a", "127.0.0.1", port, PUBLIC[0]),
                   Party("b", "127.0.0.1", port, PUBLIC[1])]
        mesh = Mesh(0, 2)

        def visitors():
            time.sleep(0.1)
            for visit in (self.garbage, self.stranger, self.nobody, self.mute):
                visit(("127.0.0.1", port))
            other = Mesh(1, 2)
            Meeting(other, 1, parties, [0, 1], SEEDS[1], 5.0).run()
            return other.peers()

        results = both(Meeting(mesh, 0, parties, [0, 1], SEEDS[0], 10.0).run, visitors)
        self.assertEqual(results, [None, [0]])
        self.assertEqual(mesh.peers(), [1])

    def garbage(self, address):
        """Bytes that are no TLS."""
        with socket.create_connection(address) as sock:
            sock.sendall(b"GET / HTTP/1.1\r\n\r\n")
            sock.recv(100)

    def stranger(self, address):
        """A key that nobody has pinned."""
        tls = Tls(socket.create_connection(address))
        connect(tls, 1, SEEDS[2], lambda key: None)
        with self.fault("wrong-key"):
            tls.read(1)
        tls.close()

    def mute(self, address):
        """The right key, and then no hello: it gets none either."""
        tls = Tls(socket.create_connection(address))
        connect(tls, 1, SEEDS[1], lambda key: None)
        tls.send(bytes(50))
        with self.assertRaises(EOFError):
            tls.read(1)
        tls.close()

    def nobody(self, address):
        """The name of the listener itself."""
        tls = Tls(socket.create_connection(address))
        with self.fault("peer-vanished"):
            connect(tls, 0, SEEDS[1], lambda key: None)
        tls.sock.close()

    def test_wrong_key_ends(self):
        """A dialler ends at once for a wrong key at the address that it dials."""
        port = free_ports(1)[0]
        parties = [[Party("a", "127.0.0.1", port, PUBLIC[i]), Party("b", "h", 1, PUBLIC[1])]
                   for i in (0, 2)]
        results = both(Meeting(Mesh(0, 2), 0, parties[0], [0, 1], SEEDS[0], 4.0).run,
                       Meeting(Mesh(1, 2), 1, parties[1], [0, 1], SEEDS[1], 4.0).run)
        self.assertEqual([fault.code for fault in results], ["wrong-key", "wrong-key"])

    def test_lower_index(self):
        """A party that should listen, and dials: TLS lets it in, its hello does not."""
        parties = [Party(f"p{i}", "127.0.0.1", i, PUBLIC[i]) for i in range(3)]
        with socket.create_server(("127.0.0.1", 0)) as listener:
            def other():
                tls = Tls(socket.create_connection(listener.getsockname()))
                connect(tls, 0, SEEDS[0], lambda key: None)
                link.exchange_hellos(tls, True, 0, 1, 3, 30.0)
                tls.close()

            meeting = Meeting(Mesh(1, 3), 1, parties, [0, 1, 2], SEEDS[1], 5.0)
            results = both(lambda: meeting._accept_all(listener), other)
        self.assertEqual((results[0].code, results[1]), ("wrong-party", None))

    def test_wrong_version(self):
        """Another wire version ends the meeting on both sides, which know both versions."""
        port = free_ports(1)[0]
        parties = [Party("a", "127.0.0.1", port, PUBLIC[0]), Party("b", "h", 1, PUBLIC[1])]

        def other():
            tls = Tls(socket.create_connection(("127.0.0.1", port)))
            connect(tls, 1, SEEDS[1], lambda key: None)
            hello = bytearray(make_hello(1, 0, 2, 30.0))
            hello[8] = 10
            tls.send(bytes(hello))
            answer = tls.read(50)
            tls.close()
            return answer

        results = both(Meeting(Mesh(0, 2), 0, parties, [0, 1], SEEDS[0], 5.0).run,
                       lambda: time.sleep(0.1) or other())
        self.assertEqual(results[0].code, "wrong-version")
        self.assertEqual(results[1], make_hello(0, 1, 2, 30.0))


class Proofs(Case):
    """A server that shows a wrong proof of its key (chapter 2, Checks)."""

    def test_proofs(self):
        """A wrong signature, a key of another form, no key."""
        spki = tls_module.SPKI
        for kind, change, alert in (
                (15, lambda body: body[:-1] + bytes([body[-1] ^ 1]), 51),
                (11, lambda body: body.replace(spki, spki[::-1]), 42),
                (11, lambda body: tls_module.message(11, bytes(4)), 42)):
            client, server = (Tls(sock) for sock in socket.socketpair())

            def send(body, kind=kind, change=change, send=server.send_message):
                send(change(body) if body[0] == kind else body)

            server.send_message = send
            results = both(lambda tls=client: connect(tls, 1, SEEDS[1], lambda key: None),
                           lambda tls=server: accept(tls, 0, 2, SEEDS[0], lambda i, key: None))
            self.assertEqual([fault.code for fault in results], ["no-secure-connection"] * 2)
            self.assertIn(f"alert {alert}", str(results[1]))
            client.sock.close()
            server.sock.close()


    def test_wrong_record(self):
        """A record of the client that does not decrypt."""
        client, server = (Tls(sock) for sock in socket.socketpair())

        def prove(*arguments):
            client.writing = tls_module.Keys(bytes(32))
            Tls.prove(client, *arguments)

        client.prove = prove
        results = both(lambda: connect(client, 1, SEEDS[1], lambda key: None),
                       lambda: accept(server, 0, 2, SEEDS[0], lambda i, key: None))
        self.assertEqual((results[0], results[1].code), (None, "no-secure-connection"))
        with self.assertRaisesRegex(errors.Fault, "alert 20"):
            client.read(1)
        client.sock.close()
        server.sock.close()


if __name__ == "__main__":
    unittest.main()
