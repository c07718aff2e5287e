//! Parties without a role: they own inputs or learn results, and otherwise only count flights.

use crate::Share;
use crate::input;
use crate::keys::Key;
use crate::{TrioParty, cost, watch};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{Fault, Form, Progress, Result, Shares, Step, width};
use sealane_protocol::Setting;

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
    ) -> Result<Progress<'a, TrioParty>> {
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
                    let keys = self.keys.as_mut().ok_or_else(|| {
                        Fault::Internal("no keys for this party's inputs".to_string())
                    })?;
                    let values = values.map(|values| form.encode(&values));
                    input::give(&self.setting, keys, form, values, mesh)?;
                }
                form.shape()
            }
            Step::Tape { tape, lanes, .. } => Form::bits(tape.outputs.len(), lanes).shape(),
            Step::Product { domain, left, .. } => Form::of(domain, 1, left.lanes())?.shape(),
            Step::Convert {
                to, bits, share, ..
            } => {
                let planes = if width(to)?.is_some() { 1 } else { bits };
                Form::of(to, planes, share.elements())?.shape()
            }
            Step::Shuffle { share, .. } | Step::Sort { share, .. } => {
                Share::zeros(share.planes(), share.elements())
            }
            Step::Ring { .. } => {
                return Err(Fault::internal("trio has products and conversions alone"));
            }
            Step::CompareExchange { .. } => {
                return Err(Fault::internal("elements of trio meet in copies"));
            }
            Step::Settle { .. } | Step::Open { .. } => {
                return Err(Fault::internal("an opening begins elsewhere"));
            }
        };
        let flights = cost::cost(&self.setting, &work).flights.len();
        Ok(watch(flights, shape))
    }
}
