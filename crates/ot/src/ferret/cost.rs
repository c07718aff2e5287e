//! Messages of the protocol, as plans count them.

use super::check::{POINT_BYTES, PROOF_BYTES, SHIFT_BYTES};
use super::keys::NONCE_BYTES;
use super::params::{Lpn, Noise, Params};
use crate::traits::CotCost;
use crate::transcript::DIGEST_BYTES;
use crate::{Flight, Flights, Security, then};

/// Cost of Ferret on a source of correlated OTs.
#[derive(Clone, Copy, Debug)]
pub struct FerretCost<C> {
    /// Cost of the source, which the set-up uses alone.
    pub source: C,
    /// Parameters of the extension.
    pub params: Params,
}

impl<C: CotCost> FerretCost<C> {
    /// Messages of a set-up in step with that of the other direction, up to the end of the first
    /// main iteration. Contributions to keys and what the source says share its last flight.
    pub fn set_up_in_step(&self) -> Flights {
        let taken = self.params.from_source() as u64;
        let mut flights = self.source.set_up();
        let said = Flight::new(NONCE_BYTES, NONCE_BYTES);
        let extended = self.source.extend(0, taken).into_iter();
        let all = extended.fold(said, |all, next| {
            Flight::new(
                all.from_sender + next.from_sender,
                all.from_receiver + next.from_receiver,
            )
        });
        match flights.last_mut() {
            Some(last) => {
                last.from_sender += all.from_sender;
                last.from_receiver += all.from_receiver;
            }
            None => flights.push(all),
        }
        let first = iterations(&self.params, &self.params.first, 1);
        let main = iterations(&self.params, &self.params.main, 1);
        flights.extend(then(first, main));
        flights
    }
}

impl<C: CotCost> CotCost for FerretCost<C> {
    fn set_up(&self) -> Flights {
        let mut flights = self.source.set_up();
        flights.push(Flight::new(NONCE_BYTES, NONCE_BYTES));
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

/// Bytes by which a receiver moves the paths of an iteration to places of its own: a bit for each
/// level of each tree, in whole blocks.
pub(super) fn path_bytes(lpn: &Lpn) -> u64 {
    match lpn.noise() {
        Noise::Regular => 0,
        Noise::Uniform => 16 * lpn.levels().div_ceil(128) as u64,
    }
}

/// Messages of a number of iterations. One that goes the way of the message before is in the same
/// flight.
fn iterations(params: &Params, lpn: &Lpn, count: u64) -> Flights {
    let digest = DIGEST_BYTES as u64;
    let check = match params.security() {
        Security::SemiHonest => [0, 0],
        Security::Malicious => [POINT_BYTES + SHIFT_BYTES + digest, PROOF_BYTES + digest],
    };
    let trees = 16 * lpn.levels() as u64;
    let mut flights = Flights::new();
    for _ in 0..count {
        for (from_receiver, from_sender) in [
            (path_bytes(lpn), 0),
            (0, trees),
            (check[0], 0),
            (0, check[1]),
        ] {
            let next = Flight::new(from_sender, from_receiver);
            match flights.last_mut() {
                _ if next == Flight::default() => {}
                Some(last) if (last.from_sender > 0) == (from_sender > 0) => {
                    last.from_sender += from_sender;
                    last.from_receiver += from_receiver;
                }
                _ => flights.push(next),
            }
        }
    }
    flights
}
