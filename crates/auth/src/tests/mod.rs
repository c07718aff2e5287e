//! All parties in memory, over the dealer, and two over OTs: results, exact costs, and parties
//! that deviate.

mod attacks;
mod many;
mod products;
mod tampered;
mod vectors;

use crate::common::Place;
use crate::masks::{Material, Offline};
use crate::products::{PRODUCT, bits_of};
use crate::settle::Check;
use crate::wires::{Masks, Wires};
use crate::{Auth, AuthParty, DangerDealer, Products, Transfers};
use sealane_block::{Block, Coins, Cpu};
use sealane_circuit::tape::{Batch, Gate};
use sealane_circuit::{Builder, Goal, Int, Machine, Tape, compile};
use sealane_net::{Mesh, SessionId};
use sealane_parties::{PartyId, PartySet};
use sealane_party::{Opened, Outcome, Party, Result, Shares, Start, Step, Stocks, run_alone};
use sealane_protocol::{Algebra, Demand, Domain, Protocol, Setting, View};
use sealane_testkit::reckoning::Reckoning;
use sealane_testkit::side::{copied, on_threads, two_ands};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;

const GARBLER: PartyId = PartyId(0);
const EVALUATOR: PartyId = PartyId(1);
const BOTH: [PartyId; 2] = [GARBLER, EVALUATOR];

/// Values that a party has learnt.
type Learnt = Vec<Option<Vec<u64>>>;

fn domain() -> Domain {
    Auth::<DangerDealer>::domain(Algebra::Z2)
}

fn setting() -> Setting {
    setting_of::<DangerDealer>(2)
}

fn setting_of<P: Products>(parties: usize) -> Setting {
    Setting::in_order(&Auth::<P>::profile(), parties)
}

/// So many products, and authenticated bits of each party.
fn demand(products: u64, bits: u64) -> Demand {
    let mut demand = Demand::default();
    demand.add(PRODUCT, products);
    demand.add(bits_of(GARBLER, EVALUATOR), bits);
    demand.add(bits_of(EVALUATOR, GARBLER), bits);
    demand
}

/// A party that is set up, with what it should have counted and what is not settled.
struct Side<P = DangerDealer> {
    party: AuthParty<P>,
    mesh: Mesh,
    setting: Setting,
    reckoning: Option<Reckoning>,
    checks: Vec<Check>,
}

/// A value in both walks.
#[derive(Clone)]
struct Value {
    masks: Arc<Masks>,
    wires: Option<Arc<Wires>>,
}

impl Side {
    /// Sets up a party over a dealer; its randomness is that of this seed and its number.
    fn set_up(mesh: Mesh, cpu: Cpu, seed: u64) -> Result<Side> {
        Side::over(mesh, cpu, seed, &Demand::default())
    }
}

impl<P: Products> Side<P> {
    /// Sets up a party for a run with this demand.
    fn over(mut mesh: Mesh, cpu: Cpu, seed: u64, demand: &Demand) -> Result<Side<P>> {
        let setting = setting_of::<P>(mesh.parties());
        let of_seed = mesh.parties() as u64 * seed;
        let start = Start {
            setting: &setting,
            me: mesh.me(),
            session: mesh.session(),
            cpu,
            coins: Coins::danger_fixed_seed(of_seed + u64::from(mesh.me().0)),
            stocks: Stocks::default(),
        };
        let party = AuthParty::set_up(start, demand, &mut mesh)?;
        Ok(Side {
            party,
            mesh,
            setting,
            reckoning: None,
            checks: Vec::new(),
        })
    }

    /// From now on, what each step sends is compared with its cost.
    fn reckoned(mut self, demand: &Demand) -> Side<P> {
        let mut reckoning = Reckoning::new(self.mesh.parties());
        let cost = Auth::<P>::set_up_cost(&self.setting, demand);
        reckoning.add(&cost, &self.mesh);
        self.reckoning = Some(reckoning);
        self
    }

