//! Codes of errors and warnings: a closed list, each with the kind of failure, a title and the exit
//! status. Each code has a page, `docs/errors/CODE.md`, which `sealane explain CODE` prints.
//!
//! A new code is added here, in alphabetical order within its kind, and gets its page; a code
//! without a page does not compile.

use std::fmt;

/// Kind of a failure: it says who has to act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// The program: its author acts.
    Program,
    /// The call or the command line: its author acts.
    Misuse,
    /// The data: their owner acts.
    Data,
    /// The configuration, a key, an approval, or this machine: the person who set it up acts.
    Config,
    /// The network between the parties.
    Network,
    /// Another party.
    Peer,
    /// A bug in Sealane.
    Internal,
}

impl FailureKind {
    /// Name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            FailureKind::Program => "program",
            FailureKind::Misuse => "misuse",
            FailureKind::Data => "data",
            FailureKind::Config => "config",
            FailureKind::Network => "network",
            FailureKind::Peer => "peer",
            FailureKind::Internal => "internal",
        }
    }

    /// Exit status of a command that fails so.
    pub fn exit_status(self) -> u8 {
        match self {
            FailureKind::Misuse | FailureKind::Config => 2,
            FailureKind::Program => 3,
            FailureKind::Data => 4,
            FailureKind::Network | FailureKind::Peer => 5,
            FailureKind::Internal => 70,
        }
    }
}

/// Defines [`Code`] from the list below: for each kind, variants with their names and titles.
macro_rules! codes {
    ($d:tt $($kind:ident { $($variant:ident $name:literal: $title:literal,)* })*) => {
        /// Stable code of an error or a warning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[doc = concat!("`", $name, "`: ", $title)] $variant,)*)*
        }

        impl Code {
            /// All codes, by kind.
            pub const ALL: &[Code] = &[$($(Code::$variant,)*)*];

            /// Stable name, such as `range-overflow`.
            pub const fn name(self) -> &'static str {
                match self { $($(Code::$variant => $name,)*)* }
            }

            /// Meaning in a few words.
            pub const fn title(self) -> &'static str {
                match self { $($(Code::$variant => $title,)*)* }
            }

            /// Kind of failure that the code stands for.
            pub const fn kind(self) -> FailureKind {
                match self { $($(Code::$variant)|* => FailureKind::$kind,)* }
            }
        }

        /// Calls the macro `callback` with the variants of [`Code`](crate::Code) and their names,
        /// as `callback! { Variant "name", ... }`. Crate `host` builds the table of pages with it.
        #[macro_export]
        macro_rules! with_codes {
            ($d callback:ident) => { $d callback! { $($($variant $name,)*)* } };
        }
    };
}

