"""The decorated function: traced once, then checked, planned, simulated or run."""

from __future__ import annotations

import functools
import reprlib
import sys
import warnings
from collections.abc import Mapping
from types import CodeType
from typing import TYPE_CHECKING, Any, Generic, Literal, ParamSpec, TypeVar, overload

from sealane import _data, _progress, _signature
from sealane._errors import SealaneWarning
from sealane._inputs import encoded, names_of, own_inputs, rows_of
from sealane._refusal import ask_approval, call, misuse, refuse_old_names, refuse_signature
from sealane._tracing import trace_of_function

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from os import PathLike
    from typing import TypeAlias

    from sealane import _core

    Path: TypeAlias = str | PathLike[str]

P = ParamSpec("P")
R = TypeVar("R")


@overload
def program(function: Callable[P, R]) -> Program[P, R]: ...
@overload
def program(
    function: None = None, *, flush_subnormals: bool = False
) -> Callable[[Callable[P, R]], Program[P, R]]: ...
def program(function: Any = None, *, flush_subnormals: bool = False) -> Any:
    """Makes a program of a function whose signature states the owner of each input and the
    receivers of each result; see `Private` and `Revealed`. With `flush_subnormals`, floating point
    below the normal numbers is read and written as zeros, which takes fewer gates.

    Signature and body are read when the program is first used: the function then runs once, on
    values without data.

    Raises `ProgramError` for an object that is no function; and at first use for a signature that
    is invalid, and for a body that does something that a program cannot. Exceptions of the function
    itself are passed on.

    >>> import sealane as sl
    >>> @sl.program
    ... def richer(
    ...     a: sl.Private[sl.u32, "alice"], b: sl.Private[sl.u32, "bob"]
    ... ) -> sl.Revealed[sl.boolean, "alice", "bob"]:
    ...     return a > b
    >>> richer
    <sealane program richer(a: alice, b: bob) -> result: alice and bob>
    """
    if function is None:
        return lambda function: Program(function, _scope(function), flush_subnormals)
    return Program(function, _scope(function), flush_subnormals)


