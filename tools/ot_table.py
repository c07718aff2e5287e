"""Writes the figures of `sealane-bench ot --json` into the table of docs/protocols/ot.md.

sealane-bench ot --json > ot.json
python tools/ot_table.py ot.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "protocols" / "ot.md"
BEGIN, END = "<!-- figures -->\n", "<!-- end of figures -->\n"
FORMS = ("correlated", "given-choices", "random", "chosen")
COLUMNS = ("local/sender", "local/receiver", "tls")


def table(lines: list[str]) -> str:
    """A row for each form and protocol that was measured, as Markdown."""
    rates: dict[tuple[str, str], dict[str, float]] = {}
    for line in lines:
        record = json.loads(line)
        protocol, _, place = str(record["case"]).partition("/")
        form, _, column = place.partition("/")
        if form not in FORMS:
            continue
        figures = rates.setdefault((form, protocol), {})
        if record["metric"] == "million_ots_per_s":
            figures[column] = float(record["value"])
        elif record["metric"] == "bits_per_ot":
            figures["bits"] = float(record["value"])
    names = [name for name in (*COLUMNS, "bits") if any(name in row for row in rates.values())]
    heads = [name.replace("local/", "").replace("bits", "bits an OT") for name in names]
    rows = ["| form | protocol | " + " | ".join(heads) + " |", "|---" * (2 + len(names)) + "|"]
    for form, protocol in sorted(rates, key=lambda key: FORMS.index(key[0])):
        figures = rates[form, protocol]
        digits = {name: 2 if name == "bits" else 1 for name in names}
        cells = [f"{figures[name]:.{digits[name]}f}" if name in figures else "" for name in names]
        rows.append(f"| {form} | {protocol} | " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def main() -> None:
    """Replaces the table of the page."""
    (figures,) = sys.argv[1:]
    lines = [line for line in Path(figures).read_text().splitlines() if line.startswith("{")]
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        sys.exit(f"{PAGE} has no place for figures")
    PAGE.write_text(before + BEGIN + "\n" + table(lines) + "\n" + END + after)


if __name__ == "__main__":
    main()
