//! Parties without a role: they own inputs or learn results, and otherwise only count flights.
//!
//! The owner of an input shares it between both roles: the share of the first one is drawn from a
//! seed that the owner sent it at the set-up, the rest is sent to the second one. Neither share
//! alone tells anything.

use crate::{MixedParty, Share, cost, role, watch};
use sealane_block::{Block, Cpu, Prg, Seed};
use sealane_net::{Mesh, SessionId};
use sealane_parties::PartyId;
use sealane_party::{
    Fault, Form, Opened, Planes, Progress, Result, Shares, Start, Step, Words, width,
};
use sealane_protocol::{Correlation, Demand, RingOp, Setting};
use zeroize::Zeroizing;

/// The label of the seeds among the coins, and of the streams of shares.
const SHARES: &str = "gmw: shares of inputs of a party without a role";

/// The parties without a role that own inputs.
pub(crate) fn owners(setting: &Setting, demand: &Demand) -> Vec<PartyId> {
    let owner = |kind: &Correlation| match kind {
        Correlation::Seed { owner } => Some(*owner).filter(|of| setting.role_of(*of).is_none()),
        _ => None,
    };
    demand.0.keys().filter_map(owner).collect()
}

/// A stream of random values that two parties have.
pub(crate) struct Stream {
    prg: Prg,
    /// For tests: a stream of every possible value in turn.
    #[cfg(test)]
    pub(crate) ideal: Option<crate::views::Ideal>,
}

impl From<Prg> for Stream {
    fn from(prg: Prg) -> Stream {
        Stream {
            prg,
            #[cfg(test)]
            ideal: None,
        }
    }
}

/// The first party's shares of the inputs of one owner, at these two parties.
pub(crate) fn shares(seed: &Seed, session: SessionId, cpu: Cpu) -> Stream {
    seed.stream(SHARES, session.as_bytes()).prg(cpu).into()
}

impl Stream {
    /// Draws words of a form.
    pub(crate) fn draw(&mut self, form: Form) -> Planes<u64> {
        #[cfg(test)]
        if let Some(ideal) = &mut self.ideal {
            return ideal.draw(form);
        }
        let mut words = form.zeros();
        let mut bytes = Zeroizing::new(vec![0; 8 * words.data().len()]);
        self.prg.fill_bytes(&mut bytes);
        let drawn = bytes.as_chunks().0.iter();
        for (word, bytes) in words.data_mut().iter_mut().zip(drawn) {
            *word = u64::from_le_bytes(*bytes);
        }
        form.trim(words.data_mut());
        words
    }
}

/// A party without a role.
pub(crate) struct Outside {
    pub(crate) setting: Setting,
    pub(crate) me: PartyId,
    /// The first party's shares, if this party owns inputs.
    pub(crate) shares: Option<Stream>,
}

impl Outside {
    /// Sends the seed of this party's inputs, if it has some.
    pub(crate) fn set_up(start: Start<'_>, demand: &Demand, mesh: &mut Mesh) -> Result<Outside> {
        let Start {
            setting,
            me,
            session,
            cpu,
            mut coins,
            ..
        } = start;
        let mut own = None;
        if owners(setting, demand).contains(&me) {
            let seed = coins.secret(SHARES).seed();
            mesh.send(setting.player(0), seed.as_bytes())?;
            mesh.flush()?;
            own = Some(shares(&seed, session, cpu));
        }
        Ok(Outside {
            setting: setting.clone(),
            me,
            shares: own,
        })
    }

    /// Begins any step but a settlement or an opening: waits as many flights as the step costs.
    pub(crate) fn begin<'a, const L: bool>(
        &mut self,
        step: Step<'a, MixedParty<L>>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, MixedParty<L>>> {
        let work = step.shape();
        let shape = match step {
            Step::Input {
                owner,
                domain,
                elements,
                bits,
                values,
            } => {
                let form = Form::of_words(domain, bits, elements)?;
                if owner == self.me {
                    self.give(form, values, mesh)?;
                }
                form.shape()
            }
            Step::Tape { tape, lanes, .. } => Form::bits(tape.outputs.len(), lanes).shape(),
            Step::Product { domain, left, .. } => Form::of(domain, 1, left.lanes())?.shape(),
            Step::Ring { op, share, .. } => match op {
                RingOp::Extract { count, .. } => Share::zeros(count.into(), share.elements()),
                RingOp::Select | RingOp::Floor { .. } => Share::zeros(1, share.elements()),
            },
            Step::Convert {
                to, bits, share, ..
            } => {
                let planes = if width(to)?.is_some() { 1 } else { bits };
                Share::zeros(planes, share.elements())
            }
            _ => return Err(Fault::internal("no such step in this protocol")),
        };
        Ok(watch(cost::cost(&self.setting, &work).flights.len(), shape))
    }

    /// Sends the second party's share of an input of this party.
    fn give(&mut self, form: Form, values: Option<Words>, mesh: &mut Mesh) -> Result<()> {
        let (Some(values), Some(shares)) = (values, &mut self.shares) else {
            let what = "an input without values or seed at its owner";
            return Err(Fault::internal(what));
        };
        let mut rest = form.encode(&values);
        form.group
            .subtract(rest.data_mut(), shares.draw(form).data());
        form.trim(rest.data_mut());
        role::send(form, &rest, self.setting.player(1), mesh)
    }
}

/// Reads the shares of results that this party lacks: returns those that it learns.
pub(crate) fn learn(
    setting: &Setting,
    me: PartyId,
    results: &[Opened<Share>],
    mesh: &mut Mesh,
) -> Result<Vec<Option<Words>>> {
    let mut revealed = Vec::new();
    for Opened { share, domain, to } in results {
        if !to.contains(me) {
            revealed.push(None);
            continue;
        }
        let form = Form::of(*domain, share.planes(), share.elements())?;
        let mut sum = form.sum(form.parts(share)?.into_iter().flatten());
        for from in [0, 1].map(|role| setting.player(role)) {
            if from != me {
                let part = role::recv(form, from, mesh)?;
                form.group.add(sum.data_mut(), part.data());
            }
        }
        form.trim(sum.data_mut());
        revealed.push(Some(form.decode(sum.data())?));
    }
    Ok(revealed)
}

/// Words of blocks of packed bits.
pub(crate) fn words_of(blocks: &[Block], count: usize) -> Zeroizing<Vec<u64>> {
    let words = Block::as_bytes(blocks).as_chunks().0.iter();
    let words = words.map(|bytes| u64::from_le_bytes(*bytes));
    Zeroizing::new(words.take(count.div_ceil(64)).collect())
}
