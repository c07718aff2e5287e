"""Counts what the machines take on an FPGA, with Yosys: `make -C hardware/rtl resources`.

Synthesis for UltraScale (`synth_xilinx -family xcu`), module by module; a count includes all
modules inside. The result goes to `hardware/accel/src/resources.json`. The parts of FASE's machine
are those of Table III of the FASE paper; of the better engines, the whole, and what is their own.
"""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
OUT = HERE.parent.parent / "target" / "rtl" / "resources"
RESULT = HERE.parent / "accel" / "src" / "resources.json"
# The parts of Table III.
PARTS = {"total": "garbler", "engine": "half_gate", "key_generator": "label_source"}
# Those of the better engines, and the parameters of each.
ENGINE_PARTS = {"total": "garbler", "core": "bundle_core", "inputs": "input_store"}
MACHINES = {"better": "-set XOR_UNITS 3", "two": "-set XOR_UNITS 3 -set ENGINES 2"}

Cells = dict[str, int]


def main() -> int:
    """Runs Yosys, and writes the counts of all parts."""
    OUT.mkdir(parents=True, exist_ok=True)
    version = subprocess.run(["yosys", "-V"], capture_output=True, text=True, check=True).stdout
    report: dict[str, Any] = {"tool": " ".join(version.split()[:2]), "family": "xcu"}
    with ThreadPoolExecutor() as pool:
        fase = pool.submit(synthesised, "fase", "", PARTS)
        better = {
            machine: pool.submit(
                synthesised, machine, f"chparam {parameters} garbler; ", ENGINE_PARTS
            )
            for machine, parameters in MACHINES.items()
        }
    report.update(fase.result())
    report.update({machine: counts.result() for machine, counts in better.items()})
    RESULT.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(RESULT.read_text(encoding="utf-8"), end="")
    return 0


def synthesised(machine: str, parameters: str, parts: dict[str, str]) -> dict[str, Any]:
    """The counts of a machine, whose parameters a command of Yosys sets."""
    sources = " ".join(sorted(path.name for path in (HERE / "src").glob("*.sv")))
    stat = OUT / f"{machine}.json"
    script = (
        f"read_verilog -sv -I. {sources}; {parameters}"
        f"synth_xilinx -family xcu -top garbler -noiopad; tee -q -o {stat} stat -json"
    )
    subprocess.run(["yosys", "-q", "-p", script], cwd=HERE / "src", check=True)
    modules = modules_of(stat.read_text(encoding="utf-8"))
    cells = {name.lstrip("\\"): module["num_cells_by_type"] for name, module in modules.items()}
    named = {part: module_named(cells, name) for part, name in parts.items()}
    return {part: resources(whole(cells, module)) for part, module in named.items()}


def modules_of(text: str) -> dict[str, Any]:
    """The modules of a report, behind which Yosys 0.23 writes lines that are no JSON."""
    end = "\n   },\n"
    whole_modules, _, _ = text.partition(end)
    modules: dict[str, Any] = json.loads(whole_modules + end.rstrip(",\n") + "}")["modules"]
    return modules


def module_named(cells: dict[str, Cells], name: str) -> str:
    """The module of this name, or the one that parameters made of it."""
    found = [module for module in cells if module == name or f"\\{name}\\" in f"\\{module}\\"]
    if len(found) != 1:
        sys.exit(f"resources: {len(found)} modules are {name}: {found}")
    return found[0]


def whole(cells: dict[str, Cells], module: str) -> Cells:
    """The primitive cells of a module and of all modules inside it."""
    total: Cells = {}
    for kind, count in cells[module].items():
        inside = whole(cells, kind.lstrip("\\")) if kind.lstrip("\\") in cells else {kind: 1}
        for primitive, number in inside.items():
            total[primitive] = total.get(primitive, 0) + count * number
    return total


def resources(cells: Cells) -> dict[str, float]:
    """LUTs, flip-flops, LUTs that serve as memory, and block memories of 36 kbit."""

    def count(*prefixes: str) -> int:
        return sum(number for kind, number in cells.items() if kind.startswith(prefixes))

    memory = count("SRL", "RAM32", "RAM64", "RAM128", "RAM256", "RAM512")
    return {
        "lut": count("LUT", "INV") + memory,
        "ff": count("FD"),
        "lutram": memory,
        "bram": count("RAMB36") + count("RAMB18") / 2,
    }


if __name__ == "__main__":
    sys.exit(main())
