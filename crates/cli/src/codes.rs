//! The registry of codes: every error and warning that anybody can meet, with who has to act and a
//! title. Each has a page of its own, `docs/errors/CODE.md`, which is built in: a code without one
//! does not compile. `sealane explain CODE` prints it.
//!
//! Whoever makes a new error adds its code here, in alphabetical order among those for whom the same
//! people act, and writes its page; a test finds codes that are used and not listed.

use sealane_program::diagnostic::{Code, Kind};

/// A code and its page.
pub struct Entry {
    /// The code.
    pub code: Code,
    /// The page, in Markdown.
    pub page: &'static str,
}

/// The code of this name.
pub fn find(name: &str) -> Option<&'static Entry> {
    ALL.iter().find(|entry| entry.code.name == name)
}

/// Who has to act, as the title of a list.
pub fn who(kind: Kind) -> &'static str {
    match kind {
        Kind::Program => "The program: its author acts",
        Kind::Misuse => "The call or the command line: whoever wrote it acts",
        Kind::Data => "The data: their owner acts",
        Kind::Config => {
            "The configuration, a key, an approval, this machine: whoever set it up acts"
        }
        Kind::Network => "The network between the parties",
        Kind::Peer => "Another party",
        Kind::Internal => "Sealane itself",
    }
}

/// All of these codes, each with its kind and its page.
macro_rules! codes {
    ($($kind:ident { $($name:literal: $title:literal,)* })*) => {
        &[$($(Entry {
            code: Code::new($name, Kind::$kind, $title),
            page: include_str!(concat!("../../../docs/errors/", $name, ".md")),
        },)*)*]
    };
}

