"""Keys of parties and their texts (chapter 2, Keys)."""

import re

from errors import need

PKCS8 = bytes.fromhex("302e020100300506032b657004220420")


def seed_of_file(data: bytes) -> bytes:
    """The seed in a file of a private key."""
    need(len(data) == 48 and data.startswith(PKCS8), "this is no file of a private key", "own")
    return data[16:]


def key_of_text(text: str) -> bytes:
    """The public key of its text."""
    need(bool(re.fullmatch("ed25519:[0-9a-fA-F]{64}", text)), f"no key: {text[:80]!r}", "own")
    return bytes.fromhex(text[-64:])
