//! Check of a program against every protocol, beyond the soundness of its graph.
//!
//! A sound graph may still have no plan, or none under some protocols. So the check plans the
//! program under every protocol that keeps secrets, with the fewest helpers that it needs, and
//! reports the outcome. Planning refuses only for reasons of program and protocol, never because of
//! the network class or the names of helpers. A plan is checked at the bounds of the row
//! counts, a program that has a plan runs with any row counts that it allows.

use crate::job::{Job, ProtocolName};
use sealane_diagnostic::{Code, Diagnostic};
use sealane_parties::NetworkClass;
use sealane_plan::fewest_helpers;
use sealane_program::graph::Program;
use sealane_protocol::Corruption;

/// Result of planning a program under every protocol that keeps secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// The protocols that run it, in the order of [`ProtocolName::ALL`].
    pub runnables: Vec<Runnable>,
    /// Warnings of those that cannot.
    pub warnings: Vec<Diagnostic>,
}

/// A protocol that runs a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Runnable {
    /// The protocol.
    pub protocol: ProtocolName,
    /// The fewest helpers that it needs.
    pub helpers: usize,
}

/// Plans a sound program under every protocol, and warns of those that cannot run it. This is
/// `check` of the command and of Python, after the warnings from loading the program.
///
/// # Errors
/// No protocol runs it: returns the refusal of the first one that computes with so many parties.
pub fn check(program: &Program) -> Result<Checked, Diagnostic> {
    let tried = ProtocolName::ALL.into_iter().filter(is_secret);
    let tried = tried.filter_map(|protocol| Attempt::new(program, protocol));
    let tried = tried.collect::<Vec<_>>();
    let run = tried.iter().filter(|attempt| attempt.refusal.is_none());
    let runnable = |attempt: &Attempt| Runnable {
        protocol: attempt.protocol,
        helpers: attempt.helpers.len(),
    };
    Ok(Checked {
        runnables: run.map(runnable).collect(),
        warnings: verdict(program, &tried)?,
    })
}

/// Outcome of planning under a protocol that computes with as many parties as the program has.
struct Attempt {
    protocol: ProtocolName,
    helpers: Vec<String>,
    refusal: Option<Diagnostic>,
}

impl Attempt {
    fn new(program: &Program, protocol: ProtocolName) -> Option<Attempt> {
        let helpers = fewest_helpers(&protocol.profile(), program)?;
        let (class, names) = (NetworkClass::LAN, helpers.clone());
        let job = Job::new(program.clone(), protocol, class, names);
        Some(Attempt {
            protocol,
            helpers,
            refusal: job.err().map(|error| error.finding().clone()),
        })
    }

    /// Returns the command-line options that select this protocol and these helpers.
    fn options(&self) -> String {
        options(self.protocol, &self.helpers)
    }
}

/// Formats the command-line options for a protocol with these helpers.
pub(crate) fn options(protocol: ProtocolName, helpers: &[String]) -> String {
    match helpers {
        [] => format!("`--protocol {protocol}`"),
        _ => format!("`--protocol {protocol} --helpers {}`", helpers.join(",")),
    }
}

/// Tells if a protocol keeps anything secret.
pub(crate) fn is_secret(protocol: &ProtocolName) -> bool {
    protocol.profile().corruption != Corruption::None
}

