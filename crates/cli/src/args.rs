//! The command line: the verbs, and the arguments that several of them share.
//!
//! | file | verbs |
//! |---|---|
//! | `runs` | check, plan, simulate, run, report |
//! | `parties` | init, card, peer, doctor, pool |
//! | `files` | psi, seal, open, keygen |
//! | `tools` | explain, circuit |

mod files;
mod parties;
mod runs;
mod tools;

pub use files::{
    KeygenArgs, OpenArgs, PsiArgs, PsiMethod, PsiPrepareArgs, PsiSide, PsiVerb, SealArgs, SealMode,
};
pub use parties::{CardArgs, DoctorArgs, InitArgs, PeerArgs, PeerVerb, PoolArgs, PoolVerb};
pub use runs::{CheckArgs, PlanArgs, ReportArgs, RunArgs, SimulateArgs};
pub use tools::{CircuitArgs, CircuitVerb, ExplainArgs};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use sealane_engine::{Adversary, Corruption, ProtocolChoice, ProtocolName};
use sealane_host::EXIT_CODES;
use sealane_parties::NetworkClass;
use std::time::Duration;

/// Run a Python function on data that stays with its owners.
#[derive(Parser)]
#[command(name = "sealane", version, after_help = EXIT_CODES, disable_help_subcommand = true)]
pub struct Cli {
    /// The verb.
    #[command(subcommand)]
    pub verb: Verb,
}

/// Verbs of the command.
#[derive(Subcommand)]
pub enum Verb {
    /// Check types, ranges, and who learns what
    Check(CheckArgs),
    /// State protocol, steps, bytes and rounds before anything runs
    Plan(PlanArgs),
    /// Run all parties in this process, on all inputs
    Simulate(SimulateArgs),
    /// Run as one party with the others over the network, or all of them here with --local
    Run(RunArgs),
    /// Open the page that a run has left, or list runs
    Report(ReportArgs),
    /// Make a key and a configuration for this party, and print its card, for the others to paste
    Init(InitArgs),
    /// Print the card of this party again
    Card(CardArgs),
    /// Add another party by its card, list the parties, remove one
    Peer(PeerArgs),
    /// Show CPU tier and versions, and whether every peer answers, with the right key and version
    Doctor(DoctorArgs),
    /// Make oblivious transfers ahead with another party, for runs with --pool; show or remove them
    Pool(PoolArgs),
    /// Explain the code of an error or warning, or list all codes
    Explain(ExplainArgs),
    /// Prepare a table for private set intersection, and read what was found in common
    Psi(PsiArgs),
    /// Make one file of a file or folder that only a key file or a passphrase opens
    Seal(SealArgs),
    /// Open what `sealane seal` has made, if nobody has changed it
    Open(OpenArgs),
    /// Make a key file for `sealane seal` and `sealane open`
    Keygen(KeygenArgs),
    /// Look at and evaluate Boolean circuits in the Bristol formats
    Circuit(CircuitArgs),
}

/// Names on the command line, with commas between them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Names(pub Vec<String>);

/// The job: a program, and how it is run.
#[derive(Args)]
pub struct JobArgs {
    /// `FILE.py`, `FILE.py:FUNCTION`, or a program in its text form, `FILE.sealane`
    pub program: String,
    /// The declared network: lan (0.5ms/1Gbps), wan (40ms/100Mbps), or the round trip and bandwidth
    /// of yours, each rounded to one digit, as in 20ms/100Mbps [default: lan]
    #[arg(long)]
    pub network: Option<NetworkClass>,
    /// How the parties compute [default: yao; where --security malicious is asked, auth of two and
    /// trio of three]
    #[arg(long, value_parser = protocols())]
    pub protocol: Option<ProtocolChoice>,
    /// Corrupt parties that the protocol has to withstand; a weaker one is refused
    /// [default: semi-honest]
    #[arg(long, value_parser = securities())]
    pub security: Option<Adversary>,
    /// Without cryptography, as the reference: the same as --protocol clear
    #[arg(long, conflicts_with = "protocol")]
    pub clear: bool,
    /// Parties beside those of the program, in order: they own nothing and learn nothing, but may
    /// compute, as in `ada,bob,cyd`
    #[arg(long, value_name = "NAMES", value_parser = names)]
    pub helpers: Option<Names>,
}

impl JobArgs {
    /// The protocol, if the command names one.
    pub fn protocol(&self) -> Option<ProtocolChoice> {
        if self.clear {
            Some(ProtocolChoice::Named(ProtocolName::Clear))
        } else {
            self.protocol
        }
    }

    /// The helpers, if the command names them or says that there are none.
    pub fn helpers(&self) -> Option<&[String]> {
        self.helpers.as_ref().map(|Names(names)| names.as_slice())
    }
}

/// Parser of a protocol by its name, with the corruption that it withstands in the help.
fn protocols() -> impl TypedValueParser<Value = ProtocolChoice> {
    let value = |protocol: ProtocolName| {
        let profile = protocol.profile();
        let mut roles = profile
            .roles
            .iter()
            .map(|role| role.name)
            .collect::<Vec<_>>();
        if roles.is_empty() {
            roles.push("all parties alike");
        }
        let who = roles.join(" and ");
        let withstands = match profile.corruption {
            Corruption::None => "hides nothing: the reference".to_string(),
            Corruption::SemiHonest(most) => format!("withstands {most} semi-honest"),
            Corruption::Malicious(most) => format!("withstands {most} malicious"),
        };
        PossibleValue::new(profile.name).help(format!("{who}; {withstands}"))
    };
    let auto = PossibleValue::new(ProtocolChoice::AUTO);
    let auto = auto.help(
        "the fastest that withstands what is asked, at the upper bounds on the declared network",
    );
    let values = ProtocolName::ALL.into_iter().map(value).chain([auto]);
    PossibleValuesParser::new(values).try_map(|name| name.parse::<ProtocolChoice>())
}

