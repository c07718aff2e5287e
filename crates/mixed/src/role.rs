//! A party with a role: its state, and the beginning of its steps.

use crate::carries::SHARES;
use crate::cost::scheme;
use crate::goods::{Goods, takes_labels};
use crate::labels::Side;
use crate::outside::Stream;
use crate::tape::{Finish, Input, RunningTape, TapeOf};
use crate::{LABELS, MixedParty, Share, outside, then};
use sealane_block::{Cpu, Erased, Seed};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{
    Fault, Form, Opened, Planes, Progress, Result, Shares, Start, Step, to_planes,
};
use sealane_protocol::{Algebra, Demand, RingOp, Setting};
use sealane_yao::sides::{EvaluatorLabels, GarblerLabels, Instance};
use std::collections::BTreeMap;
use zeroize::Zeroizing;

/// The label of the common seed of both parties, and of its stream.
const COMMON: &str = "gmw: shares of results for a party without a role";

/// A party that computes.
pub(crate) struct Computing<const L: bool> {
    pub(crate) setting: Setting,
    pub(crate) me: PartyId,
    pub(crate) peer: PartyId,
    pub(crate) role: usize,
    pub(crate) goods: Goods,
    /// Labels, in a protocol that has them.
    pub(crate) side: Option<Side>,
    /// At the first party, its shares of inputs of parties without a role.
    pub(crate) guests: BTreeMap<PartyId, Stream>,
    /// Common random values, where results may go to a party without a role.
    pub(crate) common: Option<Stream>,
}

impl<const L: bool> Computing<L> {
    /// Sets up a party: seeds, then transfers in both directions.
    pub(crate) fn set_up(
        start: Start<'_>,
        role: usize,
        demand: &Demand,
        mesh: &mut Mesh,
    ) -> Result<Computing<L>> {
        let Start {
            setting,
            me,
            session,
            cpu,
            mut coins,
            stocks,
        } = start;
        let peer = setting.player(1 - role);
        let stream = |seed: &Seed| Stream::from(seed.stream(COMMON, session.as_bytes()).prg(cpu));
        let outsiders = setting.parties > setting.roles.len();
        let mut common = None;
        if role == 0 && outsiders {
            let seed = coins.secret(COMMON).seed();
            mesh.send(peer, seed.as_bytes())?;
            common = Some(stream(&seed));
        }
        let instance = Instance {
            cpu,
            session,
            scheme: scheme(setting),
            roles: SHARES,
            peer,
        };
        let labels = takes_labels(setting, demand);
        let mut side = None;
        let mut offset = None;
        if labels && role == 0 {
            let labels = GarblerLabels::set_up(instance, &mut coins, mesh)?;
            offset = Some(Zeroizing::new(labels.delta()));
            side = Some(Side::Garbler(Erased::new(labels)));
        }
        let place = (cpu, setting, peer);
        let begun = Goods::begin(place, (offset, stocks), demand, &mut coins, mesh)?;
        if role == 1 && outsiders {
            common = Some(stream(&recv_seed(peer, mesh)?));
        }
        if labels && role == 1 {
            let labels = EvaluatorLabels::set_up(instance, mesh)?;
            side = Some(Side::Evaluator(Erased::new(labels)));
        }
        let mut guests = BTreeMap::new();
        for owner in outside::owners(setting, demand)
            .into_iter()
            .filter(|_| role == 0)
        {
            let seed = recv_seed(owner, mesh)?;
            guests.insert(owner, outside::shares(&seed, session, cpu));
        }
        Ok(Computing {
            goods: begun.finish(cpu, mesh, &mut coins)?,
            side,
            setting: setting.clone(),
            me,
            peer,
            role,
            guests,
            common,
        })
    }

    /// Returns whether this is the first party, which holds constants.
    pub(crate) fn first(&self) -> bool {
        self.role == 0
    }

