//! Steps at parties with a role: their begin and their continuation.

use crate::convert::reduce;
use crate::keys::Keys;
use crate::masked::{Layouts, Recycled};
use crate::record::Spare;
use crate::role_index::{self, RoleIndex};
use crate::shuffle::{self, ShuffleProgress};
use crate::sort::SortProgress;
use crate::tape::{TapeProgress, masked};
use crate::{StepState, TrioParty, done, more};
use sealane_block::Cpu;
use sealane_net::Mesh;
use sealane_party::{Fault, Form, Progress, Result, Shares, Step, width};
use sealane_protocol::Setting;

/// A party with a role, with its keys.
pub(crate) struct Computing {
    pub(crate) setting: Setting,
    pub(crate) cpu: Cpu,
    pub(crate) role_index: RoleIndex,
    pub(crate) keys: Keys,
    pub(crate) layouts: Layouts,
    pub(crate) recycled: Recycled,
    /// Memory of records, under the profile against a malicious party.
    pub(crate) spare: Spare,
}

impl Computing {
    /// Begins any step but a settlement or an opening.
    pub(crate) fn begin<'a>(
        &mut self,
        step: Step<'a, TrioParty>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, TrioParty>> {
        match step {
            Step::Input {
                owner,
                domain,
                elements,
                bits,
                values,
            } => {
                let form = Form::of_words(domain, bits, elements)?;
                let values = values.map(|values| form.encode(&values));
                let arriving = match role_index::role(&self.setting, owner) {
                    Some(role) => self.input_of_role(role, None, form, values, mesh)?,
                    None => self.input_of_guest(owner, form)?,
                };
                Ok(more(StepState::Arriving(arriving)))
            }
            Step::Tape {
                tape,
                lanes,
                operands,
                ..
            } => Ok(ran(self.begin_tape(tape, lanes, &operands, false, mesh)?)),
            Step::Product {
                domain,
                left,
                right,
            } => {
                let product = self.product(domain, &left.gathered(), &right.gathered(), mesh)?;
                Ok(more(StepState::Arriving(product)))
            }
            Step::Convert {
                from,
                to,
                bits,
                signed,
                share,
            } => match (width(from)?, width(to)?) {
                (Some(k), None) => Ok(ran(self.decompose(k, bits, &share, mesh)?)),
                (None, Some(k)) => {
                    let inject = self.inject(k, bits, signed, &share, mesh)?;
                    Ok(more(StepState::Inject(Box::new(inject))))
                }
                (Some(k), Some(smaller)) if smaller <= k => Ok(done(reduce(k, smaller, &share)?)),
                _ => {
                    let what = format!("trio does not convert from {from:?} to {to:?}");
                    Err(Fault::Internal(what))
                }
            },
            Step::Shuffle { domain, share } => {
                let form = Form::of(domain, share.planes(), share.elements())?;
                let shuffling = self.shuffle_share(form, &share, mesh)?;
                Ok(more(StepState::Shuffle(form, Box::new(shuffling))))
            }
            Step::Sort { share, key, .. } => Ok(sorted(self.sort(&share, &key, mesh)?)),
            Step::CompareExchange { .. } => Err(Fault::internal("elements of trio meet in copies")),
            Step::Ring { .. } => Err(Fault::internal("trio has products and conversions alone")),
            Step::Settle { .. } | Step::Open { .. } => {
                Err(Fault::internal("an opening begins elsewhere"))
            }
        }
    }

    /// Continues a step that has begun.
    pub(crate) fn advance<'a>(
        &mut self,
        state: StepState<'a>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, TrioParty>> {
        match state {
            StepState::Arriving(arriving) => {
                let form = arriving.form;
                Ok(done(form.share(arriving.finish(mesh)?)))
            }
            StepState::Tape(run) => Ok(ran(self.advance_tape(run, mesh)?)),
            StepState::Masked(run) => Ok(ran(masked(self.advance_masked(run, mesh)?))),
            StepState::Inject(inject) => {
                let weighed = self.weigh(*inject, mesh)?;
                Ok(more(StepState::Weighed(Box::new(weighed))))
            }
            StepState::Weighed(weighed) => Ok(done(weighed.finish(mesh)?)),
            StepState::Shuffle(form, shuffling) => {
                Ok(match self.advance_shuffle(*shuffling, mesh)? {
                    ShuffleProgress::More(shuffling) => {
                        more(StepState::Shuffle(form, Box::new(shuffling)))
                    }
                    ShuffleProgress::Done(hidden, _) => done(shuffle::shuffled(form, hidden)?),
                })
            }
            StepState::Sort(sorting) => Ok(sorted(self.advance_sort(sorting, mesh)?)),
            _ => Err(Fault::Internal("a step of another role".to_string())),
        }
    }
}

fn sorted<'a>(sorted: SortProgress) -> Progress<'a, TrioParty> {
    match sorted {
        SortProgress::More(sorting) => more(StepState::Sort(sorting)),
        SortProgress::Done(share) => done(share),
    }
}

fn ran(ran: TapeProgress<'_>) -> Progress<'_, TrioParty> {
    match ran {
        TapeProgress::More(run) => more(StepState::Tape(run)),
        TapeProgress::Masked(run) => more(StepState::Masked(run)),
        TapeProgress::Done(share, _) => done(share),
    }
}
