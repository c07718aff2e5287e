"""Tests of chapter 2: spoiled messages and records of a handshake of TLS.

Each row of a table is one fault, with which the spoiler of `test_tls_faults.py` meets a live party.
"""

from __future__ import annotations

import socket
import time
import unittest

from curves import ed25519_sign
from encoding import Reader
from test_stage_a import PUBLIC, SEEDS
from test_tls_faults import BAD, GONE, NSC, ROUNDS, Trials, handshake, keep
from tls import (
    CERTIFICATE_REQUEST,
    CERTIFICATE_VERIFY,
    CHOSEN_TYPES,
    CLIENT_TYPE,
    ED25519,
    FINISHED,
    GROUPS,
    KEY_SHARE,
    NINE,
    ONE_SHARE,
    SERVER_NAME,
    SERVER_TYPE,
    SIGNATURES,
    SPKI,
    VERSIONS,
    Tls,
    certificate,
    extensions,
    message,
    read_extensions,
    server_name,
    vector,
)

CLIENT_HELLO, SERVER_HELLO, ANSWERS, CERTIFICATE, ALPN = 1, 2, 8, 11, 16
UNKNOWN = {ALPN: b"\0\3\2h2", 0xFAFA: b"", 45: b"\1\1", 5: b"\1\0\0\0\0"}
RETRY = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")


# ---------------------------------------------------------------------------- spoiled messages


def at(kind, change):
    """Change the bodies of messages of one kind."""
    return lambda tls, data: message(kind, change(tls, data[4:])) if data[0] == kind else data


def before(kind, act):
    """Do something else before a message of one kind."""
    def change(tls, data):
        if data[0] == kind:
            act(tls)
        return data
    return change


def flip(_, body):
    """Change the last bit."""
    return body[:-1] + bytes([body[-1] ^ 1])


def longer(_, body):
    """One byte more than there should be."""
    return body + b"\0"


def signed(side, algorithm=ED25519):
    """A right signature over the words of a side."""
    def change(tls, _):
        seed = SEEDS[1 if tls.named == -1 else 0]
        return algorithm + vector(2, ed25519_sign(seed, tls._signed(side)))
    return at(CERTIFICATE_VERIFY, change)


def edited(old, changes):
    """Extensions with others among them; None takes one away."""
    return {kind: data for kind, data in (old | changes).items() if data is not None}


def client(changes=None, twice=b"", **fields):
    """A ClientHello with other extensions or fields."""
    def change(_, body):
        rest = Reader(body)
        old = {"head": rest.take(34), "session": rest.vector(1), "suites": rest.vector(2),
               "compression": rest.vector(1)}
        new, listed = old | fields, extensions(edited(read_extensions(rest), changes or {}))[2:]
        return (new["head"] + vector(1, new["session"]) + vector(2, new["suites"])
                + vector(1, new["compression"]) + vector(2, listed + twice))
    return at(CLIENT_HELLO, change)


def server(changes=None, twice=b"", **fields):
    """A ServerHello with other extensions or fields."""
    def change(_, body):
        rest = Reader(body)
        old = {"version": rest.take(2), "random": rest.take(32), "session": rest.vector(1),
               "suite": rest.take(2), "compression": rest.take(1)}
        new, listed = old | fields, extensions(edited(read_extensions(rest), changes or {}))[2:]
        return (new["version"] + new["random"] + vector(1, new["session"]) + new["suite"]
                + new["compression"] + vector(2, listed + twice))
    return at(SERVER_HELLO, change)


def answer(values):
    """Other EncryptedExtensions."""
    return at(ANSWERS, lambda tls, body: extensions(values))


def request(values, context=b""):
    """Another CertificateRequest."""
    return at(CERTIFICATE_REQUEST, lambda tls, body: vector(1, context) + extensions(values))


def shown(change):
    """Another Certificate."""
    return at(CERTIFICATE, lambda tls, body: change(body))


def ccs(tls):
    """A ChangeCipherSpec."""
    tls.raw(20, b"\1")


def other_ccs(tls):
    """A ChangeCipherSpec of another byte in place of the right one."""
    tls.raw(20, b"\2")
    tls.write_record = lambda kind, data: kind == 20 or Tls.write_record(tls, kind, data)


