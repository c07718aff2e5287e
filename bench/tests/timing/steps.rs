//! Steps of protocols, timed over all their parties, which take turns on one thread: a tape, a
//! product where there are some, and the settlement.
//!
//! Operands are shares of constants, which a step takes as any other. So in one class of inputs
//! all shares are zero, which no random mask hides from a branch. A step is longer than a kernel,
//! so a difference has to be larger to be seen here; `memcheck` sees any branch.

use sealane_block::{Block, Cpu};
use sealane_circuit::{Builder, Int, Machine, Tape, compile};
use sealane_net::Mesh;
use sealane_party::{Outcome, Party, Progress, Selected, Shares, Step, Steps};
use sealane_protocol::{Algebra, Demand, Domain, LeftOver, Protocol, Setting, StepShape};
use sealane_testkit::side::{Given, Side, on_threads};
use sealane_testkit::timing::TimedWork;
use std::sync::Arc;

use crate::channel::COUNT;

/// Bits of each operand, one element for each input.
const BITS: usize = 8;
/// Batches whose correlations a refill makes at once.
const AHEAD: u64 = 64;
const HONEST: &str = "all parties are honest";

/// All parties of a protocol.
pub struct Parties<P: Party> {
    sides: Vec<Side<P>>,
    setting: Setting,
    tape: Tape,
    bits: Domain,
    /// The domain of integers.
    numbers: Option<Domain>,
    /// Correlations of so many batches.
    demand: Demand,
    left_over: LeftOver,
    batch: u64,
    /// Operands and material of each party, before the clock starts, and results since.
    given: Vec<Operands<P>>,
    made: Vec<Outcome<P>>,
}

/// Operands of one party, and material of its tape and of its settlement.
struct Operands<P: Party> {
    bits: [Arc<P::Share>; 2],
    numbers: Option<[Arc<P::Share>; 2]>,
    material: [Option<P::Material>; 2],
}

/// Sets up all parties.
pub fn parties<P: Party>(cpu: Cpu) -> Parties<P> {
    let profile = P::Protocol::profile();
    let meshes = Mesh::in_memory(profile.roles.len());
    let setting = Setting::in_order(&profile, meshes.len());
    let mut b = Builder::new();
    let (x, y) = (b.input(BITS), b.input(BITS));
    let (left, right) = (Int::unsigned(&x), Int::unsigned(&y));
    let less = b.lt(left, right);
    let both = b.mul(left, right, BITS);
    let chosen = b.select(less, &both, &x);
    let tape = compile(&b.finish(vec![chosen, vec![less]]), &Machine::CPU);
    let algebra = match (profile.arithmetic, P::Protocol::prime()) {
        (false, _) => None,
        (true, false) => Some(Algebra::Z2k(40)),
        (true, true) => Some(Algebra::Fp),
    };
    let (bits, numbers) = (
        P::Protocol::domain(Algebra::Z2),
        algebra.map(P::Protocol::domain),
    );
    let work = StepShape::tape(&tape, bits, COUNT as u64);
    let mut demand = Demand::default();
    demand.merge(&P::Protocol::demand(&setting, &work), AHEAD);
    demand.merge(&P::Protocol::offline_demand(&setting, &work), AHEAD);
    if let Some(domain) = numbers {
        let element = [0, 1].map(|_| Arc::new(P::Share::zeros(1, COUNT)));
        let work = product::<P>(domain, element).shape();
        demand.merge(&P::Protocol::demand(&setting, &work), AHEAD);
    }
    let sides = on_threads(meshes, |mesh| {
        let given = Given::seeded(cpu, u64::from(mesh.me().0) + 1);
        Side::<P>::set_up(mesh, &setting, &demand, given).expect(HONEST)
    });
    let left_over = LeftOver::after_set_up::<P::Protocol>(&setting, &demand);
    Parties {
        sides,
        setting,
        tape,
        bits,
        numbers,
        demand,
        left_over,
        batch: 0,
        given: Vec::new(),
        made: Vec::new(),
    }
}

/// Products of the elements of two shares.
fn product<P: Party>(domain: Domain, [left, right]: [Arc<P::Share>; 2]) -> Step<'static, P> {
    Step::Product {
        domain,
        left: Selected::whole(left),
        right: Selected::whole(right),
    }
}

/// Runs a step of each party to its end: each writes a flight, then each reads one.
fn in_turn<'a, W: Steps>(
    parties: &mut [(&mut W, &mut Mesh)],
    steps: Vec<(Step<'a, W>, Option<W::Material>)>,
) -> Vec<Outcome<W>> {
    let begun = parties.iter_mut().zip(steps);
    let begun = begun.map(|((party, mesh), (step, material))| party.begin(step, material, mesh));
    let mut under_way = begun.map(|begun| begun.expect(HONEST)).collect::<Vec<_>>();
    while under_way.iter().any(|of| matches!(of, Progress::More(_))) {
        for (_, mesh) in parties.iter_mut() {
            mesh.flush().expect("memory");
        }
        let turn = parties.iter_mut().zip(under_way);
        let turn = turn.map(|((party, mesh), progress)| match progress {
            Progress::More(pending) => party.advance(pending, mesh).expect(HONEST),
            done => done,
        });
        under_way = turn.collect();
    }
    let ended = under_way.into_iter().map(|of| match of {
        Progress::Done(outcome) => outcome,
        Progress::More(_) => unreachable!("none is under way"),
    });
    ended.collect()
}

