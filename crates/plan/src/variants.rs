//! Plans that differ from another in the domains of single steps.
//!
//! A protocol that runs tapes in several domains has one of them chosen for each unit of work. Here
//! others can be asked for, to say what the choice was worth.

use crate::draft::{self, UnitWork};
use crate::drafts::Units;
use crate::pipeline::{Drafted, Made};
use crate::setting::Roster;
use crate::steps::Plan;
use sealane_diagnostic::Diagnostic;
use sealane_parties::NetworkClass;
use sealane_program::graph::Program;
use sealane_protocol::{Domain, Protocol};

/// A unit of work of a plan: what becomes one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// Its number.
    pub number: usize,
    /// Its operations, in order of the program.
    pub operations: Vec<String>,
    /// Lines of the source in which they stand.
    pub lines: Vec<u32>,
    /// True if the program asks for its sharing.
    pub pinned: bool,
    /// The domain in which it runs.
    pub domain: Domain,
    /// The domains in which it could run, by their numbers; none if there is no choice.
    pub domains: Vec<Domain>,
}

/// A plan whose units can be moved to other domains.
pub struct Variants<'a> {
    pub(crate) drafted: Drafted,
    pub(crate) made: Made,
    pub(crate) plan: &'a Plan,
    pub(crate) most_rows: u64,
}

impl<'a> Variants<'a> {
    /// Drafts the program of `plan` again, which was planned with the same arguments
    /// ([`plan_with_roster`](crate::plan_with_roster)); `plan` is one of its forms.
    ///
    /// # Errors
    /// The errors of [`plan()`](crate::plan()).
    pub fn new<P: Protocol>(
        program: &Program,
        roster: Roster,
        network: NetworkClass,
        most_rows: u64,
        plan: &'a Plan,
    ) -> Result<Variants<'a>, Diagnostic> {
        let drafted = Drafted::new::<P>(program, roster, network)?;
        Ok(Variants {
            most_rows: most_rows.min(drafted.bound::<P>(plan)),
            made: Made::default(),
            drafted,
            plan,
        })
    }

    /// All units but those that make inputs and constants.
    pub fn units<P: Protocol>(&self) -> Vec<Unit> {
        let domains = P::tape_domains();
        let Units { draft, pinned } = self.drafted.units(self.plan.lookups, self.plan.choice);
        let units = draft.units.iter().zip(&self.plan.taken);
        let computes = |of: &(usize, (&draft::Unit, &Option<u8>))| {
            let UnitWork::Step(op) = &of.1.0.work else {
                return true;
            };
            !op.reads().is_empty()
        };
        let unit = |(number, (unit, taken)): (usize, (&draft::Unit, &Option<u8>))| Unit {
            number,
            operations: unit.ops.clone(),
            lines: unit.lines.clone(),
            pinned: unit.pin.is_some(),
            domain: match taken {
                Some(taken) => domains[usize::from(*taken)],
                None => P::domain(draft.algebra(unit)),
            },
            domains: match (taken, pinned[number]) {
                (Some(_), None) => domains.clone(),
                _ => vec![],
            },
        };
        units.enumerate().filter(computes).map(unit).collect()
    }

    /// The plan in which units, given by their numbers, take other domains, given by theirs; all
    /// else is chosen as in the plan itself.
    ///
    /// # Errors
    /// The errors of [`plan()`](crate::plan()).
    pub fn with<P: Protocol>(&mut self, changes: &[(usize, u8)]) -> Result<Plan, Diagnostic> {
        let mut taken = self.plan.taken.clone();
        for (unit, domain) in changes {
            taken[*unit] = taken[*unit].map(|_| *domain);
        }
        let (choice, made) = ((self.plan.choice, &taken[..]), &mut self.made);
        self.drafted
            .varied::<P>(self.plan, self.most_rows, choice, made)
    }
}