    /// Runs the offline part of a step.
    fn prepare(&mut self, step: Step<'_, Offline<P>>) -> Result<(Option<Masks>, Material)> {
        let cost = Auth::<P>::offline_cost(&self.setting, &step.shape());
        let offline = self.party.offline().expect("an offline walk");
        let made = match run_alone(offline, &mut self.mesh, step, None)? {
            Outcome::Share(masks, _, material) => (Some(masks), material),
            Outcome::Settled(material) | Outcome::Opened(_, material) => (None, material),
            Outcome::Columns(..) => panic!("no step makes columns"),
        };
        if let Some(reckoning) = &mut self.reckoning {
            reckoning.add(&cost, &self.mesh);
        }
        Ok(made)
    }

    /// Runs the online part of a step.
    fn run(
        &mut self,
        step: Step<'_, AuthParty<P>>,
        material: Material,
    ) -> Result<Outcome<AuthParty<P>>> {
        let cost = Auth::<P>::cost(&self.setting, &step.shape());
        let outcome = run_alone(&mut self.party, &mut self.mesh, step, Some(material))?;
        if let Some(reckoning) = &mut self.reckoning {
            reckoning.add(&cost, &self.mesh);
            if let Outcome::Share(_, checks, ()) = &outcome {
                assert_eq!(crate::settle::count(checks), cost.checks);
            }
        }
        Ok(outcome)
    }

    fn share(&mut self, step: Step<'_, AuthParty<P>>, material: Material) -> Result<Arc<Wires>> {
        let Outcome::Share(wires, checks, ()) = self.run(step, material)? else {
            panic!("a share is due");
        };
        self.checks.extend(checks);
        Ok(Arc::new(wires))
    }

    /// Shares values of so many bits, which only their owner gives.
    fn input(&mut self, owner: PartyId, bits: usize, values: &[u64]) -> Result<Value> {
        let given = owner == self.mesh.me();
        let (domain, elements) = (domain(), values.len());
        let (masks, material) = self.prepare(Step::Input {
            owner,
            domain,
            elements,
            bits,
            values: None,
        })?;
        let step = Step::Input {
            owner,
            domain,
            elements,
            bits,
            values: given.then(|| values.to_vec().into()),
        };
        let wires = Some(self.share(step, material)?);
        let masks = Arc::new(masks.expect("masks of an input"));
        Ok(Value { masks, wires })
    }

    /// A public value in all lanes.
    fn constant(&mut self, bits: usize, values: &[u64]) -> Value {
        use sealane_party::Steps;
        let masks = Arc::new(Masks::zeros(bits, values.len()));
        let wires = self.party.constant(domain(), bits, values);
        let wires = Some(Arc::new(wires));
        Value { masks, wires }
    }

    /// Runs a tape, with what `change` makes of the operands of the online part.
    fn tape_with(
        &mut self,
        tape: &Tape,
        operands: &[&Value],
        change: impl FnOnce(&mut [Arc<Wires>]),
    ) -> Result<Value> {
        let (domain, lanes) = (domain(), operands[0].masks.elements());
        let (masks, material) = self.prepare(Step::Tape {
            tape,
            domain,
            lanes,
            operands: operands.iter().map(|of| Arc::clone(&of.masks)).collect(),
        })?;
        let wires = operands.iter().map(|of| of.wires.clone().expect("wires"));
        let mut wires = wires.collect::<Vec<_>>();
        change(&mut wires);
        let step = Step::Tape {
            tape,
            domain,
            lanes,
            operands: wires,
        };
        let wires = Some(self.share(step, material)?);
        let masks = Arc::new(masks.expect("masks of a tape"));
        Ok(Value { masks, wires })
    }

    fn tape(&mut self, tape: &Tape, operands: &[&Value]) -> Result<Value> {
        self.tape_with(tape, operands, |_| {})
    }

    fn settle(&mut self) -> Result<()> {
        let (_, material) = self.prepare(Step::Settle { checks: vec![] })?;
        let checks = std::mem::take(&mut self.checks);
        match self.run(Step::Settle { checks }, material)? {
            Outcome::Settled(()) => Ok(()),
            _ => panic!("a settlement is due"),
        }
    }

    fn open(&mut self, results: &[(&Value, &[PartyId])]) -> Result<Learnt> {
        let (_, material) = self.prepare(Step::Open { results: vec![] })?;
        let results = results.iter().map(|(value, to)| Opened {
            share: value.wires.clone().expect("wires"),
            domain: domain(),
            to: PartySet::of(to.iter().copied()),
        });
        let results = results.collect();
        match self.run(Step::Open { results }, material)? {
            Outcome::Opened(values, ()) => Ok(copied(values)),
            _ => panic!("results are due"),
        }
    }
}

