//! The profile of `trio` against one malicious party, with a role or without, together with any
//! parties without a role.
//!
//! Messages are those of `trio` for inputs, ANDs, products in GF(4) and GF(16) and lookups as
//! towers under masks. Before anything is opened, each role proves all its messages to both others
//! (crate `proof`; `settle`), and each component of a result comes from one of its two holders and
//! a digest of it from the other one (`open`). Integers are bits, or live modulo the prime
//! `2^61 - 1` (`integers`): planning makes everything else of these.
//!
//! Only sorts (`sort`) open something in between, which is proved right before that: a pass counts
//! places of rows (`places`), shuffles both (`turns`) and settles among the roles.
//!
//! `operations` lists what runs, and why it is safe, and what is refused; `steps` runs it.

mod adder;
mod cost;
mod crossed;
mod integers;
mod open;
mod operations;
mod places;
mod settle;
mod sort;
mod steps;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod turns;

pub use steps::GuardedPending;

use crate::keys::{self, KeyMaker, Keys};
use crate::masked::{Layouts, Recycled};
use crate::record::{Counts, KINDS, Record, Spare, SumCounts, Sums};
use crate::role_index::RoleIndex;
use crate::roles::Computing;
use crate::{ROLES, Trio};
use blake3::Hasher;
use sealane_block::Erased;
use sealane_circuit::{Lookups, Tape};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{Fault, Form, NoOffline, Party, Planes, Result, Start};
use sealane_proof::Memory;
use sealane_protocol::{
    Algebra, CheckKind, Checks, Choice, Corruption, Cost, Demand, Domain, DomainProfile, Profile,
    Protocol, SecurityLevel, Setting, StepShape, Threshold,
};
use settle::Settled;
use std::collections::BTreeMap;
use zeroize::Zeroizing;

/// Statements of a segment by kind, in the order of [`KINDS`], for a few MiB of each. Tests have
/// several segments.
const SEGMENT: Counts = if cfg!(test) {
    [1 << 13; KINDS.len()]
} else {
    [1 << 22, 1 << 22, 1 << 22, 1 << 20]
};

/// Statements of a step below which its strings give up what is behind their end.
const SMALL: usize = 1 << 14;

/// Statements of steps: about bits by kind, and about integers modulo a prime.
#[derive(Clone, Default, PartialEq)]
struct Due {
    bits: Counts,
    sums: SumCounts,
}

impl Due {
    /// Statements about bits.
    fn of_bits(bits: Counts) -> Due {
        let sums = SumCounts::default();
        Due { bits, sums }
    }

    fn is_empty(&self) -> bool {
        self.bits == Counts::default() && self.sums.is_empty()
    }

    fn add(&mut self, more: &Due) {
        add(&mut self.bits, &more.bits);
        self.sums.add(&more.sums);
    }

    fn subtract(&mut self, less: &Due) {
        let bits = self.bits.iter_mut().zip(less.bits);
        bits.for_each(|(left, count)| *left -= count);
        self.sums.subtract(&less.sums);
    }

    /// The same as checks.
    fn checks(&self) -> Checks {
        let mut checks = self.sums.checks();
        for (kind, count) in KINDS.iter().zip(self.bits) {
            let field = match kind.field.degree() {
                1 => Algebra::Z2,
                k => Algebra::Gf2k(k as u8),
            };
            let terms = kind.terms as u32;
            checks.add(&Checks::of(CheckKind { field, terms }, count as u64), 1);
        }
        checks
    }

    /// The statements of these checks.
    fn among(all: &Checks) -> Due {
        let one = |kind| Due::of_bits(std::array::from_fn(|other| usize::from(kind == other)));
        let count = |kind| {
            let of = one(kind).checks();
            let count = of.0.keys().filter_map(|kind| all.0.get(kind)).sum::<u64>();
            count as usize
        };
        Due {
            bits: std::array::from_fn(count),
            sums: SumCounts::among(all),
        }
    }
}

fn add(counts: &mut Counts, more: &Counts) {
    counts
        .iter_mut()
        .zip(more)
        .for_each(|(sum, more)| *sum += more);
}

/// The protocol, as plans see it.
pub enum Guarded {}

/// One party of a run.
pub struct GuardedParty {
    setting: Setting,
    me: PartyId,
    place: Membership,
    guard: Guard,
}

enum Membership {
    Role(Erased<Computing>),
    Outside(Option<Erased<[keys::Key; 2]>>),
}

/// State of proofs and openings: what has to be settled before an opening, and their numbers.
struct Guard {
    /// Running digests of the components of inputs of each party without a role: of those that the
    /// role before has too, and of those that the next one has.
    held: BTreeMap<PartyId, [Zeroizing<Hasher>; 2]>,
    /// Segments so far. No two proofs have one number.
    segments: u64,
    /// Openings so far.
    openings: u64,
    /// Openings of places so far, which parties without a role do not count.
    sorted: u64,
    /// Steps that have ended so far.
    steps: u64,
    /// Statements of these steps that no settlement has proved.
    open: Due,
    /// The settlement that began last, of those that have ended well.
    settled: Option<Settled>,
    memory: Memory,
}

impl Guard {
    fn inputs(&self) -> Vec<(PartyId, [[u8; 32]; 2])> {
        let digest = |held: &Zeroizing<Hasher>| *held.finalize().as_bytes();
        let held = self.held.iter();
        held.map(|(owner, held)| (*owner, held.each_ref().map(digest)))
            .collect()
    }

