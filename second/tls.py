"""TLS 1.3 with raw public keys on both sides (chapter 2; RFC 8446, RFC 7250).

One cipher suite, one group, one signature algorithm: AES_128_GCM_SHA256, x25519, ed25519.
"""

import hashlib
import hmac
import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from curves import ed25519_public, ed25519_sign, ed25519_verify, x25519
from encoding import Reader
from errors import Fault, need
from primitives import Gcm, xor_bytes

CHANGE_CIPHER_SPEC, ALERT, HANDSHAKE, APPLICATION = 20, 21, 22, 23          # records
CLIENT_HELLO, SERVER_HELLO, ENCRYPTED_EXTENSIONS, CERTIFICATE = 1, 2, 8, 11  # messages
CERTIFICATE_REQUEST, CERTIFICATE_VERIFY, FINISHED, KEY_UPDATE = 13, 15, 20, 24
SERVER_NAME, GROUPS, SIGNATURES, CLIENT_TYPE, SERVER_TYPE = 0, 10, 13, 19, 20  # extensions
VERSIONS, KEY_SHARE = 43, 51
SUITE, X25519, ED25519, TLS13 = b"\x13\x01", b"\x00\x1d", b"\x08\x07", b"\x03\x04"
ONE_SHARE = b"\0\x24" + X25519 + b"\0\x20"      # a list of one key share begins so
OFFERED_TYPES = dict.fromkeys([CLIENT_TYPE, SERVER_TYPE], b"\1\2")     # lists of RawPublicKey
CHOSEN_TYPES = dict.fromkeys([CLIENT_TYPE, SERVER_TYPE], b"\2")
SPKI = bytes.fromhex("302a300506032b6570032100")
UNEXPECTED, BAD_RECORD_MAC, RECORD_OVERFLOW, HANDSHAKE_FAILURE, BAD_CERTIFICATE = 10, 20, 22, 40, 42
ILLEGAL, UNKNOWN_CA, ACCESS_DENIED, DECODE_ERROR, DECRYPT_ERROR = 47, 48, 49, 50, 51
PROTOCOL_VERSION, MISSING_EXTENSION, UNSUPPORTED, CERTIFICATE_REQUIRED = 70, 109, 110, 116
RECORD, LINGER = 2**14, 0.5                     # bytes; seconds for the other end to close
NINE = (9).to_bytes(32, "little")               # the base point of X25519
EARLY = hmac.digest(bytes(32), bytes(32), "sha256")     # the secret without a shared key


def secure(holds: bool, alert: int, text: str) -> None:
    """Raise a fault of TLS itself unless a condition holds."""
    need(holds, text, "no-secure-connection", alert)


def vector(size: int, data: bytes) -> bytes:
    """Bytes behind their length."""
    return len(data).to_bytes(size, "big") + data


def message(kind: int, body: bytes) -> bytes:
    """One handshake message."""
    return bytes([kind]) + vector(3, body)


def extensions(values: dict[int, bytes]) -> bytes:
    """A list of extensions."""
    return vector(2, b"".join(
        kind.to_bytes(2, "big") + vector(2, data) for kind, data in values.items()))


def certificate(key: bytes) -> bytes:
    """The body of Certificate: no context, and one entry without extensions."""
    return vector(1, b"") + vector(3, vector(3, SPKI + key) + vector(2, b""))


def server_name(index: int) -> bytes:
    """The data of the extension `server_name` for a meeting index (chapter 2, Server name)."""
    return vector(2, b"\0" + vector(2, b"p%d.sealane.invalid" % index))


def read_extensions(body: Reader) -> dict[int, bytes]:
    """The extensions that end a message, by type; before TLS 1.3 there may be none."""
    rest, found = Reader(body.vector(2) if body.data else b""), {}
    body.end()
    while rest.data:
        kind = int.from_bytes(rest.take(2), "big")
        need(kind not in found, "an extension comes twice", alert=DECODE_ERROR)
        found[kind] = rest.vector(2)
    return found


def offers(data: bytes, size: int) -> list[bytes]:
    """The values of two bytes in a list, behind its length."""
    values = Reader(data).vector(size)
    need((len(values) % 2, len(data)) == (0, size + len(values)), "no list", alert=DECODE_ERROR)
    return [values[i:i + 2] for i in range(0, len(values), 2)]


