"""The command line, as the command itself explains it: the directive `command-line`.

Every verb, and every verb of a verb, gets a section with what `--help` prints, so that the page
cannot fall behind the command.
"""

import re
import subprocess
import sys
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

COMMAND = Path(sys.executable).with_name("sealane")


def setup(app: Sphinx) -> ExtensionMetadata:
    """Tells Sphinx of the directive."""
    app.add_directive("command-line", CommandLine)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


class CommandLine(SphinxDirective):
    """A section for each verb of `sealane`, with its help."""

    def run(self) -> list[nodes.Node]:
        """The command itself, then its verbs in the order in which it lists them."""
        return [told(()), *(self.section(verb) for verb in verbs(()))]

    def section(self, words: tuple[str, ...]) -> nodes.section:
        """What a verb does, and below it what its own verbs do."""
        name = " ".join(("sealane", *words))
        section = nodes.section("", nodes.title(name, name), ids=[nodes.make_id(name)])
        section += told(words)
        section += [self.section(verb) for verb in verbs(words)]
        self.state.document.note_implicit_target(section)
        return section


def told(words: tuple[str, ...]) -> nodes.Node:
    """What a command says of itself, as a block."""
    return nodes.literal_block("", explain(words), language="text", classes=["command-help"])


def verbs(words: tuple[str, ...]) -> list[tuple[str, ...]]:
    """The verbs that the help of a command lists."""
    _, _, listed = explain(words).partition("\nCommands:\n")
    found = re.findall(r"^  (\w[\w-]*)  ", listed.partition("\n\n")[0], re.MULTILINE)
    return [(*words, verb) for verb in found if verb != "help"]


def explain(words: tuple[str, ...]) -> str:
    """What `--help` prints."""
    command = [str(COMMAND), *words, "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.rstrip()
