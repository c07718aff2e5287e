//! All protocols that keep secrets side by side, for one program.

use crate::asked::{Asked, withstands};
use crate::check::is_secret;
use crate::error::EngineError;
use crate::job::{Job, ProtocolName};
use sealane_diagnostic::{Code, Diagnostic};
use sealane_parties::NetworkClass;
use sealane_plan::{CostReport, fewest_helpers, suits};
use sealane_program::graph::Program;
use sealane_protocol::Adversary;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// Terms of a job beside its program and its protocol, on which its parties agree.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// The declared network.
    pub network: NetworkClass,
    /// Helpers, in their order.
    pub helpers: &'a [String],
    /// Security that is asked for, if anybody asks.
    pub asked: Option<&'a Asked>,
    /// True if runs take their oblivious transfers from the pool of the two parties.
    pub pooled: bool,
}

impl Terms<'_> {
    /// The terms of a network alone.
    pub fn on(network: NetworkClass) -> Terms<'static> {
        Terms {
            network,
            helpers: &[],
            asked: None,
            pooled: false,
        }
    }

    /// Checks that some protocol can take from a pool on these terms, if that is asked.
    ///
    /// # Errors
    /// None can, whatever it is: with the words that stand against a pool.
    fn allow_pool(&self, program: &Program) -> Result<(), EngineError> {
        let parties = program.parties.len() + self.helpers.len();
        let fits = |of: &ProtocolName| of.profile().pools && withstands(*of, self.asked).is_ok();
        let (what, hint) = if !self.pooled {
            return Ok(());
        } else if parties != 2 {
            let (what, hint) = ("parties cannot use a pool", "leave `--pool` out");
            let helpers = match self.helpers {
                [] => "",
                _ => ", or the helpers: a pool is between the two owners of inputs",
            };
            (format!("{parties} {what}"), format!("{hint}{helpers}"))
        } else if !ProtocolName::ALL.iter().any(fits) {
            let what = "no protocol that withstands `malicious` takes from a pool";
            let hint = "leave `--pool` out, or ask for `semi-honest`";
            (what.to_string(), hint.to_string())
        } else {
            return Ok(());
        };
        let finding = Diagnostic::new(Code::NoPool, what)
            .because("A pool holds oblivious transfers between two parties that follow a protocol.")
            .hint(hint);
        Err(EngineError::from(finding))
    }

    /// The protocol of a job for which nobody names any.
    fn usual(&self, program: &Program) -> ProtocolName {
        let withstands = |of: &ProtocolName| withstands(*of, self.asked).is_ok();
        let fits = |of: &ProtocolName| suits(&of.profile(), program, self.helpers.len());
        if withstands(&ProtocolName::DEFAULT) {
            return ProtocolName::DEFAULT;
        }
        let strong = || ProtocolName::ALL.into_iter().filter(withstands);
        // Where none fits, the refusal of the first says which parties it takes.
        let chosen = strong().find(fits).or_else(|| strong().next());
        chosen.unwrap_or(ProtocolName::DEFAULT)
    }

    fn job(self, program: Program, protocol: ProtocolName) -> Result<Job, EngineError> {
        withstands(protocol, self.asked)?;
        let job = Job::new(program, protocol, self.network, self.helpers.to_vec())?;
        if self.pooled {
            return job.from_pool();
        }
        Ok(job)
    }
}

/// A protocol with what a run of a program takes in it.
pub struct Compared {
    /// The protocol.
    pub protocol: ProtocolName,
    /// Its helpers: those that were named, or the fewest that it needs.
    pub helpers: Vec<String>,
    /// The job with its cost, or why there is none.
    pub outcome: Result<(Job, CostReport), Diagnostic>,
}

/// The protocol of a job: one by its name, the one of the least estimated time, or the usual one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProtocolChoice {
    /// The one of a job for which nobody names any: [`ProtocolName::DEFAULT`] if that withstands
    /// what is asked, else the first that does and computes with its parties.
    Usual,
    /// This one.
    Named(ProtocolName),
    /// The fastest of those that withstand what is asked, take from a pool if that is asked, and
    /// need no other helpers than those of the job, on its declared network and at the upper bounds
    /// of the numbers of rows. All parties that ask the same choose alike.
    Auto,
}

impl ProtocolChoice {
    /// The name of [`ProtocolChoice::Auto`].
    pub const AUTO: &'static str = "auto";