codes! {
    $
    Program {
        Assignment "assignment": "a value cannot be changed in place",
        Attribute "attribute": "a value has no such attribute or method",
        Body "body": "a body returns what it may not, or a value leaves its body",
        CircuitTooLarge "circuit-too-large": "one step needs too large a circuit",
        ConstantRange "constant-range": "a number does not fit its type",
        DivisionByZero "division-by-zero": "a divisor can be zero",
        IndexRange "index-range": "an index or a lookup can be outside",
        InvalidProgram "invalid-program": "a program contradicts itself",
        Limit "limit": "a program is larger than what is allowed",
        LiteralRounded "literal-rounded": "warning: a fraction of the source was rounded",
        LongRun "long-run": "warning: a run takes very long",
        ManyRounds "many-rounds": "warning: a run waits for very many rounds",
        Name "name": "a name is malformed, taken or unknown",
        NeverEqual "never-equal": "warning: a comparison with a number that no value equals",
        NoLength "no-length": "a value has no length that is known",
        NoNumber "no-number": "a secret value is no Python number",
        NoProgram "no-program": "a file defines no program, or several",
        NoSuchSharing "no-such-sharing": "a step cannot be computed on such shares",
        Numpy "numpy": "NumPy cannot compute with secret values",
        Operand "operand": "an operand is nothing to compute with",
        Operator "operator": "an operator does not work on values",
        OtherProtocol "other-protocol": "warning: a protocol cannot run the program",
        ProgramRaised "program-raised": "the program raised an exception",
        RangeOverflow "range-overflow": "a result can be outside its type",
        Result "result": "what the function returns is not what its signature says",
        RevealsInput "reveals-input": "warning: a whole input follows from a result",
        RoundedSum "rounded-sum": "warning: a sum of many numbers that are each rounded",
        RunTooLarge "run-too-large": "a run would be too large",
        SecretCondition "secret-condition": "a secret cannot decide what Python does next",
        SecretIndex "secret-index": "a secret cannot be a Python index",
        SecretKey "secret-key": "a secret cannot be a key of a dict or set",
        ShapeMismatch "shape-mismatch": "shapes do not fit",
        ShiftRange "shift-range": "a shift by less than zero or too far",
        Signature "signature": "the signature does not say who gives and who learns what",
        Syntax "syntax": "the text form of a program is malformed",
        Type "type": "there is no such element type",
        TypeMismatch "type-mismatch": "types do not fit",
        Unreadable "unreadable": "a program in its text form cannot be read",
        UnrolledLoop "unrolled-loop": "warning: a loop was written out very often",
        UnusedInput "unused-input": "warning: no result depends on an input",
        WholeRows "whole-rows": "an operation needs all rows at once",
        WrappingDivision "wrapping-division": "division in a type that wraps",
    }
    Misuse {
        AeadForStudy "aead-for-study": "a mode for study is to protect data",
        AeadKeyWornOut "aead-key-worn-out": "a key has done as much as is safe",
        AeadNonceTwice "aead-nonce-twice": "two messages of a batch have one nonce",
        AeadParameter "aead-parameter": "a mode does not take what it was given",
        Argument "argument": "an argument has the wrong name, type or size",
        CardMalformed "card-malformed": "a card was cut off or mistyped",
        CircuitFile "circuit-file": "a circuit cannot be read",
        CircuitValue "circuit-value": "a value does not fit the circuit",
        ClearTwice "clear-twice": "two protocols are asked for",
        CommandLine "command-line": "the command line is malformed",
        HelperName "helper-name": "a helper cannot be called so",
        HelperNames "helper-names": "helpers are given by a list of names",
        InputCount "input-count": "there are not as many inputs as the program has",
        InputOfHelper "input-of-helper": "a helper owns no input",
        InputTwice "input-twice": "two files are given for the same inputs",
        Interrupted "interrupted": "somebody stopped the command",
        MissingArgument "missing-argument": "a program is called with other arguments than it has",
        NetlistDesign "netlist-design": "a design cannot become a netlist",
        NetlistFile "netlist-file": "a netlist cannot be read",
        NoFile "no-file": "there is no such program file",
        NoPeers "no-peers": "there are no other libraries to measure beside a suite",
        NoPool "no-pool": "a job cannot use a pool",
        NoRun "no-run": "there is no such run, or several",
        OutputExists "output-exists": "what is to be written is there already",
        Parties "parties": "a protocol computes with another number of parties",
        PartyCount "party-count": "a mesh has another number of parties than the job",
        PartyName "party-name": "a party cannot be called so",
        Passphrase "passphrase": "no passphrase was given",
        PeerInUse "peer-in-use": "a party cannot be removed yet",
        PeerUnknown "peer-unknown": "the configuration has no such party",
        RowCount "row-count": "a number of rows is outside what the program allows",
        UnknownCode "unknown-code": "there is no such code",
        UnknownInput "unknown-input": "the program has no such input",
        UnknownLine "unknown-line": "no step of the plan is of such a line",
        UnknownNetwork "unknown-network": "there is no such network class",
        UnknownPart "unknown-part": "a suite of benchmarks has no such part",
        UnknownParty "unknown-party": "the program has no such party",
        UnknownProtocol "unknown-protocol": "there is no such protocol",
        UnknownRows "unknown-rows": "the program has no such row count",
        UnknownSuite "unknown-suite": "there is no such suite of benchmarks",
        UnknownTable "unknown-table": "no result belongs to such a table",
        WeakerProtocol "weaker-protocol": "a protocol withstands less than is asked for",
        WhoAmI "who-am-i": "nothing says which party this is",
        WhoseInput "whose-input": "it is not said whose inputs a file holds",
    }
    Data {
        DataColumnMissing "data-column-missing": "a table has no such column",
        DataColumnTwice "data-column-twice": "a table has a column twice",
        DataColumns "data-columns": "a table has the wrong number of columns",
        DataInexact "data-inexact": "a number may be another one that was rounded",
        DataKind "data-kind": "a cell is no date, text or category of the program",
        DataMalformed "data-malformed": "a table cannot be read",
        DataMissing "data-missing": "an input has no data",
        DataNotANumber "data-not-a-number": "a cell is no number of its type",
        DataNull "data-null": "a table has a row without a value",
        DataRange "data-range": "a value is outside of its declared range",
        DataRows "data-rows": "a table has the wrong number of rows",
        DataShape "data-shape": "an array has the wrong shape",
        DataType "data-type": "an array has elements that are no numbers",
        DataUnknownInput "data-unknown-input": "data are given for what is no input of this party",
        DataUnreadable "data-unreadable": "a file of data cannot be read",
        InvalidTag "invalid-tag": "a sealed message is not authentic",
        PsiAttempt "psi-attempt": "a set does not fit into the tables of an attempt",
        PsiSeed "psi-seed": "two parties have prepared by different agreements",
        PsiSize "psi-size": "a set has more items than agreed",
        RowsDiffer "rows-differ": "parties disagree about a number of rows",
        SealInput "seal-input": "a file or folder cannot be read or sealed",
        SealedAltered "sealed-altered": "a sealed file is not as it was sealed",
        SealedFile "sealed-file": "a file is no sealed file that can be opened",
    }
    Config {
        Approval "approval": "the job is not approved",
        CannotListen "cannot-listen": "this party cannot listen at its address",
        ConfigAddress "config-address": "an address in the configuration is malformed",
        ConfigDouble "config-double": "two parties share a key or an address",
        ConfigEdit "config-edit": "the configuration cannot be changed",
        ConfigHelper "config-helper": "a helper in the configuration has no table",
        ConfigKey "config-key": "a key in the configuration is malformed",
        ConfigMe "config-me": "the reader of the configuration has no table",
        ConfigNetwork "config-network": "there is no such network class",
        ConfigParty "config-party": "the configuration lacks a party",
        ConfigProtocol "config-protocol": "there is no such protocol",
        ConfigSyntax "config-syntax": "the configuration is malformed",
        ConfigTimeout "config-timeout": "a time-out is out of bounds",
        ConfigUnreadable "config-unreadable": "the configuration cannot be read",
        CpuTier "cpu-tier": "this CPU lacks the tier that is asked for",
        Device "device": "a garbling device cannot be used",
        IdentityExists "identity-exists": "this folder has an identity already",
        KeyFile "key-file": "a private key cannot be stored or loaded",
        LocalRun "local-run": "this machine refuses what a local run needs",
        NoIdentity "no-identity": "the private key of this party is not known",
        NoRandomness "no-randomness": "the operating system gives no random numbers",
        OtherIdentity "other-identity": "a private key is not that of this party",
        OutOfMemory "out-of-memory": "this machine gives no more memory",
        Output "output": "results cannot be written",
        PassphraseMemory "passphrase-memory": "a passphrase takes more memory than there is",
        PeerFingerprint "peer-fingerprint": "a card has another fingerprint than its party told",
        PeerKey "peer-key": "another key is pinned for a party",
        PeerKnown "peer-known": "a party is known under another name",
        PoolBusy "pool-busy": "another process uses the same pool",
        PoolFull "pool-full": "a pool holds as many fills as it can",
        PoolPort "pool-port": "a pool that is kept filled needs a port of its own",
        PoolShort "pool-short": "a pool has too little for a run",
        PoolUnusable "pool-unusable": "the files of a pool cannot be used",
        RunUnreadable "run-unreadable": "the folder of a run cannot be read",
        SealKeyFile "seal-key-file": "a key for sealed files cannot be made or loaded",
        SealedWrongKey "sealed-wrong-key": "a key or passphrase is not that of a sealed file",
        Terminal "terminal": "the terminal cannot be read",
    }
    Network {
        ConnectionFailed "connection-failed": "the operating system reports a failed connection",
        NoAddress "no-address": "the host of a party has no address",
        NoSecureConnection "no-secure-connection": "TLS failed, though with the right key",
        NotWell "not-well": "a peer does not answer as it should",
        PeerCutOff "peer-cut-off": "another party gave up because of its network",
        PeerOverdue "peer-overdue": "another party is alive but sends nothing",
        PeerOverfull "peer-overfull": "a party waits while others send ahead too much",
        PeerSilent "peer-silent": "no sign of life came from another party",
        PeerVanished "peer-vanished": "a connection ended in the middle of a run",
        Unreachable "unreachable": "another party cannot be reached",
    }
    Peer {
        Altered "altered": "what came is not what was sent",
        CheckFailed "check-failed": "a check before the results failed",
        Disputed "disputed": "one of two parties deviated from the protocol",
        KeysDiffer "keys-differ": "two parties have pinned different keys of a third",
        MalformedMessage "malformed-message": "another party sent what is no message",
        OtherJob "other-job": "another party approved another job",
        PartyFailed "party-failed": "a party of a local run failed",
        PeerCancelled "peer-cancelled": "another party cancelled the run",
        PeerDeviated "peer-deviated": "another party deviated from the protocol",
        PeerFinished "peer-finished": "another party finished too early",
        PeerGaveUp "peer-gave-up": "another party gave up",
        PoolDiffers "pool-differs": "two parties fill a pool with different amounts",
        ProtocolBroken "protocol-broken": "another party broke the protocol",
        RecordingDiffers "recording-differs": "a replayed run differs from its recording",
        WrongKey "wrong-key": "a key is not the one that was pinned",
        WrongParty "wrong-party": "parties disagree on who is who",
        WrongVersion "wrong-version": "another party runs another version",
    }
    Internal {
        Internal "internal": "a bug in Sealane",
        InternalPlan "internal-plan": "a bug in the planner",
    }
}