/// Runs two parties that do different things.
fn apart<A: Send, B: Send>(
    [garbler, evaluator]: [Mesh; 2],
    first: impl FnOnce(Mesh) -> A + Send,
    second: impl FnOnce(Mesh) -> B + Send,
) -> (A, B) {
    thread::scope(|threads| {
        let first = threads.spawn(|| first(garbler));
        let second = threads.spawn(|| second(evaluator));
        let first = first.join().expect("the garbler does not panic");
        (first, second.join().expect("the evaluator does not panic"))
    })
}

fn in_memory() -> [Mesh; 2] {
    Mesh::in_memory(2).try_into().ok().expect("two parties")
}

fn here() -> Cpu {
    Cpu::detect().expect("a tier")
}

/// A tape of one AND.
fn one_and() -> Tape {
    let gate = Gate {
        a: 2,
        b: 3,
        out: 4,
        number: 0,
    };
    Tape {
        inputs: 2,
        slots: 5,
        xors: vec![],
        lone: vec![],
        known_to: vec![0],
        ands: vec![gate],
        batches: vec![Batch {
            xors: 0..0,
            ands: 0..1,
        }],
        outputs: vec![4],
        functions: vec![],
        applied: vec![],
        depth: 1,
        counted: Default::default(),
    }
}

/// The lower half of a product of two numbers of so many bits.
fn product(bits: usize) -> Tape {
    let mut b = Builder::for_goal(Goal::Size);
    let (x, y) = (b.input(bits), b.input(bits));
    let product = b.mul(Int::unsigned(&x), Int::unsigned(&y), bits);
    compile(&b.finish(vec![product]), &Machine::CPU)
}

/// Products of inputs of both parties, then of two of them, with a constant; what is learnt.
fn session<P: Products>(mut side: Side<P>, x: &[u64], y: &[u64]) -> Result<Learnt> {
    let tape = product(8);
    let a = side.input(GARBLER, 8, x)?;
    let b = side.input(EVALUATOR, 8, y)?;
    let ones = side.constant(8, &vec![3; x.len()]);
    let c = side.tape(&tape, &[&a, &b])?;
    // Lanes change places between steps.
    let turned = {
        let lanes = View::new(x.len() - 1, vec![(x.len(), -1)]);
        let one = View::whole(1);
        Value {
            masks: Arc::new(c.masks.gather(&lanes, &one)),
            wires: c
                .wires
                .as_ref()
                .map(|wires| Arc::new(wires.gather(&lanes, &one))),
        }
    };
    side.settle()?;
    let d = side.tape(&tape, &[&turned, &ones])?;
    let e = side.tape(&tape, &[&d, &c])?;
    side.settle()?;
    side.settle()?;
    let results: [(&Value, &[PartyId]); 5] = [
        (&c, &BOTH),
        (&d, &[EVALUATOR]),
        (&e, &[GARBLER]),
        (&a, &[EVALUATOR]),
        (&ones, &BOTH),
    ];
    let learnt = side.open(&results)?;
    side.settle()?;
    side.mesh.finish()?;
    Ok(learnt)
}

/// Values that both learn in a session.
fn expected(x: &[u64], y: &[u64]) -> [Learnt; 2] {
    let c = x
        .iter()
        .zip(y)
        .map(|(x, y)| x * y % 256)
        .collect::<Vec<_>>();
    let d = c.iter().rev().map(|c| 3 * c % 256).collect::<Vec<_>>();
    let e = d
        .iter()
        .zip(&c)
        .map(|(d, c)| d * c % 256)
        .collect::<Vec<_>>();
    let ones = vec![3; x.len()];
    let garbler = vec![Some(c.clone()), None, Some(e), None, Some(ones.clone())];
    let evaluator = vec![Some(c), Some(d), None, Some(x.to_vec()), Some(ones)];
    [garbler, evaluator]
}