/// All codes.
pub const ALL: &[Entry] = codes! {
    Program {
        "assignment": "a value cannot be changed in place",
        "attribute": "a value has no such attribute or method",
        "body": "a body returns what it may not, or a value leaves its body",
        "circuit-too-large": "one step needs too large a circuit",
        "constant-range": "a number does not fit its type",
        "division-by-zero": "a divisor can be zero",
        "index-range": "an index or a lookup can be outside",
        "invalid-program": "a program contradicts itself",
        "limit": "a program is larger than what is allowed",
        "literal-rounded": "warning: a fraction of the source was rounded",
        "long-run": "warning: a run takes very long",
        "many-rounds": "warning: a run waits for very many rounds",
        "name": "a name is malformed, taken or unknown",
        "never-equal": "warning: a comparison with a number that no value equals",
        "no-length": "a value has no length that is known",
        "no-number": "a secret value is no Python number",
        "no-program": "a file defines no program, or several",
        "numpy": "NumPy cannot compute with secret values",
        "operand": "an operand is nothing to compute with",
        "operator": "an operator does not work on values",
        "other-protocol": "warning: a protocol cannot run the program",
        "program-raised": "the program raised an exception",
        "range-overflow": "a result can be outside its type",
        "result": "what the function returns is not what its signature says",
        "reveals-input": "warning: a result is an input as it stands",
        "rounded-sum": "warning: a sum of many numbers that are each rounded",
        "run-too-large": "a run would be too large",
        "secret-condition": "a secret cannot decide what Python does next",
        "secret-index": "a secret cannot be a Python index",
        "secret-key": "a secret cannot be a key of a dict or set",
        "shape-mismatch": "shapes do not fit",
        "shift-range": "a shift by less than zero or too far",
        "signature": "the signature does not say who gives and who learns what",
        "syntax": "the text form of a program is malformed",
        "type": "there is no such element type",
        "type-mismatch": "types do not fit",
        "unreadable": "a program in its text form cannot be read",
        "unrolled-loop": "warning: a loop was written out very often",
        "unused-input": "warning: no result depends on an input",
        "whole-rows": "an operation needs all rows at once",
        "wrapping-division": "division in a type that wraps",
    }
    Misuse {
        "aead-for-study": "a mode for study is to protect data",
        "aead-key-worn-out": "a key has done as much as is safe",
        "aead-nonce-twice": "two messages of a batch have one nonce",
        "aead-parameter": "a mode does not take what it was given",
        "argument": "an argument has the wrong type or size",
        "card-malformed": "a card was cut off or mistyped",
        "circuit-file": "a circuit cannot be read",
        "circuit-value": "a value does not fit the circuit",
        "clear-twice": "two protocols are asked for",
        "command-line": "the command line is malformed",
        "helper-name": "a helper cannot be called so",
        "helper-names": "helpers are given by a list of names",
        "input-count": "there are not as many inputs as the program has",
        "input-of-helper": "a helper owns no input",
        "input-twice": "two files are given for the same inputs",
        "interrupted": "somebody stopped the command",
        "missing-argument": "a program is called with other arguments than it has",
        "no-file": "there is no such program file",
        "no-peers": "there are no other libraries to measure beside a suite",
        "no-run": "there is no such run, or several",
        "output-exists": "what is to be written is there already",
        "parties": "a protocol computes with another number of parties",
        "party-count": "a mesh has another number of parties than the job",
        "party-name": "a party cannot be called so",
        "passphrase": "no passphrase was given",
        "peer-in-use": "a party cannot be removed yet",
        "peer-unknown": "the configuration has no such party",
        "row-count": "a number of rows is outside what the program allows",
        "unknown-code": "there is no such code",
        "unknown-input": "the program has no such input",
        "unknown-network": "there is no such network class",
        "unknown-part": "a suite of benchmarks has no such part",
        "unknown-party": "the program has no such party",
        "unknown-protocol": "there is no such protocol",
        "unknown-rows": "the program has no such row count",
        "unknown-suite": "there is no such suite of benchmarks",
        "unknown-table": "no result belongs to such a table",
        "who-am-i": "nothing says which party this is",
        "whose-input": "it is not said whose inputs a file holds",
    }
    Data {
        "data-column-missing": "a table has no such column",
        "data-column-twice": "a table has a column twice",
        "data-columns": "a table has the wrong number of columns",
        "data-inexact": "a number may be another one that was rounded",
        "data-malformed": "a table cannot be read",
        "data-missing": "an input has no data",
        "data-not-a-number": "a cell is no number of its type",
        "data-null": "a table has a row without a value",
        "data-range": "a value is outside of its declared range",
        "data-rows": "a table has the wrong number of rows",
        "data-shape": "an array has the wrong shape",
        "data-type": "an array has elements that are no numbers",
        "data-unknown-input": "data are given for what is no input of this party",
        "data-unreadable": "a file of data cannot be read",
        "invalid-tag": "a sealed message is not authentic",
        "psi-attempt": "a set does not fit into the tables of an attempt",
        "psi-seed": "two parties have prepared by different agreements",
        "psi-size": "a set has more items than agreed",
        "rows-differ": "parties disagree about a number of rows",
        "seal-input": "a file or folder cannot be read or sealed",
        "sealed-altered": "a sealed file is not as it was sealed",
        "sealed-file": "a file is no sealed file that can be opened",
    }
    Config {
        "approval": "the job is not approved",
        "cannot-listen": "this party cannot listen at its address",
        "config-address": "an address in the configuration is malformed",
        "config-double": "two parties share a key or an address",
        "config-edit": "the configuration cannot be changed",
        "config-helper": "a helper in the configuration has no table",
        "config-key": "a key in the configuration is malformed",
        "config-me": "the reader of the configuration has no table",
        "config-network": "there is no such network class",
        "config-party": "the configuration lacks a party",
        "config-protocol": "there is no such protocol",
        "config-syntax": "the configuration is malformed",
        "config-timeout": "a time-out is out of bounds",
        "config-unreadable": "the configuration cannot be read",
        "cpu-tier": "this CPU lacks the tier that is asked for",
        "identity-exists": "this folder has an identity already",
        "key-file": "a private key cannot be stored or loaded",
        "local-run": "this machine refuses what a local run needs",
        "no-identity": "the private key of this party is not known",
        "no-randomness": "the operating system gives no random numbers",
        "other-identity": "a private key is not that of this party",
        "output": "results cannot be written",
        "passphrase-memory": "a passphrase takes more memory than there is",
        "peer-fingerprint": "a card has another fingerprint than its party told",
        "peer-key": "another key is pinned for a party",
        "peer-known": "a party is known under another name",
        "run-unreadable": "the folder of a run cannot be read",
        "seal-key-file": "a key for sealed files cannot be made or loaded",
        "sealed-wrong-key": "a key or passphrase is not that of a sealed file",
        "terminal": "the terminal cannot be read",
    }
    Network {
        "connection-failed": "the operating system reports a failed connection",
        "no-address": "the host of a party has no address",
        "no-secure-connection": "TLS failed, though with the right key",
        "not-well": "a peer does not answer as it should",
        "peer-cut-off": "another party gave up because of its network",
        "peer-overdue": "another party is alive but sends nothing",
        "peer-overfull": "a party waits while others send ahead too much",
        "peer-silent": "no sign of life came from another party",
        "peer-vanished": "a connection ended in the middle of a run",
        "unreachable": "another party cannot be reached",
    }
    Peer {
        "altered": "what came is not what was sent",
        "check-failed": "a check before the results failed",
        "keys-differ": "two parties have pinned different keys of a third",
        "malformed-message": "another party sent what is no message",
        "other-job": "another party approved another job",
        "party-failed": "a party of a local run failed",
        "peer-cancelled": "another party cancelled the run",
        "peer-finished": "another party finished too early",
        "peer-gave-up": "another party gave up",
        "protocol-broken": "another party broke the protocol",
        "recording-differs": "a replayed run differs from its recording",
        "wrong-key": "a key is not the one that was pinned",
        "wrong-party": "parties disagree on who is who",
        "wrong-version": "another party runs another version",
    }
    Internal {
        "internal": "a bug in Sealane",
        "internal-plan": "a bug in the planner",
    }
};