/// Parser of what a protocol has to withstand.
fn securities() -> impl TypedValueParser<Value = Adversary> {
    let value = |adversary: Adversary| {
        let help = match adversary {
            Adversary::SemiHonest => "corrupt parties follow the protocol, and study what they see",
            Adversary::Malicious => "corrupt parties may deviate from the protocol in any way",
        };
        PossibleValue::new(adversary.name()).help(help)
    };
    let values = PossibleValuesParser::new(Adversary::ALL.map(value));
    values.try_map(|name| name.parse::<Adversary>())
}

/// Parses names such as `ada,bob,cyd`; an empty text is an empty list.
fn names(text: &str) -> Result<Names, std::convert::Infallible> {
    let listed = (!text.trim().is_empty()).then(|| text.split(','));
    let names = listed.into_iter().flatten();
    Ok(Names(names.map(|name| name.trim().to_string()).collect()))
}

/// Parses a time to wait within the bounds of the configuration.
fn patience(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok();
    let patience = seconds.and_then(|seconds| sealane_host::config::patience(seconds).ok());
    patience.ok_or_else(|| "write seconds, from 0.1 to those of a day, such as 3600".into())
}

fn rows(text: &str) -> Result<(String, u64), String> {
    let read = text.split_once('=').and_then(|(name, count)| {
        let count = count.trim().replace('_', "").parse().ok()?;
        Some((name.trim().to_string(), count))
    });
    read.ok_or_else(|| "write NAME=COUNT, such as patients=569; of several, a=100,b=1000".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// The comment on a type of arguments is for readers of the code, and stays out of the help.
    #[test]
    fn the_help_of_a_verb_is_the_text_of_its_variant() {
        for verb in Cli::command().get_subcommands() {
            let texts = [verb.get_about(), verb.get_long_about()];
            for text in texts.into_iter().flatten().map(ToString::to_string) {
                assert!(!text.starts_with("Arguments of"), "{text}");
                assert!(!text.starts_with("Verbs of"), "{text}");
            }
        }
    }

    fn job(options: &[&str]) -> Result<JobArgs, clap::Error> {
        let command = ["sealane", "plan", "p.py"].iter().chain(options);
        match Cli::try_parse_from(command)?.verb {
            Verb::Plan(plan) => Ok(plan.job),
            _ => panic!("this is `sealane plan`"),
        }
    }

    #[test]
    fn every_protocol_can_be_named_and_no_other() {
        for protocol in ProtocolName::ALL {
            let named = job(&["--protocol", &protocol.to_string()]);
            let want = Some(ProtocolChoice::Named(protocol));
            assert_eq!(named.unwrap().protocol(), want);
        }
        assert_eq!(job(&[]).unwrap().protocol(), None);
        let clear = job(&["--clear"]).unwrap().protocol();
        assert_eq!(clear, Some(ProtocolChoice::Named(ProtocolName::Clear)));
        let auto = job(&["--protocol", "auto"]).unwrap().protocol();
        assert_eq!(auto, Some(ProtocolChoice::Auto));
        assert!(job(&["--clear", "--protocol", "clear"]).is_err());
        let error = job(&["--protocol", "yoa"]).err().unwrap().to_string();
        let (before, listed) = error.split_once("possible values:").unwrap();
        assert!(before.contains("'yoa'"), "{error}");
        let known = ProtocolName::ALL.map(|protocol| protocol.to_string());
        assert!(known.iter().all(|name| listed.contains(name)), "{error}");
    }

    #[test]
    fn security_is_semi_honest_or_malicious() {
        for (name, adversary) in [
            ("semi-honest", Adversary::SemiHonest),
            ("malicious", Adversary::Malicious),
        ] {
            let asked = job(&["--security", name]).unwrap().security;
            assert_eq!(asked, Some(adversary));
        }
        assert_eq!(job(&[]).unwrap().security, None);
        assert!(job(&["--compare", "--security", "malicious"]).is_ok());
        let error = job(&["--security", "high"]).err().unwrap().to_string();
        assert!(error.contains("semi-honest, malicious"), "{error}");
    }

    #[test]
    fn helpers_are_named_in_order() {
        let helpers = |text| job(&["--helpers", text]).unwrap().helpers.unwrap().0;
        assert_eq!(helpers("ada,bob, cyd"), ["ada", "bob", "cyd"]);
        assert_eq!(helpers("ada,,cyd"), ["ada", "", "cyd"]);
        assert!(helpers("").is_empty());
        assert_eq!(job(&[]).unwrap().helpers(), None);
    }

    #[test]
    fn rows_are_read() {
        let read = ("patients".to_string(), 10_000);
        assert_eq!(rows("patients=10_000"), Ok(read));
        assert!(rows("patients").is_err() && rows("patients=many").is_err());
    }
}
