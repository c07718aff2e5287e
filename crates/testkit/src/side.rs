//! Parties of a protocol that run their steps one by one, without an engine, each on a thread of
//! its own.

use sealane_block::{Coins, Cpu};
use sealane_circuit::Tape;
use sealane_circuit::tape::{Batch, Gate, ONE};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{
    Opened, Outcome, Party, Result, Shares, Start, Step, Stocks, Words, run_alone,
};
use sealane_protocol::{Choices, Correlation, Demand, Domain, Setting};
use std::sync::Arc;
use std::thread;

/// The beginning of a party.
pub struct Given {
    /// Its tier.
    pub cpu: Cpu,
    /// Its randomness.
    pub coins: Coins,
    /// Random OTs of a pool, if it takes any.
    pub stocks: Stocks,
}

impl Given {
    /// Coins of a fixed seed on some tier, and no pool.
    pub fn seeded(cpu: Cpu, seed: u64) -> Given {
        let (coins, stocks) = (Coins::danger_fixed_seed(seed), Stocks::default());
        Given { cpu, coins, stocks }
    }
}

/// Runs every party on a thread of its own. Returns their ends in the order of parties.
///
/// # Panics
/// If one panics.
pub fn on_threads<M: Send, R: Send>(
    parties: impl IntoIterator<Item = M>,
    run: impl Fn(M) -> R + Sync,
) -> Vec<R> {
    thread::scope(|threads| {
        let run = &run;
        let begun = parties.into_iter();
        let begun = begun.map(|party| threads.spawn(move || run(party)));
        let begun = begun.collect::<Vec<_>>();
        let ended = begun.into_iter().map(|party| party.join());
        ended.map(|party| party.expect("no party panics")).collect()
    })
}

/// One party of a session, which is set up.
pub struct Side<P: Party> {
    /// The party.
    pub party: P,
    /// Its links.
    pub mesh: Mesh,
}

impl<P: Party> Side<P> {
    /// Sets up the party of a mesh.
    pub fn set_up(
        mut mesh: Mesh,
        setting: &Setting,
        demand: &Demand,
        given: Given,
    ) -> Result<Side<P>> {
        let start = Start {
            setting,
            me: mesh.me(),
            session: mesh.session(),
            cpu: given.cpu,
            coins: given.coins,
            stocks: given.stocks,
        };
        let party = P::set_up(start, demand, &mut mesh)?;
        Ok(Side { party, mesh })
    }

    /// Runs a step by itself.
    pub fn run(&mut self, step: Step<'_, P>) -> Result<Outcome<P>> {
        run_alone(&mut self.party, &mut self.mesh, step, None)
    }

    /// Runs a step that makes a share.
    pub fn share(&mut self, step: Step<'_, P>) -> Result<Arc<P::Share>> {
        match self.run(step)? {
            Outcome::Share(share, ..) => Ok(Arc::new(share)),
            _ => panic!("a share is due"),
        }
    }

    /// Shares elements, which only their owner gives.
    pub fn input(
        &mut self,
        owner: PartyId,
        domain: Domain,
        bits: usize,
        elements: &[u64],
    ) -> Result<Arc<P::Share>> {
        let given = owner == self.mesh.me();
        self.share(Step::Input {
            owner,
            domain,
            elements: elements.len(),
            bits,
            values: given.then(|| elements.to_vec().into()),
        })
    }

    /// Runs a tape on all elements of its operands.
    pub fn tape(
        &mut self,
        tape: &Tape,
        domain: Domain,
        operands: &[&Arc<P::Share>],
    ) -> Result<Arc<P::Share>> {
        self.share(Step::Tape {
            tape,
            domain,
            lanes: operands[0].elements(),
            operands: operands.iter().map(|share| Arc::clone(share)).collect(),
        })
    }

    /// Settles no check, but compares what has crossed.
    pub fn settle(&mut self) -> Result<()> {
        match self.run(Step::Settle { checks: vec![] })? {
            Outcome::Settled(()) => Ok(()),
            _ => panic!("a settlement is due"),
        }
    }

    /// Opens values: returns those that this party learns.
    pub fn open(&mut self, results: Vec<Opened<P::Share>>) -> Result<Vec<Option<Words>>> {
        match self.run(Step::Open { results })? {
            Outcome::Opened(values, ()) => Ok(values),
            _ => panic!("results are due"),
        }
    }
}

/// A tape on bits x and y of each lane: x AND y, and (x XOR y) AND NOT x.
pub fn two_ands() -> Tape {
    let gate = |a, b, out, number| Gate { a, b, out, number };
    Tape {
        inputs: 2,
        slots: 8,
        xors: vec![gate(2, 3, 4, 0), gate(2, ONE, 5, 1)],
        lone: vec![false; 2],
        known_to: vec![0; 2],
        ands: vec![gate(2, 3, 6, 0), gate(4, 5, 7, 1)],
        batches: vec![Batch {
            xors: 0..2,
            ands: 0..2,
        }],
        outputs: vec![6, 7],
        functions: vec![],
        applied: vec![],
        depth: 1,
        counted: Default::default(),
    }
}

/// Copies of values that were opened, to be compared.
pub fn copied(values: Vec<Option<Words>>) -> Vec<Option<Vec<u64>>> {
    let values = values.into_iter();
    values.map(|of| of.map(|words| words.to_vec())).collect()
}

/// So many transfers of given choices, from the first party to the second.
pub fn transfers(bits: usize) -> Demand {
    let mut demand = Demand::default();
    let correlation = Correlation::Cot {
        sender: PartyId(0),
        receiver: PartyId(1),
        choices: Choices::Given,
    };
    demand.add(correlation, bits as u64);
    demand
}
