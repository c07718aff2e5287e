//! Parties without a role: they own inputs or learn results, and otherwise only count flights.

use crate::form::{Form, width};
use crate::input;
use crate::keys::Key;
use crate::{Trio, cost, watch};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_protocol::{Fault, Progress, Setting, Shares, Step, StepShape};

/// A party without a role.
pub(crate) struct Outside {
    pub(crate) setting: Setting,
    pub(crate) me: PartyId,
    /// The keys of components 0 and 1, if it owns inputs.
    pub(crate) keys: Option<[Key; 2]>,
}

impl Outside {
    /// Begins any step but a reveal: waits as many flights as the step costs.
    pub(crate) fn begin<'a>(
        &mut self,
        step: Step<'a, Trio>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Trio>, Fault> {
        let flights = |work| cost::cost(&self.setting, &work).flights.len();
        match step {
            Step::Input {
                owner,
                domain,
                elements,
                planes,
                bits,
            } => {
                let form = Form::of_bits(domain, planes, elements)?;
                let flights = flights(StepShape::Input {
                    owner,
                    domain,
                    elements: elements as u64,
                    bits: planes as u64,
                });
                if owner == self.me {
                    let keys = self.keys.as_mut().ok_or_else(|| {
                        Fault::Internal("no keys for this party's inputs".to_string())
                    })?;
                    let values = bits.map(|bits| form.encode(&bits));
                    input::give(&self.setting, keys, form, values, mesh)?;
                }
                Ok(watch(flights, form.shape()))
            }
            Step::Tape { tape, lanes, .. } => {
                let form = Form::bits(tape.outputs.len(), lanes);
                let work = StepShape::Tape {
                    tape,
                    lanes: lanes as u64,
                };
                Ok(watch(flights(work), form.shape()))
            }
            Step::Product { domain, left, .. } => {
                let form = Form::of(domain, 1, left.elements())?;
                let work = StepShape::Product {
                    domain,
                    lanes: left.elements() as u64,
                    terms: left.planes() as u64,
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
            Step::Reveal { .. } => Err(Fault::Internal("a reveal begins elsewhere".to_string())),
        }
    }
}