def pause(tls):
    """Nothing more, while the connection stays open."""
    while tls.sock.recv(65536):
        pass
    raise EOFError


def drip(tls):
    """A byte now and then, of a record that never ends."""
    while True:
        tls.sock.sendall(b"\x17")
        time.sleep(0.05)


def hang_up(tls):
    """The end of the TCP stream alone."""
    tls.sock.shutdown(socket.SHUT_WR)
    pause(tls)


def alert(number):
    """A fatal alert, and nothing after it; 0 is `close_notify`."""
    def act(tls):
        tls.write_record(21, bytes([2, number]))
        hang_up(tls)
    return act


SHARE = vector(2, b"\0\x1d" + vector(2, bytes(32)))      # of order 4: no secret comes of it
OTHER_GROUP = vector(2, b"\0\x1e" + vector(2, NINE))

# What may be: the run goes on to its end.
GOOD_CLIENTS = [
    ("as it is", keep),
    ("unknown extensions", client(UNKNOWN)),
    ("more suites, groups and versions", client(
        {GROUPS: vector(2, b"\0\x17\0\x1d"), VERSIONS: b"\4\3\4\3\3"},
        suites=b"\x13\3\x13\1\0\xff")),
]
GOOD_SERVERS = [
    ("as it is", keep),
    ("allowed extensions", answer(CHOSEN_TYPES | {SERVER_NAME: b"", GROUPS: b"\0\2\0\x1d"})),
    ("unknown extensions of a request", request({SIGNATURES: vector(2, ED25519)} | UNKNOWN)),
]