/// Sessions of several sizes over a source, each of which this demand covers.
fn sessions<P: Products>(demand: &Demand) {
    let tiers = Cpu::available();
    for lanes in [1, 7, 45] {
        let x = (0..lanes)
            .map(|lane| (37 * lane + 11) % 256)
            .collect::<Vec<_>>();
        let y = (0..lanes)
            .map(|lane| (101 * lane + 6) % 256)
            .collect::<Vec<_>>();
        let cpus = [tiers[lanes as usize % tiers.len()], here()];
        let learnt = on_threads(Mesh::in_memory(2), |mesh| {
            let cpu = cpus[mesh.me().index()];
            let side = Side::<P>::over(mesh, cpu, 5, demand).expect("a set-up");
            session(side.reckoned(demand), &x, &y).expect("both are honest")
        });
        assert_eq!(learnt, expected(&x, &y));
    }
}

#[test]
fn both_parties_learn_their_results_at_the_stated_cost() {
    sessions::<DangerDealer>(&Demand::default());
}

#[test]
fn both_parties_learn_their_results_at_the_stated_cost_over_transfers() {
    sessions::<Transfers>(&demand(15_000, 16_000));
}

#[test]
fn a_tape_without_ands_takes_no_message() {
    let mut tape = two_ands();
    tape.ands.clear();
    tape.known_to.clear();
    tape.batches[0].ands = 0..0;
    tape.outputs = vec![4, 5];
    let learnt = on_threads(Mesh::in_memory(2), |mesh| {
        let side = Side::set_up(mesh, here(), 1).expect("a set-up");
        let mut side = side.reckoned(&Demand::default());
        let x = side.input(GARBLER, 1, &[0, 0, 1, 1]).expect("an input");
        let y = side.input(EVALUATOR, 1, &[0, 1, 0, 1]).expect("an input");
        let z = side.tape(&tape, &[&x, &y]).expect("a tape");
        assert!(side.checks.is_empty());
        side.settle().expect("a settlement");
        side.open(&[(&z, &BOTH)]).expect("an opening")
    });
    // The sum, and the complement of x in bit 1.
    assert_eq!(learnt, [(); 2].map(|()| vec![Some(vec![2, 3, 1, 0])]));
}

/// A challenge is that of a session, of both nonces, of a place and a number there, of a party and
/// of what it opens, and the same at both parties.
#[test]
fn challenges_belong_to_all_that_they_are_about() {
    let challenges = |session: u8, seed: u64| {
        let mut meshes = in_memory();
        for mesh in &mut meshes {
            mesh.set_session(SessionId::danger_fixed([session; 32]));
        }
        let ends = on_threads(meshes, |mesh| {
            let mut side = Side::set_up(mesh, here(), seed).expect("a set-up");
            let common = &mut side.party.offline.0;
            let openings = [
                Place::Masks,
                Place::Values,
                Place::Rows,
                Place::Results,
                Place::Masks,
            ]
            .map(|place| common.opening(place));
            let mut all = Vec::new();
            for opening in openings {
                for from in BOTH {
                    for bits in [&[0][..], &[1], &[0, 0]] {
                        let sum = common
                            .sum(opening, from, bits)
                            .and_all([&[Block::new(1)][..]]);
                        all.push(sum.value().to_bytes());
                    }
                }
            }
            all
        });
        assert_eq!(ends[0], ends[1], "both parties have the same");
        ends[0].clone()
    };
    // In place of a nonce, the seeds of both.
    let all = [(1, 1), (1, 2), (2, 1)].map(|(session, seed)| challenges(session, seed));
    let all = all.concat();
    let different = all.iter().collect::<BTreeSet<_>>();
    assert_eq!((all.len(), different.len()), (90, 90));
}

/// Openings of one place have numbers, whatever is opened.
#[test]
fn no_two_openings_have_one_challenge() {
    let ends = on_threads(in_memory(), |mesh| {
        let mut side = Side::set_up(mesh, here(), 1).expect("a set-up");
        let common = &mut side.party.offline.0;
        let challenge = |_| {
            let opening = common.opening(Place::Masks);
            let sum = common
                .sum(opening, GARBLER, &[1])
                .and_all([&[Block::new(1)][..]]);
            sum.value().to_bytes()
        };
        (0..9).map(challenge).collect::<BTreeSet<_>>().len()
    });
    assert_eq!(ends, [9, 9]);
}
