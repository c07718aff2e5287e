//! Every operation of `trio`, and what this profile makes of it. Parties ask this list before they
//! begin a step, [its page](../../../../docs/protocols/trio-malicious.md) shows it, and a test goes
//! through all of it.

use super::GuardedParty;
use crate::record::Proved;
use crate::role_index;
use sealane_circuit::function::Function;
use sealane_party::{Fault, Result, Step, is_prime};
use sealane_protocol::{Algebra, Domain, Setting};

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    RoleInput,
    OtherInput,
    Local,
    And,
    Settle,
    Open,
    SmallProduct,
    FieldProduct,
    Tower,
    Lookup,
    Sum,
    Product,
    IntegerInput,
    IntegerSum,
    IntegerProduct,
    ToIntegers,
    ToBits,
    Ring,
    Convert,
    Shuffle,
    Sort,
    CompareExchange,
}

/// The rule of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// It runs, for this reason.
    Safe(&'static str),
    /// It does not; planning takes this in its place.
    Refused(&'static str),
}

use Operation::*;
use Rule::{Refused, Safe};

impl Operation {
    /// All of them.
    #[cfg(test)]
    pub(crate) const ALL: [Operation; 22] = [
        RoleInput,
        OtherInput,
        Local,
        And,
        Settle,
        Open,
        SmallProduct,
        FieldProduct,
        Tower,
        Lookup,
        Sum,
        Product,
        IntegerInput,
        IntegerSum,
        ToIntegers,
        IntegerProduct,
        ToBits,
        Ring,
        Convert,
        Shuffle,
        Sort,
        CompareExchange,
    ];

    /// Its name and its rule.
    pub(crate) fn row(self) -> (&'static str, Rule) {
        match self {
            RoleInput => (
                "input of a party that computes",
                Safe("each component has one sender: whatever it sends is its input"),
            ),
            OtherInput => (
                "input of another party",
                Safe("both holders of a component compare digests before any proof about it"),
            ),
            Local => (
                "constant, XOR, movement",
                Safe("local: each party computes on what it has"),
            ),
            And => ("AND", Safe("recorded, and proved by its sender")),
            Settle => ("settlement", Safe("the proofs themselves")),
            Open => (
                "reveal",
                Safe("after a settlement; both holders of a component confirm it"),
            ),
            SmallProduct => (
                "product in GF(4) or GF(16)",
                Safe("recorded, and proved by its sender"),
            ),
            FieldProduct => ("product in another field", Refused("gates")),
            Tower => (
                "lookup as a tower",
                Safe("every deal and every opening is recorded, and proved by its sender"),
            ),
            Lookup => ("lookup in another form", Refused("gates")),
            Sum => ("sum modulo 2^k", Refused("circuits of bits")),
            Product => ("product modulo 2^k", Refused("circuits of bits")),
            IntegerInput => (
                "input of integers modulo 2^61 - 1",
                Refused("inputs of bits"),
            ),
            IntegerSum => (
                "sum modulo 2^61 - 1",
                Safe("local: each party computes on what it has"),
            ),
            IntegerProduct => (
                "inner or matrix product modulo 2^61 - 1",
                Safe("recorded, and proved by its sender"),
            ),
            ToIntegers => (
                "conversion of bits to integers modulo 2^61 - 1",
                Safe("its input and its product are recorded, and proved by their senders"),
            ),
            ToBits => (
                "conversion of integers modulo 2^61 - 1 to bits",
                Safe("a tape: recorded, and proved by its sender"),
            ),
            Ring => ("step on ring elements", Refused("circuits of bits")),
            Convert => ("another conversion", Refused("circuits of bits")),
            Shuffle => ("shuffle by itself", Refused("sorts")),
            Sort => (
                "sort",
                Safe("each pass is recorded, and proved before its places are opened"),
            ),
            CompareExchange => ("exchange in place", Refused("copies of what meets")),
        }
    }

    /// The error that refuses it; none if it runs.
    pub(crate) fn refusal(self) -> Option<Fault> {
        let (name, rule) = self.row();
        match rule {
            Safe(_) => None,
            Refused(instead) => Some(Fault::Internal(format!(
                "`trio-malicious` has no proof of a {name}, and refuses it: plans of this profile \
                 have {instead} in its place"
            ))),
        }
    }

    /// A sum in this domain.
    pub(crate) fn sum(domain: Domain) -> Operation {
        if is_prime(domain) { IntegerSum } else { Sum }
    }

    /// The operations of a step.
    pub(crate) fn of(setting: &Setting, step: &Step<'_, GuardedParty>) -> Vec<Operation> {
        match step {
            Step::Input { domain, .. } if is_prime(*domain) => vec![IntegerInput],
            Step::Input { owner, .. } => match role_index::role(setting, *owner) {
                Some(_) => vec![RoleInput],
                None => vec![OtherInput],
            },
            Step::Tape { tape, .. } => {
                let functions = tape.functions.iter().map(|function| {
                    let proved = Proved::of(function).is_some();
                    match (function, proved) {
                        (Function::Field(_), true) => SmallProduct,
                        (Function::Field(_), false) => FieldProduct,
                        (_, true) => Tower,
                        (_, false) => Lookup,
                    }
                });
                [Local, And].into_iter().chain(functions).collect()
            }
            Step::CompareExchange { .. } => vec![CompareExchange],
            Step::Product { domain, .. } if is_prime(*domain) => vec![IntegerProduct],
            Step::Product { .. } => vec![Product],
            Step::Ring { .. } => vec![Ring],
            Step::Convert { from, to, .. } => {
                let bits = |domain: &Domain| domain.algebra == Algebra::Z2;
                match [is_prime(*from), is_prime(*to)] {
                    [false, true] if bits(from) => vec![ToIntegers],
                    [true, false] if bits(to) => vec![ToBits],
                    _ => vec![Convert],
                }
            }
            Step::Shuffle { .. } => vec![Shuffle],
            Step::Sort { .. } => vec![Sort],
            Step::Settle { .. } => vec![Settle],
            Step::Open { .. } => vec![Open],
        }
    }
}

/// Refuses a step that has an operation without a proof, before any of it is sent.
pub(super) fn allowed(setting: &Setting, step: &Step<'_, GuardedParty>) -> Result<()> {
    let mut refusals = Operation::of(setting, step).into_iter();
    refusals.find_map(Operation::refusal).map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guarded::adder::adder;
    use crate::guarded::tests::functions::sbox;
    use crate::{Guarded, Share};
    use sealane_block::Cpu;
    use sealane_circuit::function::Field;
    use sealane_circuit::{Builder, Lookups, Machine, Tape, Wire, Word, compile};
    use sealane_net::Mesh;
    use sealane_parties::{PartyId, PartySet};
    use sealane_party::{KeyBit, Opened, Outcome, Pairs, Selected, Steps, Term};
    use sealane_protocol::{Demand, Protocol, RingOp, StepShape};
    use sealane_testkit::side::{Given, Side, on_threads, two_ands};
    use std::sync::Arc;

    /// Shares and checks so far.
    struct Made {
        share: Arc<Share>,
        checks: Vec<super::super::Unproved>,
    }

    /// A step with an operation, at the party of a side; none for a sum, which is no step.
    fn step<'a>(
        operation: Operation,
        tapes: &'a [Tape; 5],
        me: PartyId,
        made: &mut Made,
    ) -> Option<Step<'a, GuardedParty>> {
        let all = [Algebra::Z2, Algebra::Z2k(8), Algebra::Fp];
        let [domain, ring, prime] = all.map(Guarded::domain);
        let share = || Arc::clone(&made.share);
        let input = |owner: u8| Step::Input {
            owner: PartyId(owner),
            domain,
            elements: 2,
            bits: 1,
            values: (me == PartyId(owner)).then(|| vec![1, 0].into()),
        };
        let tape = |tape: &'a Tape| Step::Tape {
            tape,
            domain,
            lanes: 2,
            operands: (0..tape.inputs).map(|_| share()).collect(),
        };
        let [usual, small, field, tower, table] = tapes;
        Some(match operation {
            RoleInput => input(0),
            OtherInput => input(3),
            Local | And => tape(usual),
            Settle => Step::Settle {
                checks: std::mem::take(&mut made.checks),
            },
            Open => Step::Open {
                results: vec![Opened {
                    share: share(),
                    domain,
                    to: PartySet::of([PartyId(3), PartyId(1)]),
                }],
            },
            SmallProduct => tape(small),
            FieldProduct => tape(field),
            Tower => tape(tower),
            Lookup => tape(table),
            Sum | IntegerSum => return None,
            IntegerInput => Step::Input {
                owner: PartyId(0),
                domain: prime,
                elements: 2,
                bits: 61,
                values: (me == PartyId(0)).then(|| vec![1, 0].into()),
            },
            ToIntegers => Step::Convert {
                from: domain,
                to: prime,
                bits: 1,
                signed: false,
                share: share(),
            },
            IntegerProduct => Step::Product {
                domain: prime,
                left: Selected::whole(share()),
                right: Selected::whole(share()),
            },
            ToBits => Step::Convert {
                from: prime,
                to: domain,
                bits: 1,
                signed: false,
                share: share(),
            },
            Product => Step::Product {
                domain: ring,
                left: Selected::whole(share()),
                right: Selected::whole(share()),
            },
            Ring => Step::Ring {
                op: RingOp::Floor { by: 1 },
                domain: ring,
                bits: 8,
                signed: false,
                bit: None,
                share: share(),
            },
            Convert => Step::Convert {
                from: domain,
                to: ring,
                bits: 1,
                signed: false,
                share: share(),
            },
            Shuffle => Step::Shuffle {
                domain,
                share: share(),
            },
            Sort => Step::Sort {
                domain,
                share: share(),
                key: vec![KeyBit {
                    plane: 0,
                    inverted: false,
                }],
            },
            CompareExchange => Step::CompareExchange {
                tape: usual,
                domain,
                pairs: Pairs {
                    columns: vec![],
                    places: [vec![0], vec![1]],
                    writes: [true, true],
                    captured: vec![],
                },
            },
        })
    }

    /// Operations that run are proved before anything of them is opened, and those that are refused
    /// are named before a byte of them is sent: at parties with a role and without.
    #[test]
    fn every_operation_is_proved_or_refused_by_its_name() {
        let with = |function| {
            let mut b = Builder::new();
            let wire = b.input(1)[0];
            let mut tape = compile(&b.finish(vec![vec![wire]]), &Machine::ROUNDS);
            tape.functions.push(function);
            tape
        };
        let field = |polynomial| Field::of(polynomial).expect("a field");
        let of = |builder: Builder, build: &dyn Fn(&mut Builder, &[Wire]) -> Word| {
            let mut b = builder;
            let wires = b.input(8);
            let out = build(&mut b, &wires);
            compile(&b.finish(vec![out]), &Machine::ROUNDS)
        };
        let small = Builder::new().with_products(Guarded::products());
        let tower = Builder::new().with_lookups(Lookups::Tower);
        let tapes = &[
            two_ands(),
            of(small, &|b, wires| {
                b.field_product(&field(0x13), &wires[..4], &wires[4..])
            }),
            with(Function::Field(field(0x11b))),
            of(tower, &|b, wires| sbox(b, wires)),
            with(Function::Quotients),
        ];
        let setting = &Setting::in_order(&Guarded::profile(), 4);
        let domain = Guarded::domain(Algebra::Z2);
        let mut demand = Demand::default();
        let input = StepShape::input(PartyId(3), domain, 2, 1);
        demand.merge(&Guarded::demand(setting, &input), 1);
        on_threads(Mesh::in_memory(4), |mesh| {
            let me = mesh.me();
            let given = Given::seeded(Cpu::detect().expect("a tier"), 1 + u64::from(me.0));
            let side = Side::<GuardedParty>::set_up(mesh, setting, &demand, given);
            let side = &mut side.expect("a party");
            let mut made = Made {
                share: side.input(PartyId(1), domain, 1, &[0, 1]).expect("a share"),
                checks: vec![],
            };
            for operation in Operation::ALL {
                let (name, rule) = operation.row();
                let next = step(operation, tapes, me, &mut made);
                if let Some(step) = &next {
                    assert!(Operation::of(setting, step).contains(&operation), "{name}");
                }
                let sent = |side: &Side<GuardedParty>| {
                    let peers = side.mesh.peers().map(|peer| side.mesh.payload_sent(peer));
                    peers.sum::<u64>()
                };
                let before = sent(side);
                let ended = match next {
                    Some(step) => side.run(step),
                    None => {
                        let none: &[Term<'_, Share>] = &[];
                        let algebras = [Algebra::Z2k(8), Algebra::Fp].map(Guarded::domain);
                        let domain = algebras[usize::from(operation == IntegerSum)];
                        let sum = side.party.linear(domain, 2, none);
                        sum.map(|share| Outcome::Share(share, vec![], ()))
                    }
                };
                match (rule, ended) {
                    (Refused(instead), Err(Fault::Internal(what))) => {
                        assert!(what.contains(&format!("no proof of a {name}")), "{what}");
                        assert!(what.contains(instead), "{what}");
                        assert_eq!(sent(side), before, "{name}");
                    }
                    (Safe(_), Ok(Outcome::Share(share, checks, ()))) => {
                        // Nothing of it is opened before it is settled.
                        let to = PartySet::of(setting.everyone());
                        let share = Arc::new(share);
                        let integers = [IntegerSum, ToIntegers, IntegerProduct];
                        let algebra = if integers.contains(&operation) {
                            Algebra::Fp
                        } else {
                            Algebra::Z2
                        };
                        let result = vec![Opened {
                            share: Arc::clone(&share),
                            domain: Guarded::domain(algebra),
                            to,
                        }];
                        if me.index() < 3 {
                            let early = side.party.begin(
                                Step::Open { results: result },
                                None,
                                &mut side.mesh,
                            );
                            assert!(matches!(early, Err(Fault::Internal(_))), "{name}");
                        }
                        let count = GuardedParty::count(&checks).total();
                        // On two lanes: of two ANDs, of a product, of three products with the three
                        // deals and the opening of an inverse.
                        let want = match operation {
                            And | Local => 4,
                            SmallProduct => 2,
                            Tower => 2 * (3 + 3 + 1),
                            ToIntegers | IntegerProduct => 2,
                            ToBits => 2 * adder(1).ands.len() as u64,
                            _ => 0,
                        };
                        let of_tape = matches!(operation, And | Local | SmallProduct | Tower);
                        assert_eq!(count, want, "{name}");
                        made.checks.extend(checks);
                        if !of_tape && operation != IntegerSum {
                            made.share = share;
                        }
                    }
                    (Safe(_), Ok(Outcome::Settled(()) | Outcome::Opened(..))) => {
                        assert!(matches!(operation, Settle | Open), "{name}");
                    }
                    (_, ended) => panic!("{name}: {:?}", ended.err()),
                }
            }
            side.mesh.finish().expect("an end");
        });
    }

    #[test]
    fn the_page_has_every_operation() {
        let page = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/protocols/trio-malicious.md"
        );
        let page = std::fs::read_to_string(page).expect("the page");
        let rows = Operation::ALL.map(|operation| match operation.row() {
            (name, Safe(why)) => format!("| {name} | {why} |\n"),
            (name, Refused(instead)) => {
                format!("| {name} | refused: {instead} in its place |\n")
            }
        });
        let table = rows.concat();
        assert!(page.contains(&table), "the page has no\n{table}");
    }
}
