"""The circuits that `tools/prove.py` proves, each with its specification."""

from collections.abc import Iterator

from proof_cases import (
    Cases,
    Target,
    add,
    flipped,
    larger,
    left,
    multiplexer,
    order,
    right,
    shift,
    smaller,
    sub,
)
from proof_floats import (
    FORMATS,
    Float,
    away_down,
    away_even,
    away_half,
    away_never,
    away_up,
    chosen,
    compare,
    flushed,
    from_integer,
    integral,
    narrow,
    place,
    positive_difference,
    shorten,
    to_integer,
    total,
)
from proof_words import FALSE

SHIFTS = ("shl", "shr", "sar")
# Roundings to integral values.
DIRECTIONS = {
    "floor": away_down,
    "ceil": away_up,
    "trunc": away_never,
    "round": away_half,
    "roundeven": away_even,
    "rint": away_even,
}
# Functions on numbers that CI proves.
QUICK = {
    "f32": ("floor", "roundeven", "lt", "to-bf16", "of-i32", "to-i32"),
    "f64": ("le", "to-f32"),
}


def words() -> Iterator[Target]:
    """Functions of crate `circuit`."""
    orders = {
        "lt": lambda net, x, y: net.less(x, y),
        "slt": lambda net, x, y: net.less(flipped(x), flipped(y)),
        "le": lambda net, x, y: -net.less(y, x),
        "eq": lambda net, x, y: net.equal(x, y),
    }
    functions: dict[str, Cases] = {
        "add": add,
        "sub": sub,
        "min": smaller,
        "max": larger,
        "mux": multiplexer,
    }
    moves = (left, right(lambda x: FALSE), right(lambda x: x[-1]))
    functions |= {name: shift(move) for name, move in zip(SHIFTS, moves, strict=True)}
    functions |= {name: order(less) for name, less in orders.items()}
    for name, cases in functions.items():
        for width in (8, 32, 64):
            for goal in ("size", "depth"):
                quick = width == (8 if name in SHIFTS else 64)
                full = f"{name}/{width}/{goal}"
                yield Target(full, [name, str(width), goal], cases, quick)


def numbers() -> Iterator[Target]:
    """Functions of crate `numeric` that round and normalise."""
    for name, form in FORMATS.items():
        kept = on_numbers(name, form)
        flush = {of: flushed(form, cases, result=False) for of, cases in kept.items()}
        for function in ("add", "sub", "fmin", "fmax", "fdim", *DIRECTIONS):
            flush[function] = flushed(form, kept[function], result=True)
        flush |= {of: cases for of, cases in kept.items() if of.startswith("of-")}
        for to in ("f16", "f32"):
            if f"to-{to}" in kept:
                narrower = narrow(form, FORMATS[to], flush=True)
                flush[f"to-{to}"] = flushed(form, narrower, result=False)
        for kind, functions in (("kept", kept), ("flushed", flush)):
            for function, cases in functions.items():
                for goal in ("size", "depth"):
                    form_of = goal if kind == "kept" else f"{kind}-{goal}"
                    chosen = kind == "kept" and function in QUICK.get(name, ())
                    full = f"{function}/{name}/{form_of}"
                    slow = name == "f64" and function in ("add", "sub", "fdim")
                    yield Target(full, [function, name, goal, kind], cases, chosen, slow)


def on_numbers(name: str, form: Float) -> dict[str, Cases]:
    """Functions on a format, where subnormal numbers are kept."""
    functions = {function: integral(form, away) for function, away in DIRECTIONS.items()}
    functions |= {relation: compare(form, relation) for relation in ("eq", "lt", "le")}
    functions |= {"add": total(form, opposite=False), "sub": total(form, opposite=True)}
    functions |= {"fmin": chosen(form, larger=False), "fmax": chosen(form, larger=True)}
    functions["fdim"] = positive_difference(form)
    if name in ("f32", "f64"):
        functions |= {
            "of-i64": from_integer(form, True),
            "of-u64": from_integer(form, False),
            "of-i32": from_integer(form, True),
            "to-i64": to_integer(form, 64, True, False),
            "to-u64": to_integer(form, 64, False, False),
            "to-i32": to_integer(form, 32, True, False),
            "nearest-i64": to_integer(form, 64, True, True),
            "nearest-i32": to_integer(form, 32, True, True),
            "to-f16": narrow(form, FORMATS["f16"]),
        }
    if name in ("f16", "f32"):
        functions["place"] = place(form)
    if name == "f32":
        functions["to-bf16"] = shorten(form, FORMATS["bf16"])
    if name == "f64":
        functions["to-f32"] = narrow(form, FORMATS["f32"])
    return functions


TARGETS = [*words(), *numbers()]