impl Code {
    /// The code of this name.
    pub fn named(name: &str) -> Option<Code> {
        Code::ALL.iter().copied().find(|code| code.name() == name)
    }

    /// Tells whether it is a warning: the program may run all the same.
    pub fn is_warning(self) -> bool {
        self.is_about_numbers()
            || self.is_about_effort()
            || matches!(
                self,
                Code::OtherProtocol | Code::UnrolledLoop | Code::UnusedInput | Code::RevealsInput
            )
    }

    /// Tells whether it is a warning about the numbers that a run gives. Every verb shows these.
    pub fn is_about_numbers(self) -> bool {
        matches!(
            self,
            Code::LiteralRounded | Code::NeverEqual | Code::RoundedSum
        )
    }

    /// Tells whether it is a warning about the cost of a plan. `plan` gives these, `check` does
    /// not.
    pub fn is_about_effort(self) -> bool {
        matches!(self, Code::LongRun | Code::ManyRounds)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Compares with the stable name, as tests and scripts know it.
impl PartialEq<&str> for Code {
    fn eq(&self, name: &&str) -> bool {
        self.name() == *name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_distinct_and_in_order_within_a_kind() {
        let names: BTreeSet<_> = Code::ALL.iter().map(|code| code.name()).collect();
        assert_eq!(names.len(), Code::ALL.len());
        for pair in Code::ALL.windows(2) {
            let [a, b] = [pair[0], pair[1]];
            assert!(
                a.kind() != b.kind() || a.name() < b.name(),
                "{a} before {b}"
            );
            assert_eq!(Code::named(a.name()), Some(a));
        }
    }

    #[test]
    fn titles_say_which_codes_are_warnings() {
        for code in Code::ALL {
            assert_eq!(
                code.is_warning(),
                code.title().starts_with("warning: "),
                "{code}"
            );
        }
    }
}
