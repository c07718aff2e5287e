//! The registry of codes: every error and warning that anybody can meet, with who has to act and a
//! title. Each has a page of its own, `docs/errors/CODE.md`, which `sealane explain CODE` prints.

pub use sealane_program::diagnostic::Code;
use sealane_program::diagnostic::Kind::*;

/// All codes, by who has to act.
pub const ALL: &[Code] = &[
    // Programs: what the tracer in Python refuses, then what the check refuses, then the planner.
    Code::new(
        "argument",
        Program,
        "an argument is of no use to this function",
    ),
    Code::new("assignment", Program, "a value cannot be changed in place"),
    Code::new(
        "attribute",
        Program,
        "a value has no such attribute or method",
    ),
    Code::new("no-length", Program, "a value has no length that is known"),
    Code::new("no-number", Program, "a secret value is no Python number"),
    Code::new(
        "no-program",
        Program,
        "a file defines no program, or several",
    ),
    Code::new("numpy", Program, "NumPy cannot compute with secret values"),
    Code::new("operand", Program, "an operand is nothing to compute with"),
    Code::new("operator", Program, "an operator does not work on values"),
    Code::new("program-raised", Program, "the program raised an exception"),
    Code::new(
        "result",
        Program,
        "what the function returns is not what its signature says",
    ),
    Code::new(
        "secret-condition",
        Program,
        "a secret cannot decide what Python does next",
    ),
    Code::new("secret-index", Program, "a secret cannot be a Python index"),
    Code::new(
        "secret-key",
        Program,
        "a secret cannot be a key of a dict or set",
    ),
    Code::new(
        "signature",
        Program,
        "the signature does not say who gives and who learns what",
    ),
    Code::new("type", Program, "there is no such element type"),
    Code::new(
        "body",
        Program,
        "a body returns what it may not, or a value leaves its body",
    ),
    Code::new("constant-range", Program, "a number does not fit its type"),
    Code::new("division-by-zero", Program, "a divisor can be zero"),
    Code::new("index", Program, "an index or a lookup can be outside"),
    Code::new("invalid-program", Program, "a program contradicts itself"),
    Code::new("limit", Program, "a program is larger than what is allowed"),
    Code::new("name", Program, "a name is malformed, taken or unknown"),
    Code::new(
        "range-overflow",
        Program,
        "a result can be outside its type",
    ),
    Code::new("shape-mismatch", Program, "shapes do not fit"),
    Code::new(
        "shift-range",
        Program,
        "a shift by less than zero or too far",
    ),
    Code::new("syntax", Program, "the text form of a program is malformed"),
    Code::new("type-mismatch", Program, "types do not fit"),
    Code::new(
        "unreadable",
        Program,
        "a program in its text form cannot be read",
    ),
    Code::new(
        "wrapping-division",
        Program,
        "division in a type that wraps",
    ),
    Code::new(
        "reveals-input",
        Program,
        "warning: a result is an input as it stands",
    ),
    Code::new(
        "unrolled-loop",
        Program,
        "warning: a loop was written out very often",
    ),
    Code::new(
        "unused-input",
        Program,
        "warning: no result depends on an input",
    ),
    Code::new(
        "circuit-too-large",
        Program,
        "one step needs too large a circuit",
    ),
    Code::new("run-too-large", Program, "a run would be too large"),
    Code::new("whole-rows", Program, "an operation needs all rows at once"),
    // Calls and command lines.
    Code::new("no-run", Misuse, "there is no such run, or several"),
    Code::new("card-malformed", Misuse, "a card was cut off or mistyped"),
    Code::new("circuit-file", Misuse, "a circuit cannot be read"),
    Code::new("circuit-value", Misuse, "a value does not fit the circuit"),
    Code::new("clear-twice", Misuse, "two protocols are asked for"),
    Code::new("command-line", Misuse, "an option is missing"),
    Code::new("helper-name", Misuse, "a helper cannot be called so"),
    Code::new(
        "helper-names",
        Misuse,
        "helpers are given by a list of names",
    ),
    Code::new(
        "input-count",
        Misuse,
        "there are not as many inputs as the program has",
    ),
    Code::new("input-of-helper", Misuse, "a helper owns no input"),
    Code::new(
        "input-twice",
        Misuse,
        "two files are given for the same inputs",
    ),
    Code::new(
        "missing-argument",
        Misuse,
        "a program is called with other arguments than it has",
    ),
    Code::new("no-file", Misuse, "there is no such program file"),
    Code::new(
        "parties",
        Misuse,
        "a protocol computes with another number of parties",
    ),
    Code::new(
        "party-count",
        Misuse,
        "a mesh has another number of parties than the job",
    ),
    Code::new(
        "row-count",
        Misuse,
        "a number of rows is outside what the program allows",
    ),
    Code::new("party-name", Misuse, "a party cannot be called so"),
    Code::new("peer-in-use", Misuse, "a party cannot be removed yet"),
    Code::new(
        "peer-unknown",
        Misuse,
        "the configuration has no such party",
    ),
    Code::new("unknown-input", Misuse, "the program has no such input"),
    Code::new("unknown-network", Misuse, "there is no such network class"),
    Code::new("unknown-party", Misuse, "the program has no such party"),
    Code::new("unknown-protocol", Misuse, "there is no such protocol"),
    Code::new("unknown-rows", Misuse, "the program has no such row count"),
    Code::new(
        "unknown-suite",
        Misuse,
        "there is no such suite of benchmarks",
    ),
    Code::new(
        "whose-input",
        Misuse,
        "it is not said whose inputs a file holds",
    ),
    Code::new("who-am-i", Misuse, "nothing says which party this is"),
    // Data.
    Code::new("data-malformed", Data, "a table cannot be read"),
    Code::new("data-missing", Data, "an input has no data"),
    Code::new("data-not-a-number", Data, "a cell is no number of its type"),
    Code::new(
        "data-range",
        Data,
        "a value is outside of its declared range",
    ),
    Code::new("data-rows", Data, "a table has the wrong number of rows"),
    Code::new("data-shape", Data, "an array has the wrong shape"),
    Code::new(
        "data-type",
        Data,
        "an array has elements that are no integers",
    ),
    Code::new(
        "data-unknown-input",
        Data,
        "data are given for what is no input of this party",
    ),
    Code::new("data-unreadable", Data, "a file of data cannot be read"),
    Code::new(
        "rows-differ",
        Data,
        "parties disagree about a number of rows",
    ),
    // Configuration, keys, approvals, this machine.
    Code::new("approval", Config, "the job is not approved"),
    Code::new(
        "cannot-listen",
        Config,
        "this party cannot listen at its address",
    ),
    Code::new(
        "config-address",
        Config,
        "an address in the configuration is malformed",
    ),
    Code::new(
        "config-double",
        Config,
        "two parties share a key or an address",
    ),
    Code::new("config-edit", Config, "the configuration cannot be changed"),
    Code::new(
        "config-helper",
        Config,
        "a helper in the configuration has no table",
    ),
    Code::new(
        "config-key",
        Config,
        "a key in the configuration is malformed",
    ),
    Code::new(
        "config-me",
        Config,
        "the reader of the configuration has no table",
    ),
    Code::new("config-network", Config, "there is no such network class"),
    Code::new("config-party", Config, "the configuration lacks a party"),
    Code::new("config-protocol", Config, "there is no such protocol"),
    Code::new("config-syntax", Config, "the configuration is malformed"),
    Code::new("config-timeout", Config, "a time-out is out of bounds"),
    Code::new(
        "config-unreadable",
        Config,
        "the configuration cannot be read",
    ),
    Code::new(
        "cpu-tier",
        Config,
        "this CPU lacks the tier that is asked for",
    ),
    Code::new(
        "identity-exists",
        Config,
        "this folder has an identity already",
    ),
    Code::new(
        "key-file",
        Config,
        "a private key cannot be stored or loaded",
    ),
    Code::new(
        "local-run",
        Config,
        "this machine refuses what a local run needs",
    ),
    Code::new(
        "no-identity",
        Config,
        "the private key of this party is not known",
    ),
    Code::new(
        "no-randomness",
        Config,
        "the operating system gives no random numbers",
    ),
    Code::new(
        "other-identity",
        Config,
        "a private key is not that of this party",
    ),
    Code::new("output", Config, "results cannot be written"),
    Code::new("peer-key", Config, "another key is pinned for a party"),
    Code::new("peer-known", Config, "a party is known under another name"),
    Code::new(
        "run-unreadable",
        Config,
        "the folder of a run cannot be read",
    ),
    Code::new("terminal", Config, "the terminal cannot be read"),
    // The network.
    Code::new(
        "connection-failed",
        Network,
        "the operating system reports a failed connection",
    ),
    Code::new(
        "no-secure-connection",
        Network,
        "TLS failed, though with the right key",
    ),
    Code::new("clock-off", Network, "clocks are far apart"),
    Code::new("no-address", Network, "the host of a party has no address"),
    Code::new("not-well", Network, "a peer does not answer as it should"),
    Code::new(
        "peer-cut-off",
        Network,
        "another party gave up because of its network",
    ),
    Code::new(
        "peer-overdue",
        Network,
        "another party is alive but sends nothing",
    ),
    Code::new(
        "peer-overfull",
        Network,
        "a party waits while others send ahead too much",
    ),
    Code::new(
        "peer-silent",
        Network,
        "no sign of life came from another party",
    ),
    Code::new(
        "peer-vanished",
        Network,
        "a connection ended in the middle of a run",
    ),
    Code::new("unreachable", Network, "another party cannot be reached"),
    // Other parties.
    Code::new("altered", Peer, "what came is not what was sent"),
    Code::new("check-failed", Peer, "a check before the results failed"),
    Code::new(
        "malformed-message",
        Peer,
        "another party sent what is no message",
    ),
    Code::new("other-job", Peer, "another party approved another job"),
    Code::new("party-failed", Peer, "a party of a local run failed"),
    Code::new("peer-finished", Peer, "another party finished too early"),
    Code::new("peer-gave-up", Peer, "another party gave up"),
    Code::new("protocol-broken", Peer, "another party broke the protocol"),
    Code::new(
        "recording-differs",
        Peer,
        "a replayed run differs from its recording",
    ),
    Code::new("wrong-key", Peer, "a key is not the one that was pinned"),
    Code::new("wrong-party", Peer, "parties disagree on who is who"),
    Code::new("wrong-version", Peer, "another party runs another version"),
    // Sealane itself.
    Code::new("internal", Internal, "a bug in Sealane"),
    Code::new("internal-plan", Internal, "a bug in the planner"),
];

/// The code of this name.
pub fn find(name: &str) -> Option<&'static Code> {
    ALL.iter().find(|code| code.name == name)
}
