//! Messages of the protocol, as plans count them.

use super::check::{POINT_BYTES, PROOF_BYTES, SHIFT_BYTES};
use super::keys::NONCE_BYTES;
use super::params::{Lpn, Params};
use crate::Security;
use crate::traits::CotCost;
use crate::{Flight, Flights};

/// Cost of Ferret on a source of correlated OTs.
#[derive(Clone, Copy, Debug)]
pub struct FerretCost<C> {
    /// Cost of the source, which the set-up uses alone.
    pub source: C,
    /// Parameters of the extension.
    pub params: Params,
}

impl<C: CotCost> CotCost for FerretCost<C> {
    fn set_up(&self) -> Flights {
        let mut flights = self.source.set_up();
        flights.push(Flight {
            from_sender: NONCE_BYTES,
            from_receiver: NONCE_BYTES,
        });
        let taken = self.params.from_source() as u64;
        flights.extend(self.source.extend(0, taken));
        flights.extend(iterations(&self.params, &self.params.first, 1));
        flights
    }

    fn extend(&self, before: u64, count: u64) -> Flights {
        let given = self.params.given() as u64;
        let runs = (before + count).div_ceil(given) - before.div_ceil(given);
        iterations(&self.params, &self.params.main, runs)
    }
}

/// Messages of a number of iterations. A sender goes on to the next one right after its proof.
fn iterations(params: &Params, lpn: &Lpn, count: u64) -> Flights {
    let trees = 16 * lpn.levels() as u64;
    let from_sender = |bytes| Flight {
        from_sender: bytes,
        from_receiver: 0,
    };
    match (count, params.security()) {
        (0, _) => Flights::new(),
        (_, Security::SemiHonest) => vec![from_sender(count * trees)],
        (_, Security::Malicious) => {
            let mut flights = vec![from_sender(trees)];
            for left in (0..count).rev() {
                flights.push(Flight {
                    from_sender: 0,
                    from_receiver: POINT_BYTES + SHIFT_BYTES,
                });
                let next = if left > 0 { trees } else { 0 };
                flights.push(from_sender(PROOF_BYTES + next));
            }
            flights
        }
    }
}
