//! Parties without a role: they own inputs or learn results, and otherwise only count flights.
//!
//! *Inputs.* The owner shares each of its bits by XOR between both roles. The share of the garbler
//! is drawn from a seed that the owner sends it at the set-up; the other share is sent to the
//! evaluator. Each role gives its share as an input of its own, so the XOR of their labels is that
//! of the input. Neither share alone tells anything.
//!
//! *Results.* The receiver gets hashes of both labels of each bit from the garbler, and that of the
//! active label from the evaluator, who send nothing of this result to each other. So the receiver
//! checks what it accepts as a role does, and no role learns the result.

use crate::opening::{self, Revealed};
use crate::{Labels, YaoParty, YaoPending, cost};
use sealane_block::{Block, Cpu, Prg, Seed};
use sealane_garble::Scheme;
use sealane_net::{Mesh, SessionId};
use sealane_parties::PartyId;
use sealane_party::{Fault, Opened, Progress, Result, Start, Step, Words, to_planes};
use sealane_protocol::{Correlation, Demand, Setting};
use std::collections::BTreeMap;
use zeroize::Zeroizing;

/// The label of the seeds among the coins, and of the streams of their bits.
const SHARES: &str = "yao: shares of inputs of a party without a role";

/// The garbler's shares of the inputs of one owner, at these two parties.
pub(crate) struct GarblersShares(Prg);

impl GarblersShares {
    fn of(seed: &Seed, session: SessionId, cpu: Cpu) -> GarblersShares {
        GarblersShares(seed.stream(SHARES, session.as_bytes()).prg(cpu))
    }

    /// The shares of the next inputs, a bit a byte.
    pub(crate) fn next(&mut self, count: usize) -> Zeroizing<Vec<u8>> {
        let mut packed = Zeroizing::new(vec![0; count.div_ceil(8)]);
        self.0.fill_bytes(&mut packed);
        unpacked(&packed, count)
    }
}

/// Bits of a message, a bit a byte.
fn unpacked(packed: &[u8], count: usize) -> Zeroizing<Vec<u8>> {
    let bits = (0..count).map(|at| packed[at / 8] >> (at % 8) & 1);
    Zeroizing::new(bits.collect())
}

/// The garbler's part of the set-up: reads the seed of each owner.
pub(crate) fn receive_seeds(
    owners: &[PartyId],
    session: SessionId,
    cpu: Cpu,
    mesh: &mut Mesh,
) -> Result<BTreeMap<PartyId, GarblersShares>> {
    let mut shares = BTreeMap::new();
    for owner in owners {
        let mut seed = Zeroizing::new([0; Seed::BYTES]);
        mesh.recv(*owner, &mut seed[..])?;
        let of_owner = GarblersShares::of(&Seed::from_bytes(&seed), session, cpu);
        shares.insert(*owner, of_owner);
    }
    Ok(shares)
}

/// Reads the evaluator's shares of an input, a bit a byte.
///
/// # Errors
/// [`Fault::Peer`] if bits after the last one are not zero.
pub(crate) fn receive_share(
    owner: PartyId,
    count: usize,
    mesh: &mut Mesh,
) -> Result<Zeroizing<Vec<u8>>> {
    let mut packed = Zeroizing::new(vec![0; count.div_ceil(8)]);
    mesh.recv(owner, &mut packed)?;
    let rest = packed.len() * 8 - count;
    // A message of an honest owner has none, whatever its bits are.
    if packed
        .last()
        .is_some_and(|last| last.leading_zeros() < rest as u32)
    {
        return Err(Fault::Peer {
            party: owner,
            what: "bits after the end of a message are not zero".to_string(),
        });
    }
    Ok(unpacked(&packed, count))
}

/// The parties without a role that own inputs.
pub(crate) fn owners(demand: &Demand) -> Vec<PartyId> {
    let owner = |kind: &Correlation| match kind {
        Correlation::Seed { owner } => Some(*owner),
        _ => None,
    };
    demand.0.keys().filter_map(owner).collect()
}

