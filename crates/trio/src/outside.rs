//! Parties without a role: they own inputs or learn results, and otherwise only count flights.

use crate::form::{Form, width};
use crate::input;
use crate::keys::Key;
use crate::share::Share;
use crate::{TrioParty, cost, watch};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{Fault, Progress, Shares, Step};
use sealane_protocol::{Setting, StepShape};

/// A party without a role.
pub(crate) struct Outside {
    pub(crate) setting: Setting,
    pub(crate) me: PartyId,
    /// The keys of components 0 and 1, if it owns inputs.
    pub(crate) keys: Option<[Key; 2]>,
}

impl Outside {
    /// Begins any step but a settlement or an opening: waits as many flights as the step costs.
    pub(crate) fn begin<'a>(
        &mut self,
        step: Step<'a, TrioParty>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, TrioParty>, Fault> {
        let flights = |work| cost::cost(&self.setting, &work).flights.len();
        match step {
            Step::Input {
                owner,
                domain,
                elements,
                bits,
                values,
            } => {
                let form = Form::of_words(domain, bits, elements)?;
                let flights = flights(StepShape::Input {
                    owner,
                    domain,
                    elements: elements as u64,
                    bits: bits as u64,
                });
                if owner == self.me {
                    let keys = self.keys.as_mut().ok_or_else(|| {
                        Fault::Internal("no keys for this party's inputs".to_string())
                    })?;
                    let values = values.map(|values| form.encode(&values));
                    input::give(&self.setting, keys, form, values, mesh)?;
                }
                Ok(watch(flights, form.shape()))
            }
            Step::Tape {
                tape,
                domain,
                lanes,
                ..
            } => {
                let form = Form::bits(tape.outputs.len(), lanes);
                let work = StepShape::Tape {
                    tape,
                    domain,
                    lanes: lanes as u64,
                };
                Ok(watch(flights(work), form.shape()))
            }
            Step::Product {
                domain,
                left,
                right,
            } => {
                let form = Form::of(domain, 1, left.lanes())?;
                let work = StepShape::Product {
                    domain,
                    lanes: left.lanes() as u64,
                    terms: left.planes() as u64,
                    distinct: [left.distinct(), right.distinct()],
                };
                Ok(watch(flights(work), form.shape()))
            }
            Step::Convert {
                from,
                to,
                bits,
                signed,
                share,
            } => {
                let planes = if width(to)?.is_some() { 1 } else { bits };
                let form = Form::of(to, planes, share.elements())?;
                let work = StepShape::Convert {
                    from,
                    to,
                    elements: share.elements() as u64,
                    bits: bits as u64,
                    signed,
                };
                Ok(watch(flights(work), form.shape()))
            }
            Step::Shuffle { domain, share } => {
                let (rows, planes) = (share.elements(), share.planes());
                let work = StepShape::Shuffle {
                    domain,
                    rows: rows as u64,
                    planes: planes as u64,
                };
                Ok(watch(flights(work), Share::zeros(planes, rows)))
            }
            Step::Sort { domain, share, key } => {
                let (rows, planes) = (share.elements(), share.planes());
                let work = StepShape::Sort {
                    domain,
                    rows: rows as u64,
                    planes: planes as u64,
                    key_bits: key.len() as u64,
                };
                Ok(watch(flights(work), Share::zeros(planes, rows)))
            }
            Step::Meet { .. } => Err(Fault::internal("elements of trio meet in copies")),
            Step::Settle { .. } | Step::Open { .. } => {
                Err(Fault::internal("an opening begins elsewhere"))
            }
        }
    }
}