# ------------------------------------------------------------------------------------- keys


def expand(secret: bytes, label: str, context: bytes = b"", n: int = 32) -> bytes:
    """HKDF-Expand-Label for n up to 32 (section 7.1; RFC 5869)."""
    info = struct.pack(">H", n) + vector(1, b"tls13 " + label.encode()) + vector(1, context)
    return hmac.digest(secret, info + b"\1", "sha256")[:n]


def next_stage(secret: bytes, key: bytes) -> bytes:
    """The next secret of the key schedule (section 7.1)."""
    salt = expand(secret, "derived", hashlib.sha256().digest())
    return hmac.digest(salt, key, "sha256")


def shared_secret(private: bytes, shares: bytes) -> bytes:
    """The secret of the handshake, from the other end's list of key shares, which has one."""
    secure(shares[:6] == ONE_SHARE and len(shares) == 38, ILLEGAL, "not one share, for x25519")
    shared = x25519(private, shares[6:])
    secure(shared != bytes(32), ILLEGAL, "the key share is no point of the curve")
    return next_stage(EARLY, shared)


class Keys:
    """Traffic keys of one direction (sections 5.3 and 7.3)."""

    def __init__(self, secret: bytes) -> None:
        self.secret, self.records = secret, 0
        self.gcm, self.iv = Gcm(expand(secret, "key", n=16)), expand(secret, "iv", n=12)

    def nonce(self) -> bytes:
        """The nonce of the next record."""
        self.records += 1
        return xor_bytes(self.iv, struct.pack(">4xQ", self.records - 1))

    def updated(self) -> "Keys":
        """The keys after a KeyUpdate (section 7.2)."""
        return Keys(expand(self.secret, "traffic upd"))