/// A party without a role.
pub(crate) struct Outside {
    setting: Setting,
    scheme: Scheme,
    me: PartyId,
    /// The garbler's shares, if this party owns inputs.
    shares: Option<GarblersShares>,
}

impl Outside {
    /// Runs step 1, the set-up.
    pub(crate) fn set_up(
        start: Start<'_>,
        scheme: Scheme,
        demand: &Demand,
        mesh: &mut Mesh,
    ) -> Result<Outside> {
        let Start {
            setting,
            me,
            session,
            cpu,
            mut coins,
            ..
        } = start;
        let shares = if owners(demand).contains(&me) {
            let seed = coins.secret(SHARES).seed();
            let [garbler, _] = cost::roles(setting);
            mesh.send(garbler, seed.as_bytes())?;
            mesh.flush()?;
            Some(GarblersShares::of(&seed, session, cpu))
        } else {
            None
        };
        Ok(Outside {
            setting: setting.clone(),
            scheme,
            me,
            shares,
        })
    }

    /// Begins any step but a settlement or an opening: waits as many flights as the step costs.
    pub(crate) fn begin<'a, G: crate::Garbling>(
        &mut self,
        step: Step<'a, YaoParty<G>>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, YaoParty<G>>> {
        let work = step.shape();
        let (shapes, met) = match step {
            Step::Input {
                owner,
                elements,
                bits,
                values,
                ..
            } => {
                if owner == self.me {
                    self.give(values, bits, mesh)?;
                }
                (vec![Labels::shape(bits, elements)], false)
            }
            Step::Tape { tape, lanes, .. } => {
                (vec![Labels::shape(tape.outputs.len(), lanes)], false)
            }
            Step::CompareExchange { pairs, .. } => (pairs.columns, true),
            _ => return Err(Fault::internal("no such step in yao")),
        };
        let cost = cost::cost(self.scheme, &self.setting, &work);
        Ok(watch(cost.flights.len(), shapes, met))
    }

    /// Sends the evaluator's shares of an input of this party.
    fn give(&mut self, values: Option<Words>, bits: usize, mesh: &mut Mesh) -> Result<()> {
        let (Some(values), Some(shares)) = (values, &mut self.shares) else {
            let what = "an input without values or seed at its owner";
            return Err(Fault::internal(what));
        };
        let values = to_planes(&values, bits);
        let shares = shares.next(values.len());
        let mut packed = Zeroizing::new(vec![0; values.len().div_ceil(8)]);
        for (at, (value, share)) in values.iter().zip(&*shares).enumerate() {
            packed[at / 8] |= (value ^ share) << (at % 8);
        }
        let [_, evaluator] = cost::roles(&self.setting);
        Ok(mesh.send(evaluator, &packed)?)
    }

    /// Reads the messages of step 6: returns the results that this party learns.
    pub(crate) fn learn(&self, results: &[Opened<Labels>], mesh: &mut Mesh) -> Result<Revealed> {
        let [garbler, evaluator] = cost::roles(&self.setting);
        opening::learn(results, mesh, |mesh, _, table, hashes| {
            mesh.recv(garbler, Block::as_bytes_mut(table.as_flattened_mut()))?;
            Ok(mesh.recv(evaluator, Block::as_bytes_mut(hashes))?)
        })
    }
}

/// The state of a party without a role with so many flights left, and the shapes that the step
/// makes: columns that meet, or one value.
pub(crate) fn watch<'a, G: crate::Garbling>(
    flights: usize,
    mut shapes: Vec<Labels>,
    met: bool,
) -> Progress<'a, YaoParty<G>> {
    match (flights, met) {
        (1.., _) => Progress::More(YaoPending::Watch(flights, shapes, met)),
        (0, true) => Progress::Done(sealane_party::Outcome::Columns(shapes, ())),
        (0, false) => Progress::share(shapes.remove(0)),
    }
}
