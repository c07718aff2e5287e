"""Checks the documentation site as it was built: that it is whole, and asks nobody for anything.

    .venv/bin/python tools/site.py target/site

1. No page, style or script loads anything from elsewhere: fonts, pictures and scripts lie beside
   them. Links that a reader may follow to other places are not resources.
2. Every link between pages, to a file or to a heading ends where there is something.
3. Search, which runs in the browser, knows every page.
"""

import json
import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

FIRST = "index.html"
# Made by Sphinx, and not searched.
MADE = {"genindex.html", "py-modindex.html", "search.html"}
LOADED = {
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "input": "src",
    "link": "href",
    "object": "data",
    "script": "src",
    "source": "src",
    "video": "src",
}
"""Resources that an element loads by itself, without a click."""
# A `link` of these kinds tells where something is, and loads nothing.
TELLING = {"author", "canonical", "index", "next", "prev", "search"}
STYLE_LOADS = re.compile(r"@import\s+[\"'](.*?)[\"']|url\(\s*[\"']?(.*?)[\"']?\s*\)")
SCRIPT_LOADS = re.compile(r"(?:import\s*\(?|fetch\s*\(|\.src\s*=)\s*[\"'](\w+:)?//")


class Link(NamedTuple):
    """An address on a page, with the line on which it stands."""

    line: int
    address: str
    loaded: bool


class Page(HTMLParser):
    """The links of a page, and the places on it that a link can lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[Link] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Takes down what an element loads, links to, and is named."""
        given = {name: value or "" for name, value in attrs}
        self.places.update(given[name] for name in ("id", "name") if name in given)
        line, _ = self.getpos()
        told = tag == "link" and not set(given.get("rel", "").split()) - TELLING
        if tag in LOADED and LOADED[tag] in given:
            self.links.append(Link(line, given[LOADED[tag]], loaded=not told))
        if tag == "a" and "href" in given:
            self.links.append(Link(line, given["href"], loaded=False))
        if tag == "meta" and (moved := re.search(r"url=(.*)", given.get("content", ""))):
            self.links.append(Link(line, moved[1], loaded=True))
        pictures = [item.split()[0] for item in given.get("srcset", "").split(",") if item.strip()]
        for address in pictures + style_loads(given.get("style", "")):
            self.links.append(Link(line, address, loaded=True))


def main(root: Path) -> int:
    """Prints what is wrong; the number of findings is the exit status."""
    pages = {
        path: Page(path.read_text(encoding="utf-8"))
        for path in sorted(root.rglob("*.html"))
        if not path.is_relative_to(root / "_static")
    }
    wrong = [*resources(root, pages), *links(root, pages), *unknown(root, pages)]
    for finding in wrong:
        print(finding, file=sys.stderr)
    if not wrong:
        count = sum(len(page.links) for page in pages.values())
        print(f"the site is whole: {len(pages)} pages, {count:,} links, nothing from elsewhere")
    return min(len(wrong), 100)


def resources(root: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """Resources that would be loaded from elsewhere."""
    for path, page in pages.items():
        for link in page.links:
            if link.loaded and elsewhere(link.address):
                yield f"{path.relative_to(root)}:{link.line}: loads {link.address}"
    for path in root.rglob("*.css"):
        for address in style_loads(path.read_text(encoding="utf-8")):
            if elsewhere(address):
                yield f"{path.relative_to(root)}: loads {address}"
    for path in root.rglob("*.js"):
        if found := SCRIPT_LOADS.search(path.read_text(encoding="utf-8")):
            yield f"{path.relative_to(root)}: loads {found[0]}..."


def links(root: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """Links that end nowhere."""
    for path, page in pages.items():
        for link in page.links:
            if elsewhere(link.address):
                continue
            parts = urlsplit(link.address)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            place = unquote(parts.fragment)
            there = target.is_file()
            if there and place and target in pages:
                there = place in pages[target].places
            if not there:
                yield f"{path.relative_to(root)}:{link.line}: {link.address} is not there"


def unknown(root: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """Pages that search does not know."""
    text = (root / "searchindex.js").read_text(encoding="utf-8")
    names = json.loads(text[text.index("{") : text.rindex("}") + 1])["docnames"]
    known = {(root / name).with_suffix(".html") for name in names}
    for path in pages.keys() - known - {root / FIRST} - {root / name for name in MADE}:
        yield f"{path.relative_to(root)}: search does not know this page"


def style_loads(text: str) -> list[str]:
    """The addresses that a style sheet, or the style of an element, loads."""
    return [one or other for one, other in STYLE_LOADS.findall(text)]


def elsewhere(address: str) -> bool:
    """Returns whether an address is that of another place, or no address of a file at all."""
    return bool(re.match(r"[\w+.-]+:|//", address)) and not address.startswith("data:")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()))