class Program(Generic[P, R]):
    """Function of several parties' data, which `program` makes.

    Calling it simulates: it runs the real protocol on the arguments, with all parties in this
    process. The function itself runs once, without data, when the program is first used: by any
    method, or by `text`, `parties` or `hash`. That use raises `ProgramError` for a signature that
    is invalid, and for a body that does something that a program cannot.

    >>> import sealane as sl
    >>> @sl.program
    ... def richer(
    ...     a: sl.Private[sl.u32, "alice"], b: sl.Private[sl.u32, "bob"]
    ... ) -> sl.Revealed[sl.boolean, "alice", "bob"]:
    ...     return a > b
    >>> richer.parties
    ('alice', 'bob')
    >>> "richer" in richer.text
    True
    >>> len(richer.hash)
    64
    """

    def __init__(
        self, function: Callable[P, R], scope: Mapping[str, Any], flush_subnormals: bool = False
    ) -> None:
        if not isinstance(getattr(function, "__code__", None), CodeType):
            raise refuse_signature(
                f"a program is made of a function, not of a `{type(function).__name__}`",
                hint="write `@sl.program` in the line before a `def`",
            )
        functools.update_wrapper(self, function)
        self._function, self._scope = function, scope
        self._flush_subnormals = flush_subnormals

    @functools.cached_property
    def signature(self) -> _signature.Signature:
        """Parsed signature of the function.

        Raises `ProgramError` for one that is invalid.
        """
        return _signature.read(self._function, self._scope)

    @functools.cached_property
    def native(self) -> _core.Program:
        """Traced graph; tracing happens on first use, and warns of numbers that are rounded where
        the source suggests otherwise.

        Raises `ProgramError` for a signature or a body that is refused. Exceptions of the function
        itself are passed on.
        """
        traced = trace_of_function(self._function, self.signature, self._flush_subnormals)
        self._warn(traced.warnings)
        return traced

    def _warn(self, said: Sequence[tuple[str, str, tuple[str, int] | None, str, str]]) -> None:
        """Issues each warning at its line, or else at that of the function."""
        code = self._function.__code__
        for name, message, place, reason, hint in said:
            file, line = place or (code.co_filename, code.co_firstlineno)
            warning = SealaneWarning(name, message, reason, hint)
            warnings.warn_explicit(warning, None, file, line)

    @property
    def text(self) -> str:
        """Traced graph in its text form, which all parties can read, keep and compare."""
        return self.native.text

    @property
    def parties(self) -> tuple[str, ...]:
        """Names of the parties, in order of the signature."""
        return self.native.parties

    @property
    def hash(self) -> str:
        """Hash of the job, which a party approves, as 64 hexadecimal digits: that of `plan()`
        without options. Raises as `plan` does.
        """
        return self.plan().hash

    def check(self) -> _core.Check:
        """Checks types, ranges, receivers of results, and the protocols that run the program. Reads
        no data.

        Raises `ProgramError` for a program that cannot run, or that no protocol runs.

        >>> import sealane as sl
        >>> @sl.program
        ... def total(
        ...     a: sl.Private[sl.u8, "alice"], b: sl.Private[sl.u8, "bob"]
        ... ) -> sl.Revealed[sl.u8, "bob"]:
        ...     return a + b
        >>> try:
        ...     total.check()
        ... except sl.ProgramError as error:
        ...     print(error.code)
        range-overflow
        """
        return call(self.native.check)

    @overload
    def plan(
        self,
        *,
        rows: int | Mapping[str, int] | None = None,
        config: Path | None = None,
        network: str | None = None,
        protocol: str | None = None,
        helpers: Sequence[str] | None = None,
        security: str | None = None,
        pool: bool = False,
        compare: Literal[False] = False,
    ) -> _core.Plan: ...

    @overload
    def plan(
        self,
        *,
        rows: int | Mapping[str, int] | None = None,
        config: Path | None = None,
        network: str | None = None,
        helpers: Sequence[str] | None = None,
        security: str | None = None,
        pool: bool = False,
        compare: Literal[True],
    ) -> _core.Comparison: ...

    def plan(
        self,
        *,
        rows: int | Mapping[str, int] | None = None,
        config: Path | None = None,
        network: str | None = None,
        protocol: str | None = None,
        helpers: Sequence[str] | None = None,
        security: str | None = None,
        pool: bool = False,
        compare: bool = False,
    ) -> _core.Plan | _core.Comparison:
        """Plans a run: protocol, steps, AND gates, payload bytes, rounds. Runs nothing and reads no
        data.

        `rows` are the numbers of rows to state the cost for, by default the upper bounds. They are
        not part of the hash that parties approve. `helpers` are parties beside those of the
        program, in order: they own nothing and learn nothing, but may compute. `security` is what
        the protocol has to withstand: `"semi-honest"` parties, as all but `"clear"` do, or
        `"malicious"` ones, as `"auth"` does for two who compute, and `"trio"` for three: one of
        these is taken where no protocol is named. Network class, protocol, helpers and security
        that are not stated are those of the configuration, as in a run: `config`, by default
        `sealane.toml` if there is one; else a LAN, `yao`, nobody and semi-honest. With `pool=True`
        the run takes its oblivious transfers from the pool that `sealane pool fill` has made, which
        is another job with other messages. With `compare=True` the plan is one of every protocol
        that can run the program, side by side, and takes no `protocol`.

        Rounds or time that are out of proportion are a `SealaneWarning` with the line to change.

        Raises `ProgramError` for a program that the protocol cannot run, or only at too large a
        size; `MisuseError` for an unknown protocol or network class, for a protocol that is weaker
        than `security`, for helpers that the protocol does not need or that cannot be called so,
        and for numbers of rows that the signature does not allow; and `ConfigError` for a
        configuration that cannot be read or is malformed.

        >>> import sealane as sl
        >>> @sl.program
        ... def overdue(
        ...     days: sl.Private[sl.u8, "shop", "bills <= 1_000"], limit: sl.Private[sl.u8, "bank"]
        ... ) -> sl.Revealed[sl.u16, "bank"]:
        ...     return (days > limit).sum(dtype=sl.u16)
        >>> plan = overdue.plan(rows=100)
        >>> plan.rows, sorted(plan.payload_bytes)
        ({'bills': 100}, ['bank', 'shop'])
        >>> plan.ands < overdue.plan().ands and plan.hash == overdue.hash
        True
        """
        helpers = None if helpers is None else names_of(helpers)
        if compare:
            if protocol is not None:
                message = "a comparison has every protocol"
                raise misuse("argument", message, hint="leave out `protocol` or `compare`")
            terms = (config, network, helpers, security, pool)
            return call(self.native.compare, rows_of(self.signature, rows), *terms)
        stated = (config, network, protocol, helpers, security, pool)
        plan = call(self.native.plan, rows_of(self.signature, rows), *stated)
        self._warn(plan.warnings)
        return plan

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Simulates on the given inputs, arrays with the types and shapes of the signature, and
        returns the result: a NumPy array or scalar, or a named tuple of them. Inputs, element types
        of results and exceptions are those of `simulate`.

        Raises `DataError` and others, as `simulate` does.

        >>> import sealane as sl
        >>> @sl.program
        ... def bids(
        ...     a: sl.Private[sl.u16, "ann", 2], b: sl.Private[sl.u16, "ben", 2]
        ... ) -> tuple[sl.Revealed[sl.boolean, "ann", "ben"], sl.Revealed[sl.u16, "ben"]]:
        ...     return a > b, sl.maximum(a, b)
        >>> wins, prices = bids([5, 9], [7, 8])
        >>> wins, prices
        (array([False,  True]), array([7, 9], dtype=uint16))
        """
        return self.simulate(*args, **kwargs).value

    def simulate(
        self,
        *args: Any,
        clear: bool = False,
        network: str = "lan",
        protocol: str | None = None,
        helpers: Sequence[str] = (),
        security: str | None = None,
        runs: Path | None = None,
        progress: bool = True,
        **kwargs: Any,
    ) -> _data.Report:
        """Runs the real protocol on the given inputs with all parties in this process, `helpers` as
        well, and reports the traffic between them. With `runs`, a folder, the run leaves a
        folder of its own there, with a page about it. `progress=False` shows no progress.
        `clear=True` is `protocol="clear"`: the same plan without cryptography.

        An input is an array, a table of pandas, Polars, DuckDB or pyarrow (anything that streams
        Arrow), or the path of a `.csv`, `.csv.gz`, `.parquet` or `.npy` file. Of tables the columns
        count that the signature names; one may be given for several inputs.

        An array is one of NumPy, a list or a number. It has the shape of the signature, rows first,
        and elements of any type of integers, truth values or floats, each of which has to be a
        number of the declared type; for fixed point it is read to the nearest one. Results come in
        the narrowest type of NumPy that holds their element type: `u13` as `uint16`, `boolean` as
        `bool`, fixed point as `float64`, or as `Fraction` where a `float64` would not be exact.
        For a single date, text or category, a `str` is the cell itself; a file is a `Path` there.

        `network` is `"lan"`, `"wan"`, or a round trip and a bandwidth, each rounded to one digit,
        such as `"20ms/100Mbps"`; `protocol` is `"yao"`, `"yao-three-halves"`, `"trio"`,
        `"trio-malicious"`, `"gmw"`, `"mixed"`, `"auth"`, `"clear"` or `"auto"`; `security` is that
        of `plan`, and so is the protocol where none is named.

        Raises `DataError` for inputs that do not match the signature, `ProgramError` for a program
        that the protocol cannot run, `MisuseError` for other arguments, and `ConfigError` if the
        environment variable `SEALANE_TIER` names a tier that the CPU lacks. `KeyboardInterrupt`
        ends the simulation, and is passed on.

        >>> import sealane as sl
        >>> @sl.program
        ... def total(
        ...     a: sl.Private[sl.u8, "alice"], b: sl.Private[sl.u8, "bob"]
        ... ) -> sl.Revealed[sl.u16, "bob"]:
        ...     return sl.stack([a, b]).sum(dtype=sl.u16)
        >>> report = total.simulate(200, 100, progress=False)
        >>> report.value, report.as_planned
        (np.uint16(300), True)
        """
        arrays, tables = encoded(self.signature, self._bind(args, kwargs))
        for name, switch in (("clear", clear), ("progress", progress)):
            if not isinstance(switch, bool):
                message = f"`{name}` is {reprlib.repr(switch)}, which is no bool"
                raise misuse("argument", message, hint=f"say `{name}=True`, or leave it out")
        named = protocol is not None and not (
            isinstance(protocol, str) and protocol in ("yao", "clear")
        )
        if clear and named:
            raise misuse(
                "clear-twice",
                f'`clear=True` is `protocol="clear"`, and here is protocol="{protocol}" as well',
                hint="leave one of them out",
            )
        protocol = "clear" if clear else protocol
        show = _progress.display() if progress else False
        stated = (network, protocol, names_of(helpers), security, runs, show)
        report = call(self.native.simulate, arrays, tables, *stated)
        return _data.Report(report, self.signature)

    @refuse_old_names
    @ask_approval
    def run(
        self,
        *,
        approve: str,
        party: str | None = None,
        input: Any = None,
        config: Path | None = None,
        identity: Path | None = None,
        network: str | None = None,
        protocol: str | None = None,
        helpers: Sequence[str] | None = None,
        security: str | None = None,
        pool: bool = False,
        record: bool = True,
        runs: Path | None = None,
        progress: bool = True,
        timeout: float | None = None,
    ) -> _data.Report:
        """Runs as one party, with the others over the network.

        `config` is the TOML file with the parties' addresses and keys, by default `sealane.toml`,
        and `party` the party that this one is, by default the one that `config` says. `input` is
        this party's data, as in `simulate`: a file or a table for all of its inputs, an array if it
        gives one input, or a mapping from inputs to any of these; a party that gives none leaves it
        out. `approve` is the hash of the job that this party approves, all of it: `plan(...).hash`
        with the same `config`, `network`, `protocol`, `helpers` and `pool`. The configuration
        states those that the call does not, and `security`, as in `plan`. With `pool=True` the run
        takes its oblivious transfers from the pool that `sealane pool fill` has made with the other
        party. `identity` is the file with this party's private key, by default the one that the
        configuration names. The run leaves a folder with a page about it in `runs`, by default the
        folder that the configuration names, or `runs`; with `record=False` it leaves none.
        `progress=False` shows no progress.

        `timeout` is for how many seconds this party waits for what a party that is alive is to
        send, 0.1 to 86,400, by default what the configuration says, or 3,600. `KeyboardInterrupt`
        cancels the run: the other parties are told, and the exception comes when nothing of it is
        left.

        Raises, before anything is sent, `ConfigError` for a configuration, key or approval that is
        missing or wrong, `DataError` for inputs that do not match the signature, `ProgramError` for
        a program that the protocol cannot run, and `MisuseError` for other arguments. Raises
        `NetworkError` if a connection cannot be made, is lost or stays silent for too long,
        `DataError` if parties give different numbers of rows of one name, and `PeerError` if
        another party runs another job, breaks the protocol or gives up.

        A run needs a configuration, which `sealane init` makes:

        >>> import sealane as sl
        >>> @sl.program
        ... def richer(
        ...     a: sl.Private[sl.u32, "alice"], b: sl.Private[sl.u32, "bob"]
        ... ) -> sl.Revealed[sl.boolean, "alice", "bob"]:
        ...     return a > b
        >>> try:
        ...     richer.run(input=3, approve=richer.hash, config="no-such-folder/sealane.toml")
        ... except sl.ConfigError as error:
        ...     print(error.code)
        config-unreadable
        """
        from sealane import _core

        party = call(_core.own_party, party, config, identity)
        arrays, tables = ({}, []) if input is None else own_inputs(self.signature, party, input)
        helpers = None if helpers is None else names_of(helpers)
        show = _progress.display() if progress else False
        stated = (config, approve, identity, network, protocol, helpers, security)
        ways = (pool, record, runs, show, timeout)
        report = call(self.native.run, party, arrays, tables, *stated, *ways)
        return _data.Report(report, self.signature)

    def __repr__(self) -> str:
        inputs = ", ".join(f"{p.name}: {p.owner}" for p in self.signature.parameters)
        results = ", ".join(f"{r.name}: {' and '.join(r.to)}" for r in self.signature.results)
        return f"<sealane program {self._function.__name__}({inputs}) -> {results}>"

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        import inspect

        signature = inspect.signature(self._function)
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise misuse(
                "missing-argument",
                f"`{self._function.__name__}` is called with other arguments than it has",
                reason=f"Python says: {error}.",
                hint=f"its parameters are: {', '.join(signature.parameters)}",
            ) from None
        bound.apply_defaults()
        return bound.arguments


def _scope(function: Callable[..., Any]) -> Mapping[str, Any]:
    """Names that annotations in text form may use beyond the module's: those around the `def`."""
    if not any(isinstance(a, str) for a in getattr(function, "__annotations__", {}).values()):
        return {}
    frame = sys._getframe(2)
    return dict(frame.f_locals) if frame.f_locals is not frame.f_globals else {}