    /// Makes a job, and says why the protocol is the fastest, if it was chosen so.
    ///
    /// # Errors
    /// As [`Job::new`] and [`Job::from_pool`], or the protocol does not withstand what is asked;
    /// where none runs the program, the refusal of the first one that does, or else of the default.
    pub fn job(
        self,
        program: Program,
        terms: Terms<'_>,
    ) -> Result<(Job, Option<String>), EngineError> {
        let (network, asked) = (terms.network, terms.asked);
        terms.allow_pool(&program)?;
        match self {
            ProtocolChoice::Named(protocol) => {
                return Ok((terms.job(program, protocol.against(asked))?, None));
            }
            ProtocolChoice::Usual => {
                let protocol = terms.usual(&program);
                let why = (protocol != ProtocolName::DEFAULT).then(|| {
                    format!("`{protocol}` withstands what is asked, and no protocol is named")
                });
                return Ok((terms.job(program, protocol)?, why));
            }
            ProtocolChoice::Auto => {}
        }
        let all = compare(&program, terms, None)?;
        let suits = all.into_iter().filter(|of| of.helpers == terms.helpers);
        let planned = suits.filter_map(|of| {
            let (job, cost) = of.outcome.ok()?;
            Some((cost.estimate_s(network), of.protocol, job))
        });
        let mut planned = planned.collect::<Vec<_>>();
        planned.sort_by(|one, other| by_time((one.0, one.1), (other.0, other.1)));
        let time = |(s, protocol, _): &(f64, ProtocolName, Job)| {
            format!("{protocol} in about {}", sealane_plan::time(*s))
        };
        let times = planned.iter().map(time).collect::<Vec<_>>();
        match planned.into_iter().next() {
            None => {
                let usual = terms.usual(&program);
                Ok((terms.job(program, usual)?, None))
            }
            Some((_, protocol, job)) => {
                let times = times.join(", ");
                let adversary = asked.map_or(Adversary::default(), |asked| asked.adversary);
                let pool = if terms.pooled { " from a pool" } else { "" };
                let why = format!(
                    "`auto` is {protocol}, the fastest that withstands `{adversary}`, on {network}\
                     {pool} at the upper bounds: {times}"
                );
                Ok((job, Some(why)))
            }
        }
    }
}

/// Compares protocols by their estimated seconds; what comes first is faster. Of equal ones `gmw`
/// is last: where `mixed` plans the same at the upper bounds, it may compute fewer rows in another
/// way.
pub fn by_time(one: (f64, ProtocolName), other: (f64, ProtocolName)) -> Ordering {
    let is_gmw = |of: ProtocolName| of == ProtocolName::Gmw;
    let order = one.0.total_cmp(&other.0);
    order.then(is_gmw(one.1).cmp(&is_gmw(other.1)))
}

impl fmt::Display for ProtocolChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProtocolChoice::Named(protocol) => protocol.fmt(f),
            ProtocolChoice::Usual => ProtocolName::DEFAULT.fmt(f),
            ProtocolChoice::Auto => f.write_str(ProtocolChoice::AUTO),
        }
    }
}

impl FromStr for ProtocolChoice {
    type Err = EngineError;

    fn from_str(name: &str) -> Result<ProtocolChoice, EngineError> {
        if name == ProtocolChoice::AUTO {
            return Ok(ProtocolChoice::Auto);
        }
        name.parse().map(ProtocolChoice::Named)
    }
}

/// Plans a program under every protocol that keeps secrets and that some number of helpers makes
/// fit its parties, in the order of [`ProtocolName::ALL`]. `rows` are the numbers of rows for which
/// costs are stated, by default the upper bounds. Protocols that do not withstand what is asked, or
/// cannot take from the pool that is asked for, are refused with that reason.
///
/// # Errors
/// No number of helpers lets any protocol run it, or the numbers of rows are not its own.
pub fn compare(
    program: &Program,
    terms: Terms<'_>,
    rows: Option<&[u64]>,
) -> Result<Vec<Compared>, EngineError> {
    terms.allow_pool(program)?;
    let mut all = Vec::new();
    for protocol in ProtocolName::ALL.into_iter().filter(is_secret) {
        let profile = protocol.profile();
        let named = suits(&profile, program, terms.helpers.len()).then(|| terms.helpers.to_vec());
        let Some(helpers) = named.or_else(|| fewest_helpers(&profile, program)) else {
            continue;
        };
        let terms = Terms {
            helpers: &helpers,
            ..terms
        };
        let outcome = match terms.job(program.clone(), protocol) {
            Ok(job) => {
                let bounds = job.bounds();
                let cost = job.cost(rows.unwrap_or(&bounds))?;
                Ok((job, cost))
            }
            Err(error) => Err(error.finding().clone()),
        };
        all.push(Compared {
            protocol,
            helpers,
            outcome,
        });
    }
    Ok(all)
}