class Tls:
    """One connection: records and, once the handshake is done, a stream each way."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.reading: Keys | None = None
        self.writing: Keys | None = None
        self.unread, self.due = b"", HANDSHAKE  # bytes of records of the kind that is due
        self.transcript = hashlib.sha256()
        self.named = -1                         # meeting index in the server name, once it is read
        self.skips = False                      # whether a ChangeCipherSpec may come
        self.met = False                        # whether a hello has come (set by the user)
        self.closed = False                     # this direction
        self.deadline: float | None = None      # for TLS and hello together
        self.heard = self.spoken = time.monotonic()
        self.lock = threading.RLock()           # of writers

    # ---- records

    def write_record(self, kind: int, data: bytes) -> None:
        """Write one record, protected as soon as there are keys."""
        with self.lock:
            if self.writing is None:
                self.sock.sendall(bytes([kind]) + b"\3\3" + vector(2, data))
            else:
                header = b"\x17\3\3" + struct.pack(">H", len(data) + 17)
                sealed = self.writing.gcm.seal(self.writing.nonce(), data + bytes([kind]), header)
                self.sock.sendall(header + sealed)
            self.spoken = time.monotonic()

    def receive(self, most: int) -> bytes:
        """Some bytes of the socket."""
        if self.deadline is not None:
            left = self.deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError("TLS and hello are not done in time")
            self.sock.settimeout(left)
        data = self.sock.recv(most)
        if not data:
            raise EOFError("the stream ended")
        self.heard = time.monotonic()
        return data

    def _exactly(self, n: int) -> bytes:
        """n bytes of the socket."""
        data = b""
        while len(data) < n:
            data += self.receive(n - len(data))
        return data

    def _sound(self, holds: bool, alert: int, text: str) -> None:
        """Raise a fault of records unless a condition holds (chapter 2, Checks; chapter 13)."""
        need(holds, text, "malformed-message" if self.met else "no-secure-connection", alert)

    def read_record(self) -> tuple[int, bytes]:
        """The next record, without protection; an alert is raised."""
        header = self._exactly(5)
        kind, _, length = struct.unpack(">BHH", header)
        need(20 <= kind <= 23, "no record of TLS", alert=UNEXPECTED)
        need(length <= RECORD + 256, "a record of TLS is too long", alert=RECORD_OVERFLOW)
        data = self._exactly(length)
        if kind == CHANGE_CIPHER_SPEC:
            self._sound(data == b"\1" and self.skips, UNEXPECTED, "a wrong ChangeCipherSpec")
            self.skips = False
            return self.read_record()
        if self.reading is not None:
            opened = self.reading.gcm.open(self.reading.nonce(), data, header)
            text = (opened or b"").rstrip(b"\0")
            self._sound(kind == APPLICATION and text != b"", BAD_RECORD_MAC, "it does not decrypt")
            kind, data = text[-1], text[:-1]
        need(len(data) <= RECORD, "a record of TLS is too long", alert=RECORD_OVERFLOW)
        need(data != b"" or kind == APPLICATION, "an empty record of TLS", alert=UNEXPECTED)
        if kind == ALERT:
            need(len(data) == 2, "an alert is not of two bytes", alert=DECODE_ERROR)
            if data[1] == 0:                    # close_notify
                raise EOFError("the stream ended")
            refused = data[1] in (UNKNOWN_CA, ACCESS_DENIED) and not self.met   # chapter 2, Checks
            need(not refused, "the other end refuses this party's key", "wrong-key")
            raise Fault(f"the other end sent alert {data[1]}", "no-secure-connection")
        return kind, data

    # ---- the handshake

    def send_message(self, data: bytes) -> None:
        """Write a handshake message, in a record of its own."""
        self.transcript.update(data)
        self.skips |= self.writing is None      # behind the first hello that goes or comes
        self.write_record(HANDSHAKE, data)

    def next_message(self, kind: int) -> bytes:
        """The body of the next handshake message, which must be of this kind."""
        head = self.read(4)
        secure(head[:2] == bytes([kind, 0]), UNEXPECTED, f"{head.hex()} begins no message {kind}")
        body = self.read(int.from_bytes(head[1:], "big"))
        self.transcript.update(head + body)
        return body

    def traffic(self, secret: bytes, stage: str) -> list[bytes]:
        """Secrets of client and server at this point (section 7.1)."""
        return [expand(secret, f"{end} {stage} traffic", self.transcript.digest()) for end in "cs"]

    def read_under(self, secret: bytes) -> None:
        """Go on reading under the keys of this secret."""
        secure(not self.unread, UNEXPECTED, "a record has messages of two keys")
        self.reading = Keys(secret)

    def _signed(self, side: str) -> bytes:
        """What CertificateVerify of a side signs (section 4.4.3)."""
        words = b" " * 64 + f"TLS 1.3, {side} CertificateVerify\0".encode()
        return words + self.transcript.digest()

    def _finished(self, secret: bytes) -> bytes:
        """The content of Finished of a side, over the transcript so far (section 4.4.4)."""
        return hmac.digest(expand(secret, "finished"), self.transcript.digest(), "sha256")

    def prove(self, side: str, secret: bytes, seed: bytes) -> None:
        """Send Certificate, CertificateVerify and Finished (chapter 2, server's flight, 3 to 5)."""
        self.send_message(message(CERTIFICATE, certificate(ed25519_public(seed))))
        signature = ed25519_sign(seed, self._signed(side))
        self.send_message(message(CERTIFICATE_VERIFY, ED25519 + vector(2, signature)))
        self.send_message(message(FINISHED, self._finished(secret)))

    def check_proof(self, side: str, secret: bytes, judge: Callable[[bytes], None]) -> None:
        """Read the other end's key, signature and Finished, and judge all of them."""
        shown = self.next_message(CERTIFICATE)
        key = shown[-34:-2]
        secure(side == "server" or shown != bytes(4), CERTIFICATE_REQUIRED, "no key was shown")
        secure(shown == certificate(key), BAD_CERTIFICATE, "what was shown is no Ed25519 key")
        judge(key)
        content = self._signed(side)
        proof = self.next_message(CERTIFICATE_VERIFY)
        secure(proof[:4] == ED25519 + b"\0\x40" and ed25519_verify(key, content, proof[4:]),
               DECRYPT_ERROR, "the signature is wrong")
        expected = self._finished(secret)
        secure(self.next_message(FINISHED) == expected, DECRYPT_ERROR, "Finished is wrong")

    # ---- the stream

    def send(self, data: bytes) -> None:
        """Write application data."""
        with self.lock:
            for start in range(0, len(data), RECORD):
                self.write_record(APPLICATION, data[start:start + RECORD])

    def read(self, n: int) -> bytes:
        """The next n bytes of handshake messages or, behind them, of the stream."""
        while len(self.unread) < n:
            kind, data = self.read_record()
            if kind == self.due:
                self.unread += data
            else:
                self._update_reading(kind, data)
        data, self.unread = self.unread[:n], self.unread[n:]
        return data

    def _update_reading(self, kind: int, data: bytes) -> None:
        """Take a KeyUpdate (section 4.6.3), and answer one that asks for it; nothing else comes."""
        updates = [message(KEY_UPDATE, b"\0"), message(KEY_UPDATE, b"\1")]
        self._sound(kind == HANDSHAKE and data in updates, UNEXPECTED, "a record out of order")
        self.reading = self.reading and self.reading.updated()
        if data == updates[1] and not self.closed:
            with self.lock:
                self.write_record(HANDSHAKE, updates[0])
                self.writing = self.writing and self.writing.updated()

    def close_send(self) -> None:
        """End this direction: `close_notify`, then the end of the TCP stream."""
        with self.lock, suppress(OSError):      # the other end may be faster
            if not self.closed:
                self.closed = True
                if self.writing is not None:
                    self.write_record(ALERT, b"\1\0")
                self.sock.shutdown(socket.SHUT_WR)

    def drain(self) -> None:
        """Drop what comes until the end."""
        with suppress(OSError, EOFError):
            while True:
                self.receive(65536)

    def close(self) -> None:
        """Close both directions; input that is left could destroy what the peer has not read."""
        self.close_send()
        self.deadline = time.monotonic() + LINGER
        self.drain()
        self.sock.close()


@contextmanager
def guarded(tls: Tls) -> Iterator[None]:
    """Name the fault behind an error; before the hellos, tell the other end its alert."""
    try:
        yield
    except Fault as fault:
        if fault.alert is not None and not tls.met:
            with suppress(OSError):             # the other end may have gone
                tls.write_record(ALERT, bytes([2, fault.alert]))
        raise
    except (EOFError, ConnectionResetError, BrokenPipeError) as error:
        raise Fault(str(error), "peer-vanished") from None
    except OSError as error:
        silent = isinstance(error, TimeoutError)
        raise Fault(str(error), "peer-silent" if silent else "connection-failed") from None


# --------------------------------------------------------------------------------- the client


def connect(tls: Tls, index: int, seed: bytes, judge: Callable[[bytes], None]) -> None:
    """The client's side. `index` is its own meeting index, `judge` raises for a wrong key."""
    with guarded(tls):
        private = os.urandom(32)
        tls.send_message(message(CLIENT_HELLO, _client_hello(index, x25519(private, NINE))))
        secret = shared_secret(private, _server_share(Reader(tls.next_message(SERVER_HELLO))))
        own, other = tls.traffic(secret, "hs")
        tls.write_record(CHANGE_CIPHER_SPEC, b"\1")
        tls.read_under(other)
        tls.writing = Keys(own)
        answers = read_extensions(Reader(tls.next_message(ENCRYPTED_EXTENSIONS)))
        secure(answers.keys() <= {SERVER_NAME, GROUPS, *CHOSEN_TYPES}, UNSUPPORTED, "not asked for")
        secure(CHOSEN_TYPES.items() <= answers.items(), HANDSHAKE_FAILURE, "no raw public keys")
        request = Reader(tls.next_message(CERTIFICATE_REQUEST))
        asked = request.vector(1), read_extensions(request).get(SIGNATURES)
        secure(asked == (b"", vector(2, ED25519)), HANDSHAKE_FAILURE, "another request of a key")
        tls.check_proof("server", other, judge)
        later, other = tls.traffic(next_stage(secret, bytes(32)), "ap")
        tls.prove("client", own, seed)
        tls.read_under(other)
        tls.writing, tls.due, tls.skips = Keys(later), APPLICATION, False


def _client_hello(index: int, share: bytes) -> bytes:
    """The body of ClientHello (chapter 2, TLS)."""
    return (b"\3\3" + os.urandom(32) + vector(1, b"") + vector(2, SUITE) + vector(1, b"\0")
            + extensions({
                SERVER_NAME: server_name(index), VERSIONS: vector(1, TLS13),
                GROUPS: vector(2, X25519), KEY_SHARE: ONE_SHARE + share,
                SIGNATURES: vector(2, ED25519), **OFFERED_TYPES}))


def _server_share(body: Reader) -> bytes:
    """The key share of a ServerHello, as a list."""
    version, _, *choices = body.take(2), body.take(32), body.vector(1), body.take(2), body.take(1)
    chosen = read_extensions(body)
    secure(VERSIONS in chosen, PROTOCOL_VERSION, "the server does not speak TLS 1.3")
    secure(chosen.keys() <= {VERSIONS, KEY_SHARE}, UNSUPPORTED, "an extension out of place")
    secure([version, *choices, chosen[VERSIONS]] == [b"\3\3", b"", SUITE, b"\0", TLS13], ILLEGAL,
           "not what was offered")
    return vector(2, chosen.get(KEY_SHARE, b""))


# --------------------------------------------------------------------------------- the server


def accept(tls: Tls, index: int, parties: int, seed: bytes,
           judge: Callable[[int, bytes], None]) -> int:
    """The server's side; returns the client's meeting index."""
    with guarded(tls):
        session_id, offered = _read_client_hello(Reader(tls.next_message(CLIENT_HELLO)))
        client = _named_party(offered.get(SERVER_NAME, b""))
        need(index != client < parties, f"a server name with index {client}", "wrong-party")
        tls.named = client
        private = os.urandom(32)
        secret = shared_secret(private, offered[KEY_SHARE])
        tls.send_message(message(SERVER_HELLO, (
            b"\3\3" + os.urandom(32) + vector(1, session_id) + SUITE + b"\0"
            + extensions({VERSIONS: TLS13, KEY_SHARE: ONE_SHARE[2:] + x25519(private, NINE)}))))
        other, own = tls.traffic(secret, "hs")
        tls.write_record(CHANGE_CIPHER_SPEC, b"\1")
        tls.read_under(other)
        tls.writing = Keys(own)
        algorithms = extensions({SIGNATURES: vector(2, ED25519)})
        tls.send_message(message(ENCRYPTED_EXTENSIONS, extensions(CHOSEN_TYPES)))
        tls.send_message(message(CERTIFICATE_REQUEST, vector(1, b"") + algorithms))
        tls.prove("server", own, seed)
        later, own = tls.traffic(next_stage(secret, bytes(32)), "ap")
        tls.writing = Keys(own)
        tls.check_proof("client", other, lambda key: judge(client, key))
        tls.read_under(later)
        tls.due, tls.skips = APPLICATION, False
        return client


def _read_client_hello(body: Reader) -> tuple[bytes, dict[int, bytes]]:
    """Session id and extensions of a ClientHello that offers what is needed."""
    body.take(34)
    session_id, suites, compression = body.vector(1), body.vector(2), body.vector(1)
    offered = read_extensions(body)
    secure(TLS13 in offers(offered.get(VERSIONS, b"\0"), 1), PROTOCOL_VERSION, "no TLS 1.3")
    secure({SIGNATURES, GROUPS, KEY_SHARE} <= offered.keys(), MISSING_EXTENSION, "one is missing")
    for values, needed in ((vector(2, suites), SUITE), (offered[GROUPS], X25519),
                           (offered[SIGNATURES], ED25519)):
        secure(needed in offers(values, 2), HANDSHAKE_FAILURE, "not offered what is needed")
    need(len(session_id) <= 32, "a session id is too long", alert=DECODE_ERROR)
    secure(compression == b"\0", ILLEGAL, "compression is offered")
    secure(OFFERED_TYPES.items() <= offered.items(), HANDSHAKE_FAILURE, "no raw public keys")
    return session_id, offered


def _named_party(data: bytes) -> int:
    """The index in a server name."""
    found = [index for index in range(1000) if data == server_name(index)]
    need(found != [], "the server name is that of no party")
    return found[0]