fn verdict(program: &Program, tried: &[Attempt]) -> Result<Vec<Diagnostic>, Diagnostic> {
    let (run, refused): (Vec<_>, Vec<_>) = tried.iter().partition(|a| a.refusal.is_none());
    if run.is_empty() {
        let first = refused.into_iter().find_map(|a| a.refusal.clone());
        // One protocol computes with any number of parties, so there is a refusal.
        return first.map_or(Ok(Vec::new()), Err);
    }
    let runnables = run
        .iter()
        .map(|runnable| runnable.options())
        .collect::<Vec<_>>();
    let hint = format!("plan and run it with {}", runnables.join(" or "));
    let fits = |a: &Attempt| a.protocol == ProtocolName::DEFAULT && a.helpers.is_empty();
    let mut warnings = Vec::new();
    if !tried.iter().any(fits) {
        let usual = ProtocolName::DEFAULT.profile();
        let (parties, names) = (program.parties.len(), program.parties.join(", "));
        let reason = format!(
            "it computes with {} parties, and the program names {parties} ({names})",
            usual.roles.len()
        );
        let mut warning = cannot(&[ProtocolName::DEFAULT]);
        if tried.iter().any(|a| a.protocol == ProtocolName::DEFAULT) {
            warning.message += " without helpers";
        }
        warnings.push(warning.because(reason).hint(&hint));
    }
    // Protocols that refuse for the same reason share a warning.
    for (at, attempt) in refused.iter().enumerate() {
        let same = |other: &&&Attempt| other.refusal == attempt.refusal;
        let Some(refusal) = attempt.refusal.as_ref() else {
            continue;
        };
        if refused[..at].iter().any(|other| same(&other)) {
            continue;
        }
        let names = refused.iter().filter(same).map(|other| other.protocol);
        let reasons = [&refusal.message, &refusal.reason].map(String::as_str);
        let reasons = reasons.into_iter().filter(|reason| !reason.is_empty());
        let warning = cannot(&names.collect::<Vec<_>>()).at(refusal.span.as_ref());
        let warning = warning.because(reasons.collect::<Vec<_>>().join(": "));
        let hints = [hint.as_str(), &refusal.hint];
        let hints = hints.into_iter().filter(|hint| !hint.is_empty());
        warnings.push(warning.hint(hints.collect::<Vec<_>>().join("; or ")));
    }
    Ok(warnings)
}

/// Creates the warning that protocols cannot run a program.
fn cannot(protocols: &[ProtocolName]) -> Diagnostic {
    let named = protocols.iter().map(|protocol| match *protocol {
        ProtocolName::DEFAULT => format!("`{protocol}`, the usual one,"),
        _ => format!("`{protocol}`"),
    });
    let named = named.collect::<Vec<_>>().join(" and ");
    let noun = if protocols.len() == 1 {
        "protocol"
    } else {
        "protocols"
    };
    let message = format!("{noun} {named} cannot run this program");
    Diagnostic::new(Code::OtherProtocol, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_program::text::parse;

    const PROGRAM: &str = "sealane program 1\nname p\nparty a\nparty b\ninput x : a u8 in 0..255\n\
        main {\n  %0 = param 0 : u8 in 0..255 known a\n}\nreveal r = %0 : u8 to b\n";

    /// Returns the verdict on a program of two parties that these protocols refuse.
    fn refused_by(refused: &[ProtocolName]) -> Result<Vec<Diagnostic>, Diagnostic> {
        let program = parse(PROGRAM, "p").unwrap();
        let refusal = Diagnostic::new(Code::CircuitTooLarge, "it is large").because("a loop");
        let attempt = |protocol: ProtocolName| Attempt {
            protocol,
            helpers: fewest_helpers(&protocol.profile(), &program).unwrap(),
            refusal: refused
                .contains(&protocol)
                .then(|| refusal.clone().hint("write `scan`")),
        };
        let tried = [
            ProtocolName::Yao,
            ProtocolName::YaoThreeHalves,
            ProtocolName::Trio,
        ];
        verdict(&program, &tried.map(attempt))
    }

    #[test]
    fn protocols_that_refuse_are_named_with_their_reason_and_with_those_that_run() {
        let yao = [ProtocolName::Yao, ProtocolName::YaoThreeHalves];
        let [warning] = &refused_by(&yao).unwrap()[..] else {
            panic!("one reason, one warning");
        };
        assert_eq!(
            warning.render_with_source(),
            "warning[other-protocol]: protocols `yao`, the usual one, and `yao-three-halves` cannot \
             run this program\nreason: it is large: a loop\nhint: plan and run it with `--protocol \
             trio --helpers ada`; or write `scan`"
        );
        let [warning] = &refused_by(&[ProtocolName::Trio]).unwrap()[..] else {
            panic!("one reason, one warning");
        };
        assert_eq!(warning.message, "protocol `trio` cannot run this program");
        let runnables =
            "plan and run it with `--protocol yao` or `--protocol yao-three-halves`; or";
        assert!(warning.hint.starts_with(runnables), "{}", warning.hint);
    }

    #[test]
    fn what_all_run_is_passed_over_and_what_none_runs_is_refused() {
        assert_eq!(refused_by(&[]), Ok(vec![]));
        let refusal = refused_by(&ProtocolName::ALL).unwrap_err();
        assert_eq!(
            (refusal.code, &*refusal.hint),
            (Code::CircuitTooLarge, "write `scan`")
        );
    }
}