    /// Begins any step but a settlement or an opening.
    pub(crate) fn begin<'a>(
        &mut self,
        step: Step<'a, MixedParty<L>>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, MixedParty<L>>> {
        let shape = step.shape();
        match step {
            Step::Input {
                owner,
                domain,
                elements,
                bits,
                values,
            } => {
                let role = self.setting.role_of(owner);
                if let (true, Some(role)) = (domain == LABELS, role) {
                    let own = values.map(|values| to_planes(&values, bits));
                    return self.labels_of_input((bits, elements), role, own, mesh);
                }
                let form = Form::of_words(domain, bits, elements)?;
                if role.is_some() {
                    let own = values.map(|values| form.share([form.encode(&values)]));
                    return Ok(Progress::share(own.unwrap_or_else(|| form.shape())));
                }
                let own = if self.first() {
                    Some(self.share_of_guest(owner, form)?)
                } else {
                    None
                };
                Ok(then(move |_, mesh| {
                    let share = match own {
                        Some(own) => own,
                        None => recv(form, owner, mesh)?,
                    };
                    Ok(Progress::share(form.share([share])))
                }))
            }
            Step::Tape {
                tape,
                domain,
                lanes,
                operands,
            } if domain == LABELS => self.label_tape(TapeOf::Plan(tape), lanes, operands, mesh),
            Step::Tape {
                tape,
                lanes,
                operands,
                ..
            } => {
                let mut inputs = Vec::new();
                let mut first = 0;
                for share in &operands {
                    let form = Form::bits(share.planes(), lanes);
                    if let Some([words]) = form.parts(share)? {
                        inputs.push(Input { first, words });
                    }
                    first += share.planes();
                }
                if first != tape.inputs as usize {
                    return Err(Fault::internal("operands are not the inputs of the tape"));
                }
                let run = RunningTape::new(TapeOf::Plan(tape), lanes, &inputs, self.first());
                let finish: Finish<'a, L> = Box::new(move |_, planes, _| {
                    let form = Form::bits(tape.outputs.len(), lanes);
                    Ok(Progress::share(form.share([planes])))
                });
                self.run_tape(run, finish, mesh)
            }
            Step::Product {
                domain,
                left,
                right,
            } => self.product(&shape, domain, [left, right], mesh),
            Step::Ring {
                op: RingOp::Select,
                domain,
                bit: Some(bit),
                share,
                ..
            } => self.select(domain, &bit, &share, mesh),
            Step::Ring {
                op: RingOp::Extract { first, count },
                domain,
                share,
                ..
            } => self.extract(domain, (first, count), &share, mesh),
            Step::Ring {
                op: RingOp::Floor { by },
                domain,
                bits,
                signed,
                share,
                ..
            } => self.floor(domain, (bits, signed), by, &share, mesh),
            Step::Convert {
                from,
                to,
                bits,
                signed,
                share,
            } => match (from.algebra, to.algebra) {
                (Algebra::Z2, Algebra::Z2) if to == LABELS => self.labels_of_bits(&share, mesh),
                (Algebra::Z2, Algebra::Z2) => self.bits_of_labels(&share),
                (_, Algebra::Z2) if to == LABELS => self.labels_of_ring(from, bits, &share, mesh),
                (Algebra::Z2, _) if from == LABELS => {
                    self.ring_of_labels(to, (bits, signed), &share, mesh)
                }
                (Algebra::Z2, _) => self.ring_of_bits(to, (bits, signed), &share, mesh),
                (_, Algebra::Z2) => self.extract(from, (0, bits as u8), &share, mesh),
                _ => self.reduced(from, to, &share),
            },
            Step::Ring { .. } => Err(Fault::internal("a choice without bits")),
            Step::CompareExchange { .. } => Err(Fault::internal("elements meet in copies")),
            Step::Shuffle { .. } | Step::Sort { .. } => {
                Err(Fault::internal("this protocol sorts by networks"))
            }
            Step::Settle { .. } | Step::Open { .. } => {
                Err(Fault::internal("an opening begins elsewhere"))
            }
        }
    }

    /// The words of a share of this form; at a party with a role, a shape alone is zero.
    pub(crate) fn words(&self, form: Form, share: &Share) -> Result<Zeroizing<Vec<u64>>> {
        let parts = form.parts(share)?;
        let words = parts.map(|[words]| words.to_vec());
        Ok(Zeroizing::new(
            words.unwrap_or_else(|| vec![0; form.words()]),
        ))
    }

    /// Sends this party's words of masked values, and goes on with the sums of those of both.
    pub(crate) fn open_masked<'a, const N: usize>(
        &mut self,
        own: [(Form, Planes<u64>); N],
        mesh: &mut Mesh,
        rest: impl FnOnce(
            &mut Computing<L>,
            [Planes<u64>; N],
            &mut Mesh,
        ) -> Result<Progress<'a, MixedParty<L>>>
        + Send
        + 'a,
    ) -> Result<Progress<'a, MixedParty<L>>> {
        for (form, words) in &own {
            send(*form, words, self.peer, mesh)?;
        }
        let peer = self.peer;
        Ok(then(move |party, mesh| {
            let mut opened = Vec::with_capacity(N);
            for (form, own) in own {
                let mut sum = recv(form, peer, mesh)?;
                form.group.add(sum.data_mut(), own.data());
                form.trim(sum.data_mut());
                opened.push(sum);
            }
            let opened = <[_; N]>::try_from(opened);
            let opened = opened.map_err(|_| Fault::internal("as many as were sent"))?;
            rest(party, opened, mesh)
        }))
    }

    /// Draws this party's share of an input of a party without a role.
    fn share_of_guest(&mut self, owner: PartyId, form: Form) -> Result<Planes<u64>> {
        let shares = self.guests.get_mut(&owner);
        let shares = shares.ok_or_else(|| Fault::internal("no seed of this owner"))?;
        Ok(shares.draw(form))
    }

    /// Sends this party's shares of results to all others that learn them. To a party without a
    /// role these are shares that both have changed by a common random value.
    pub(crate) fn open(
        &mut self,
        results: Vec<Opened<Share>>,
        mesh: &mut Mesh,
    ) -> Result<Vec<Opened<Share>>> {
        for Opened { share, domain, to } in &results {
            let form = Form::of(*domain, share.planes(), share.elements())?;
            let words = self.words(form, share)?;
            let own = form.sum([&words[..]]);
            let is_outside = |to: &PartyId| self.setting.role_of(*to).is_none();
            let outsiders: Vec<_> = to.iter().filter(is_outside).collect();
            if to.contains(self.peer) {
                send(form, &own, self.peer, mesh)?;
            }
            if outsiders.is_empty() {
                continue;
            }
            let common = self.common.as_mut();
            let common = common.ok_or_else(|| Fault::internal("no common seed"))?;
            let mut changed = form.sum([own.data()]);
            let random = common.draw(form);
            if self.role == 0 {
                form.group.add(changed.data_mut(), random.data());
            } else {
                form.group.subtract(changed.data_mut(), random.data());
            }
            form.trim(changed.data_mut());
            for to in outsiders {
                send(form, &changed, to, mesh)?;
            }
        }
        Ok(results)
    }
}

/// Reads a seed of a set-up.
fn recv_seed(from: PartyId, mesh: &mut Mesh) -> Result<Seed> {
    let mut bytes = Zeroizing::new([0; Seed::BYTES]);
    mesh.recv(from, &mut bytes[..])?;
    Ok(Seed::from_bytes(&bytes))
}

/// Sends words of a form.
pub(crate) fn send(form: Form, words: &Planes<u64>, to: PartyId, mesh: &mut Mesh) -> Result<()> {
    Ok(form.pack(words.data(), |bytes| mesh.send(to, bytes))?)
}

/// Reads words of a form.
///
/// # Errors
/// [`Fault::Peer`] if bits after the last one are not zero.
pub(crate) fn recv(form: Form, from: PartyId, mesh: &mut Mesh) -> Result<Planes<u64>> {
    let words = form.unpack(|bytes| mesh.recv(from, bytes))?;
    words.ok_or_else(|| Fault::Peer {
        party: from,
        what: "bits after the end of a message are not zero".to_string(),
    })
}

/// The CPU tier, the setting, and the other party with a role.
pub(crate) type Place<'a> = (Cpu, &'a Setting, PartyId);
