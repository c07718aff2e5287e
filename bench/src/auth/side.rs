//! A party that runs single steps of both walks.

use std::sync::Arc;

use sealane_auth::{Auth, AuthParty, Check, Masks, Material, Offline, Transfers, Wires};
use sealane_block::{Coins, Cpu};
use sealane_net::Mesh;
use sealane_parties::{PartyId, PartySet};
use sealane_party::{Opened, Outcome, Party, Start, Step, Stocks, run_alone};
use sealane_protocol::{Algebra, Demand, Domain, Protocol, Setting};

use super::{MASKS, Marks, SETTLEMENT, TABLES, Work, mark, watch};
use crate::SuiteError;

type Both = AuthParty<Transfers>;

/// A party.
pub(super) struct Side<'a> {
    party: Both,
    pub(super) mesh: Mesh,
    setting: &'a Setting,
    work: &'a Work,
    pub(super) marks: Marks,
    checks: Vec<Check>,
}

/// A word of each lane, in both walks.
pub(super) struct Value {
    masks: Arc<Masks>,
    wires: Arc<Wires>,
}

fn bits() -> Domain {
    Auth::<Transfers>::domain(Algebra::Z2)
}

/// The steps that a party runs, in either walk: an input, which has values at its owner in the
/// online one, and a tape.
macro_rules! input {
    ($owner:expr, $lanes:expr, $values:expr) => {
        Step::Input {
            owner: $owner,
            domain: bits(),
            elements: $lanes,
            bits: 64,
            values: $values,
        }
    };
}

macro_rules! tape {
    ($work:expr, $operands:expr) => {
        Step::Tape {
            tape: &$work.tape,
            domain: bits(),
            lanes: $work.lanes,
            operands: $operands,
        }
    };
}

impl<'a> Side<'a> {
    pub(super) fn set_up(
        cpu: Cpu,
        mut mesh: Mesh,
        setting: &'a Setting,
        work: &'a Work,
    ) -> Result<Side<'a>, SuiteError> {
        let start = Start {
            setting,
            me: mesh.me(),
            session: mesh.session(),
            cpu,
            coins: Coins::danger_fixed_seed(u64::from(mesh.me().0)),
            stocks: Stocks::default(),
        };
        let mut party = Both::set_up(start, &Demand::default(), &mut mesh)?;
        let marks = Marks::default();
        party.source().watch(watch(&marks));
        Ok(Side {
            party,
            mesh,
            setting,
            work,
            marks,
            checks: Vec::new(),
        })
    }

    /// Two words of either party.
    pub(super) fn inputs(&mut self) -> Result<Vec<Value>, SuiteError> {
        (0..4).map(|word| self.input(word)).collect()
    }

    fn input(&mut self, word: usize) -> Result<Value, SuiteError> {
        let (owner, lanes) = (PartyId(word as u8 / 2), self.work.lanes);
        let step = || input!(owner, lanes, None);
        let demand = Auth::<Transfers>::offline_demand(self.setting, &step().shape());
        self.refill(&demand)?;
        let (masks, material) = self.offline(step())?;
        let values = (self.mesh.me() == owner).then(|| self.work.values(word).into());
        let Outcome::Share(wires, ..) = self.online(input!(owner, lanes, values), material)? else {
            return Err("an input left no share".into());
        };
        let wires = Arc::new(wires);
        Ok(Value {
            masks: Arc::new(masks.ok_or("an input left no masks")?),
            wires,
        })
    }

    fn refill(&mut self, demand: &Demand) -> Result<(), SuiteError> {
        let made = Auth::<Transfers>::refill_counts(self.setting, demand);
        Ok(self.party.refill(&made, &mut self.mesh)?)
    }

    /// Refills pools, runs all tapes, and settles them. Returns their outputs.
    pub(super) fn once(&mut self, inputs: &[Value]) -> Result<Vec<Arc<Wires>>, SuiteError> {
        let masks = || {
            inputs
                .iter()
                .map(|value| Arc::clone(&value.masks))
                .collect()
        };
        let wires = || {
            inputs
                .iter()
                .map(|value| Arc::clone(&value.wires))
                .collect()
        };
        let work = self.work;
        let shape: Step<'_, Offline<Transfers>> = tape!(work, masks());
        let mut demand = Demand::default();
        let one = Auth::<Transfers>::offline_demand(self.setting, &shape.shape());
        demand.merge(&one, work.tapes as u64);
        self.refill(&demand)?;
        let mut ahead = Vec::new();
        for _ in 0..work.tapes {
            ahead.push(self.offline(tape!(work, masks()))?.1);
        }
        mark(&self.marks, MASKS);
        let mut outputs = Vec::new();
        for material in ahead {
            match self.online(tape!(work, wires()), material)? {
                Outcome::Share(wires, checks, ()) => {
                    self.checks.extend(checks);
                    outputs.push(Arc::new(wires));
                }
                _ => return Err("a tape left no share".into()),
            }
        }
        mark(&self.marks, TABLES);
        let checks = std::mem::take(&mut self.checks);
        self.online(Step::Settle { checks }, Material::None)?;
        mark(&self.marks, SETTLEMENT);
        Ok(outputs)
    }

    /// Opens results, and compares them with those of the circuit.
    pub(super) fn check(&mut self, outputs: Vec<Arc<Wires>>) -> Result<(), SuiteError> {
        let results = outputs.into_iter().map(|share| Opened {
            share,
            domain: bits(),
            to: PartySet::of((0..2).map(PartyId)),
        });
        let results = results.collect();
        let Outcome::Opened(values, ()) = self.online(Step::Open { results }, Material::None)?
        else {
            return Err("an opening opened nothing".into());
        };
        let expected = self.work.expected();
        let mut values = values.iter();
        let right = values.all(|value| value.as_ref().is_some_and(|of| **of == expected));
        right.then_some(()).ok_or_else(|| "a wrong result".into())
    }

    fn offline(
        &mut self,
        step: Step<'_, Offline<Transfers>>,
    ) -> Result<(Option<Masks>, Material), SuiteError> {
        let walk = self
            .party
            .offline()
            .ok_or("a party without an offline walk")?;
        match run_alone(walk, &mut self.mesh, step, None)? {
            Outcome::Share(masks, _, material) => Ok((Some(masks), material)),
            _ => Err("an offline step left no masks".into()),
        }
    }

    fn online(
        &mut self,
        step: Step<'_, Both>,
        material: Material,
    ) -> Result<Outcome<Both>, SuiteError> {
        Ok(run_alone(
            &mut self.party,
            &mut self.mesh,
            step,
            Some(material),
        )?)
    }
}
