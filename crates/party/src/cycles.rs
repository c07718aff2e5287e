//! Sequential circuits by the steps of a protocol: a step for each cycle, all with the same tape.
//!
//! Between two cycles a party holds its part of the flip-flops and of the held inputs, so
//! its memory does not grow with the number of cycles. The cost of a run is that of its steps.

use crate::fault::{Fault, Result};
use crate::run::{Steps, run_alone};
use crate::share::Shares;
use crate::step::{Outcome, Step};
use sealane_circuit::{CycleTape, Source};
use sealane_net::Mesh;
use sealane_protocol::Domain;
use std::sync::Arc;

/// A run of a sequential circuit, on lanes side by side, at one party.
pub struct CycleRun<'a, W: Steps> {
    tape: &'a CycleTape,
    domain: Domain,
    lanes: usize,
    state: Arc<W::Share>,
    held: Arc<W::Share>,
}

impl<'a, W: Steps> CycleRun<'a, W> {
    /// Begins a run. `held` has a plane for each held bit and an element for each of the `lanes`.
    /// Sends no message.
    ///
    /// # Errors
    /// [`Fault::Internal`] if `held` has another size.
    pub fn new(
        tape: &'a CycleTape,
        domain: Domain,
        lanes: usize,
        held: W::Share,
        party: &mut W,
    ) -> Result<CycleRun<'a, W>> {
        if held.planes() != tape.held.len() || (held.elements() != lanes && held.planes() > 0) {
            return Err(Fault::internal("held inputs of another size"));
        }
        let constants: Vec<bool> = tape.constants().collect();
        let mut constant = |bit: bool| party.constant(domain, 1, &vec![u64::from(bit); lanes]);
        let planes = tape.sources().map(|source| match source {
            Source::Constant(index) => constant(constants[index]),
            Source::Held(bit) => held.resize(bit, 1, false),
        });
        let planes: Vec<W::Share> = planes.collect();
        let state = if planes.is_empty() {
            W::Share::zeros(0, lanes)
        } else {
            W::Share::concatenate(&planes.iter().collect::<Vec<_>>())
        };
        Ok(CycleRun {
            tape,
            domain,
            lanes,
            state: Arc::new(state),
            held: Arc::new(held),
        })
    }

    /// Runs the next cycle with no other step under way, and returns the outputs, a plane for each
    /// bit. The planes of all `fresh` shares, one after the other, are the fresh bits.
    ///
    /// # Errors
    /// The errors of the step; the run cannot go on.
    pub fn cycle(
        &mut self,
        fresh: &[Arc<W::Share>],
        party: &mut W,
        mesh: &mut Mesh,
    ) -> Result<W::Share> {
        let planes: usize = fresh.iter().map(|share| share.planes()).sum();
        let even = fresh.iter().all(|share| share.elements() == self.lanes);
        if planes != self.tape.fresh.len() || !even {
            return Err(Fault::internal("a cycle takes a plane for each fresh bit"));
        }
        let mut operands = vec![self.state.clone(), self.held.clone()];
        operands.extend(fresh.iter().cloned());
        let step = Step::Tape {
            tape: &self.tape.tape,
            domain: self.domain,
            lanes: self.lanes,
            operands,
        };
        let Outcome::Share(all, ..) = run_alone(party, mesh, step, None)? else {
            return Err(Fault::internal("a tape makes a share"));
        };
        let state = self.tape.initial.len();
        self.state = Arc::new(all.resize(0, state, false));
        Ok(all.resize(state, self.tape.outputs.len(), false))
    }
}
