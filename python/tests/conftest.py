"""What tests share."""

from __future__ import annotations

import socket

import pytest


@pytest.fixture
def free_ports() -> list[int]:
    """Two ports on loopback that nobody listens at."""
    with socket.socket() as one, socket.socket() as other:
        for probe in (one, other):
            probe.bind(("127.0.0.1", 0))
        return [one.getsockname()[1], other.getsockname()[1]]