    /// Adds both components of an input.
    fn hold(&mut self, owner: PartyId, form: Form, parts: &[Planes<u64>; 2]) {
        let held = self.held.get_mut(&owner).into_iter().flatten();
        for (held, part) in held.zip(parts) {
            form.pack(part.data(), |bytes| {
                held.update(bytes);
            });
        }
    }

    /// Keeps the settlement that began last: one without products ends before one with proofs that
    /// began earlier.
    fn settle(&mut self, settled: Settled) {
        let before = self.settled.as_ref().map_or(0, Settled::steps);
        if settled.steps() >= before {
            self.settled = Some(settled);
        }
    }

    /// The last settlement, if it covers all that has been computed.
    fn covered(&self) -> Result<&Settled> {
        let covers = |settled: &&Settled| settled.steps() == self.steps && self.open.is_empty();
        let settled = self.settled.as_ref().filter(covers);
        settled.ok_or_else(|| Fault::internal("an opening of what nobody has proved"))
    }
}

/// Parties without a role, in order.
fn outsiders(setting: &Setting) -> impl Iterator<Item = PartyId> {
    setting
        .everyone()
        .filter(|party| setting.role_of(*party).is_none())
}

/// Statements of a step that have to be proved, and at a party with a role the record of them.
pub struct Unproved {
    due: Due,
    record: Recorded,
}

/// The records of a step, at a party with a role.
#[derive(Default)]
struct Recorded {
    bits: Option<Box<Record>>,
    sums: Option<Box<Sums>>,
}

impl Protocol for Guarded {
    fn profile() -> Profile {
        Profile {
            name: "trio-malicious",
            version: 2,
            roles: ROLES,
            arithmetic: true,
            settles: true,
            corruption: Corruption::Malicious(Threshold::Exactly(1)),
            assumption: "AES-128 is a pseudorandom function; BLAKE3 is a random oracle; channels \
                         between every two are secure",
            references: crate::references::GUARDED,
            security: SecurityLevel {
                // Proofs about integers; those about bits have 120.
                computational: 116,
                statistical: 0,
            },
            ..Trio::profile()
        }
    }

    fn lookups() -> &'static [Lookups] {
        &[Lookups::Gates, Lookups::Tower]
    }

    fn products() -> &'static [usize] {
        &[2, 4]
    }

    fn sorts() -> Option<u64> {
        Some(sort::MOST_ROWS)
    }

    fn prime() -> bool {
        true
    }

    fn choices() -> &'static [Choice] {
        // With bits alone, and with integers where they suit.
        &[Choice::Gates(0), Choice::LEAST]
    }

    fn proof_bits(_: &Setting, work: &StepShape) -> u64 {
        cost::proof_bits(work)
    }

    fn domain(algebra: Algebra) -> Domain {
        Trio::domain(algebra)
    }

    fn domain_profile(domain: Domain, parties: usize) -> DomainProfile {
        Trio::domain_profile(domain, parties)
    }

    fn cost(setting: &Setting, work: &StepShape) -> Cost {
        cost::cost(setting, work)
    }

    fn demand(setting: &Setting, work: &StepShape) -> Demand {
        Trio::demand(setting, work)
    }

    fn set_up_cost(setting: &Setting, demand: &Demand) -> Cost {
        cost::set_up_cost(setting, demand)
    }

    fn material_bits(_: &Setting, work: &StepShape) -> u64 {
        cost::material_bits(work)
    }

    fn check_bits(_: &Setting, work: &StepShape) -> u64 {
        cost::check_bits(work)
    }

    fn state_bytes(_: &Setting, _: &Demand) -> u64 {
        cost::STATE_BYTES
    }
}

impl Party for GuardedParty {
    type Protocol = Guarded;
    type Offline = NoOffline<()>;

    fn set_up(start: Start<'_>, demand: &Demand, mesh: &mut Mesh) -> Result<GuardedParty> {
        let Start {
            setting,
            me,
            session,
            cpu,
            mut coins,
            ..
        } = start;
        let (setting, coins) = (setting.clone(), &mut coins);
        let guests = keys::guests(&setting, demand)?;
        let maker = KeyMaker { cpu, session };
        let place = match RoleIndex::of(&setting, me) {
            Some(role_index) => Membership::Role(Erased::new(Computing {
                setting: setting.clone(),
                cpu,
                role_index,
                keys: Keys::prepare(role_index, &guests, true, maker, coins, mesh)?,
                layouts: Layouts::default(),
                recycled: Recycled::default(),
                spare: Spare::default(),
            })),
            None => {
                let owns = guests.contains(&me);
                let keys = owns.then(|| keys::prepare_guest(&setting, maker, coins, mesh));
                Membership::Outside(keys.transpose()?.map(Erased::new))
            }
        };
        let mut held = Hasher::new_derive_key("sealane 1 trio inputs");
        held.update(session.as_bytes());
        let guard = Guard {
            held: outsiders(&setting)
                .map(|owner| (owner, [0, 1].map(|_| Zeroizing::new(held.clone()))))
                .collect(),
            segments: 0,
            openings: 0,
            sorted: 0,
            steps: 0,
            open: Due::default(),
            settled: None,
            memory: Memory::default(),
        };
        Ok(GuardedParty {
            setting,
            me,
            place,
            guard,
        })
    }

    fn expect(&mut self, tape: &Tape, lanes: usize) {
        if let Membership::Role(party) = &mut self.place {
            party.expect_masked(tape, lanes);
        }
    }
}