# A fault, how the message is spoiled, the code, and the alert to the other end.
CLIENTS = [
    ("TLS 1.2 alone", client({VERSIONS: None}), NSC, 70),
    ("version 1.2 offered", client({VERSIONS: b"\2\3\3"}), NSC, 70),
    ("versions of an odd length", client({VERSIONS: b"\3\3\4\3"}), BAD, 50),
    ("versions of a wrong length", client({VERSIONS: b"\4\3\4"}), BAD, 50),
    ("very many versions", client({VERSIONS: b"\4" + b"\3\4" * 400}), BAD, 50),
    ("other suite", client(suites=b"\x13\3"), NSC, 40),
    ("other group", client({GROUPS: vector(2, b"\0\x17")}), NSC, 40),
    ("no groups", client({GROUPS: None}), NSC, 109),
    ("no share", client({KEY_SHARE: None}), NSC, 109),
    ("empty list of shares", client({KEY_SHARE: b"\0\0"}), NSC, 47),
    ("share of another group", client({KEY_SHARE: OTHER_GROUP}), NSC, 47),
    ("share of low order", client({KEY_SHARE: SHARE}), NSC, 47),
    ("a byte behind the share", client({KEY_SHARE: ONE_SHARE + NINE + b"\0"}), NSC, 47),
    ("no algorithms", client({SIGNATURES: None}), NSC, 109),
    ("other algorithm", client({SIGNATURES: vector(2, b"\4\3")}), NSC, 40),
    ("no type of the client", client({CLIENT_TYPE: None}), NSC, 40),
    ("no type of the server", client({SERVER_TYPE: None}), NSC, 40),
    ("X.509 as well", client(dict.fromkeys(CHOSEN_TYPES, b"\2\0\2")), NSC, 40),
    ("compression", client(compression=b"\1\0"), NSC, 47),
    ("session id of 33 bytes", client(session=bytes(33)), BAD, 50),
    ("an extension twice", client(twice=extensions({VERSIONS: b"\2\3\4"})[2:]), BAD, 50),
    ("bytes behind the hello", at(CLIENT_HELLO, longer), BAD, 50),
    ("a hello that ends early", at(CLIENT_HELLO, lambda _, body: body[:-1]), BAD, 50),
    ("no name", client({SERVER_NAME: None}), BAD, None),
    ("name of a probe", client({SERVER_NAME: vector(2, b"\0" + vector(
        2, b"probe.sealane.invalid"))}), BAD, None),
    ("two names", client({SERVER_NAME: vector(2, 2 * server_name(1)[2:])}), BAD, None),
    ("name of a wrong length", client({SERVER_NAME: b"\xff" + server_name(1)[1:]}), BAD, None),
    ("name of the server", client({SERVER_NAME: server_name(0)}), "wrong-party", None),
    ("name of no party", client({SERVER_NAME: server_name(2)}), "wrong-party", None),
    ("no ClientHello", before(CLIENT_HELLO, lambda tls: Tls.send_message(tls, message(
        FINISHED, b""))), NSC, 10),
    ("no TLS", before(CLIENT_HELLO, lambda tls: tls.sock.sendall(b"GET / HTTP/1.1\r\n")), BAD, 10),
    ("CCS before the hello", before(CLIENT_HELLO, ccs), NSC, 10),
    ("end before the hello", before(CLIENT_HELLO, hang_up), GONE, None),
    ("a message of 2^16 bytes", before(CLIENT_HELLO, lambda tls: tls.raw(
        22, b"\1\1\0\0" + bytes(99))), NSC, 10),
    ("bytes behind the hello's record", lambda tls, data: data + bytes(data[0] == 1), NSC, 10),
]
SERVERS = [
    ("TLS 1.2", server({VERSIONS: None}), NSC, 70),
    ("TLS 1.2 without extensions", at(SERVER_HELLO, lambda _, body: body[:38]), NSC, 70),
    ("another version chosen", server({VERSIONS: b"\3\3"}), NSC, 47),
    ("another old version", server(version=b"\3\4"), NSC, 47),
    ("suite that was not offered", server(suite=b"\x13\3"), NSC, 47),
    ("session id that was not sent", server(session=bytes(32)), NSC, 47),
    ("compression", server(compression=b"\1"), NSC, 47),
    ("other group", server({KEY_SHARE: OTHER_GROUP[2:]}), NSC, 47),
    ("no share", server({KEY_SHARE: None}), NSC, 47),
    ("share of low order", server({KEY_SHARE: SHARE[2:]}), NSC, 47),
    ("HelloRetryRequest", server({KEY_SHARE: b"\0\x1d"}, random=RETRY), NSC, 47),
    ("ALPN in ServerHello", server({ALPN: b"\0\3\2h2"}), NSC, 110),
    ("an extension twice", server(twice=extensions({VERSIONS: b"\3\4"})[2:]), BAD, 50),
    ("bytes behind the hello", at(SERVER_HELLO, longer), BAD, 50),
    ("a hello that ends early", at(SERVER_HELLO, lambda _, body: body[:-1]), BAD, 50),
    ("another CCS", before(SERVER_HELLO, other_ccs), NSC, 10),
    ("no types", answer({}), NSC, 40),
    ("one type", answer({CLIENT_TYPE: b"\2"}), NSC, 40),
    ("X.509 chosen", answer(CHOSEN_TYPES | {SERVER_TYPE: b"\0"}), NSC, 40),
    ("ALPN", answer(CHOSEN_TYPES | {ALPN: b"\0\3\2h2"}), NSC, 110),
    ("an answer twice", at(ANSWERS, lambda _, body: vector(2, 2 * body[2:])), BAD, 50),
    ("bytes behind the answers", at(ANSWERS, longer), BAD, 50),
    ("no request of a key", lambda tls, data: b"" if data[0] == 13 else data, NSC, 10),
    ("request with a context", request({SIGNATURES: vector(2, ED25519)}, b"x"), NSC, 40),
    ("request without algorithms", request({}), NSC, 40),
    ("request of other algorithms", request({SIGNATURES: vector(2, b"\4\3")}), NSC, 40),
    ("bytes behind the request", at(CERTIFICATE_REQUEST, longer), BAD, 50),
    ("no key of the server", shown(lambda _: bytes(4)), NSC, 42),
]
PROOFS = [                                      # of both sides
    ("key of another form", shown(lambda body: body.replace(SPKI, SPKI[::-1])), NSC, 42),
    ("key behind a context", shown(lambda body: b"\1x" + body[1:]), NSC, 42),
    ("two keys", shown(lambda body: b"\0" + vector(3, 2 * body[4:])), NSC, 42),
    ("another key", shown(lambda _: certificate(PUBLIC[2])), "wrong-key", 49),
    ("signature wrong", at(CERTIFICATE_VERIFY, flip), NSC, 51),
    ("signature too short", at(CERTIFICATE_VERIFY, lambda _, body: body[:-1]), NSC, 51),
    ("signature too long", at(CERTIFICATE_VERIFY, longer), NSC, 51),
    ("Finished wrong", at(FINISHED, flip), NSC, 51),
    ("Finished too long", at(FINISHED, longer), NSC, 51),
    ("Finished too short", at(FINISHED, lambda _, body: body[:-1]), NSC, 51),
    ("no signature", lambda tls, data: b"" if data[0] == CERTIFICATE_VERIFY else data, NSC, 10),
    ("signature of another algorithm", lambda tls, data: signed(
        "client" if tls.named < 0 else "server", b"\4\3")(tls, data), NSC, 51),
    ("the other side's words", lambda tls, data: signed(
        "server" if tls.named < 0 else "client")(tls, data), NSC, 51),
    ("a second CCS", before(CERTIFICATE, lambda tls: (ccs(tls), ccs(tls))), NSC, 10),
    ("CCS of two bytes", before(CERTIFICATE, lambda tls: tls.raw(20, b"\1\1")), NSC, 10),
    ("CCS under keys", before(CERTIFICATE, lambda tls: tls.write_record(20, b"\1")), NSC, 10),
    ("a record that does not decrypt", before(CERTIFICATE, lambda tls: tls.raw(23, bytes(40))),
     NSC, 20),
    ("a record in clear", before(CERTIFICATE, lambda tls: tls.raw(22, bytes(40))), NSC, 20),
    ("a record of nothing but zeros", before(CERTIFICATE, lambda tls: tls.write_record(0, b"")),
     NSC, 20),
    ("application data", before(CERTIFICATE, lambda tls: tls.write_record(23, b"x")), NSC, 10),
    ("an empty record", before(CERTIFICATE, lambda tls: tls.write_record(22, b"")), BAD, 10),
    ("an alert of a byte", before(CERTIFICATE, lambda tls: tls.write_record(21, b"\0")), BAD, 50),
    ("a record of an unknown kind", before(CERTIFICATE, lambda tls: tls.raw(24, b"x")), BAD, 10),
    ("a record too long", before(CERTIFICATE, lambda tls: tls.raw(23, b"", 2**14 + 257)), BAD, 22),
    ("text of a record too long", before(CERTIFICATE, lambda tls: tls.write_record(
        22, bytes(2**14 + 1))), BAD, 22),
    ("a fatal alert", before(CERTIFICATE, alert(40)), NSC, None),
    ("the key refused", before(CERTIFICATE, alert(49)), "wrong-key", None),
    ("another key refused", before(CERTIFICATE, alert(48)), "wrong-key", None),
    ("close_notify", before(FINISHED, alert(0)), GONE, None),
    ("end of the stream", before(CERTIFICATE_VERIFY, hang_up), GONE, None),
    ("nothing more", before(CERTIFICATE, pause), "peer-silent", None),
    ("a record that never ends", before(CERTIFICATE, drip), "peer-silent", None),
]


# --------------------------------------------------------------------------------------- tests


class Handshakes(Trials):
    """Faults of TLS."""

    def test_good(self):
        """What is allowed does not end a run."""
        for me, rows in enumerate((GOOD_CLIENTS, GOOD_SERVERS)):
            for name, change in rows:
                with self.subTest(name, me=me):
                    found, first, other = self.trial(me, handshake(change))
                    self.assertEqual((found, first, other), (ROUNDS, None, ROUNDS))

    def test_clients(self):
        """A client that is spoiled before it has proved its key, and its proof."""
        no_key = ("no key", shown(lambda _: bytes(4)), NSC, 116)
        self.refused(0, [*CLIENTS, no_key, *PROOFS], handshake)

    def test_servers(self):
        """A server that is spoiled, and its proof."""
        self.refused(1, SERVERS + PROOFS, handshake)


if __name__ == "__main__":
    unittest.main()