/// The step of a tape whose operands are at hand.
fn tape_step<'a, W: Steps>(tape: &'a Tape, domain: Domain, of: &[Arc<W::Share>]) -> Step<'a, W> {
    Step::Tape {
        tape,
        domain,
        lanes: COUNT,
        operands: of.to_vec(),
    }
}

/// Online walks, each with its links.
fn online<P: Party>(sides: &mut [Side<P>]) -> Vec<(&mut P, &mut Mesh)> {
    let sides = sides.iter_mut();
    sides
        .map(|side| (&mut side.party, &mut side.mesh))
        .collect()
}

impl<P: Party> Parties<P> {
    /// Makes correlations for batches ahead.
    fn refill(&mut self) {
        let made = self
            .left_over
            .refill::<P::Protocol>(&self.setting, &self.demand);
        if !made.is_empty() {
            on_threads(&mut self.sides, |side| {
                let Side { party, mesh } = side;
                party.refill(&made, mesh).expect(HONEST);
                mesh.flush().expect("memory");
            });
        }
    }

    /// Runs the offline parts of a tape and of its settlement.
    fn ahead(&mut self) -> Vec<[Option<P::Material>; 2]> {
        if self.sides[0].party.offline().is_none() {
            return self.sides.iter().map(|_| [None, None]).collect();
        }
        let sides = self.sides.iter_mut().map(|side| {
            let offline = side.party.offline().expect("as that of the first one");
            (offline, &mut side.mesh)
        });
        let mut sides = sides.collect::<Vec<_>>();
        let zeros = [0; COUNT];
        let (tape, bits) = (&self.tape, self.bits);
        let steps = sides.iter_mut().map(|(party, _)| {
            let masks = [0, 1].map(|_| Arc::new(party.constant(bits, BITS, &zeros)));
            (tape_step(tape, bits, &masks), None)
        });
        let steps = steps.collect();
        let tapes = in_turn(&mut sides, steps);
        let steps = sides
            .iter()
            .map(|_| (Step::Settle { checks: vec![] }, None));
        let steps = steps.collect();
        let settled = in_turn(&mut sides, steps);
        let material = tapes.into_iter().zip(settled).map(|made| match made {
            (Outcome::Share(_, _, tape), Outcome::Settled(rest)) => [Some(tape), Some(rest)],
            _ => unreachable!("a tape makes a share"),
        });
        material.collect()
    }
}

impl<P: Party> TimedWork for Parties<P> {
    fn prepare(&mut self, inputs: &[Block]) {
        let ones = inputs.iter().map(|input| u64::from(input.lsb()) * 0xff);
        let mut values = [ones.collect::<Vec<_>>(), vec![]];
        values[1] = values[0].clone();
        values[1].rotate_left(1);
        let (bits, numbers) = (self.bits, self.numbers);
        let given = self.sides.iter_mut().map(|side| {
            let mut shares = |domain: Domain, bits| {
                [0, 1].map(|at| Arc::new(side.party.constant(domain, bits, &values[at])))
            };
            Operands {
                bits: shares(bits, BITS),
                numbers: numbers.map(|domain| shares(domain, 40)),
                material: [None, None],
            }
        });
        self.given = given.collect();
        if self.batch.is_multiple_of(AHEAD) {
            self.refill();
        }
        self.batch += 1;
        let material = self.ahead();
        for (of, material) in self.given.iter_mut().zip(material) {
            of.material = material;
        }
    }

    fn run(&mut self) {
        let mut given = std::mem::take(&mut self.given);
        let domain = self.numbers;
        let Parties {
            sides, tape, bits, ..
        } = self;
        let mut sides = online(sides);
        let tapes = given.iter_mut().map(|of| {
            let step = tape_step(tape, *bits, &of.bits);
            (step, of.material[0].take())
        });
        let tapes = tapes.collect();
        let mut made = in_turn(&mut sides, tapes);
        if let Some(domain) = domain {
            let products = given.iter_mut().filter_map(|of| of.numbers.take());
            let products = products.map(|of| (product(domain, of), None));
            made.extend(in_turn(&mut sides, products.collect()));
        }
        let mut checks = sides.iter().map(|_| vec![]).collect::<Vec<_>>();
        let count = sides.len();
        for (at, outcome) in made.iter_mut().enumerate() {
            if let Outcome::Share(_, left, ()) = outcome {
                checks[at % count].append(left);
            }
        }
        let settlements = checks.into_iter().zip(&mut given);
        let settlements =
            settlements.map(|(checks, of)| (Step::Settle { checks }, of.material[1].take()));
        made.extend(in_turn(&mut sides, settlements.collect()));
        (self.given, self.made) = (given, made);
    }

    fn settle(&mut self) {
        self.given.clear();
        self.made.clear();
    }
}
