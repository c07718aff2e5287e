"""A relay between one who dials and one who listens: for trials and for tests of whole runs."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress


class Relay:
    """A port that carries bytes to one who listens, and counts them; `pass_on` may do harm."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.carried = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def wait_for(self, count: int, within_s: float) -> None:
        """Waits until so many bytes have crossed."""
        deadline = time.monotonic() + within_s
        while self.carried < count:
            if time.monotonic() > deadline:
                raise TimeoutError(f"only {self.carried} bytes have crossed")
            time.sleep(0.001)

    def close(self) -> None:
        """Ends every connection."""
        # Closing alone would leave threads waiting in their calls.
        for each in (self.listener, *self.sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def pass_on(
        self, piece: bytes, before: int, up: bool, come: socket.socket, go: socket.socket
    ) -> None:
        """Sends a piece on, to the listener if `up`; `before` bytes have gone this way already."""
        go.sendall(piece)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self.listener.accept()
                try:
                    far = socket.create_connection(("127.0.0.1", self.port))
                except OSError:
                    near.close()
                    continue
                self.sockets += [near, far]
                for ends in ((near, far, True), (far, near, False)):
                    threading.Thread(target=self._carry, args=ends, daemon=True).start()

    def _carry(self, come: socket.socket, go: socket.socket, up: bool) -> None:
        before = 0
        # A process that is killed resets its connection, which comes as an error.
        with suppress(OSError):
            while piece := come.recv(1 << 16):
                self.pass_on(piece, before, up, come, go)
                before += len(piece)
                self.carried += len(piece)
        with suppress(OSError):
            go.shutdown(socket.SHUT_WR)
