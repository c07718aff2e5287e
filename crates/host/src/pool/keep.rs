//! A pool that is kept filled: both parties stay, and make more once runs have used it.
//!
//! Of the two parties one listens, at its port for pools, so that it is in no run's way. The other
//! dials as soon as its pool holds too little, and every minute besides, since that of the party
//! that listens may hold less. When they meet, each sees what both hold, and both decide alike.
//! After a fault of the network the one that dials tries again, each time after a longer pause.
//! Between two fills nobody holds a lock, so that runs take from the pool.

use super::fill;
use crate::Failure;
use crate::connect::Meeting;
use sealane_diagnostic::{Code, FailureKind};
use sealane_pool::{Order, Role};
use std::thread;
use std::time::{Duration, Instant};

/// Longest time between two meetings.
const VISIT: Duration = Duration::from_secs(60);

/// Pause between two looks at the pool.
const LOOK: Duration = Duration::from_millis(500);

/// Pause between two looks at the token of cancellation.
const NAP: Duration = Duration::from_millis(50);

/// Pause after the first failure; each further one doubles it, up to [`VISIT`].
const FIRST_REST: Duration = Duration::from_secs(1);

/// A pool that is kept filled, at one party.
pub struct Keeper<'a> {
    /// The meetings with the other party.
    pub meeting: &'a Meeting,
    /// Amount that a fill makes.
    pub order: Order,
    /// Batches for each party that may evaluate, below which the pool is filled.
    pub least: u64,
}

/// Events of a pool that is kept.
pub enum News<'a> {
    /// The parties have met and made so many batches.
    Met(u64),
    /// A meeting failed, and the next one is tried after this time.
    Failed(&'a Failure, Duration),
}

impl Keeper<'_> {
    /// Stays until the meeting is cancelled.
    ///
    /// # Errors
    /// A failure that time does not mend: the other party keeps another amount, failed a check or
    /// has another key; the pool cannot be used or holds as many fills as it can.
    pub fn keep(&self, news: &mut dyn FnMut(News<'_>)) -> Result<(), Failure> {
        let cancel = self.meeting.cancel();
        let dials = self.meeting.me().0 > 0;
        let mut rest = FIRST_REST;
        while !cancel.is_cancelled() {
            match fill(self.meeting, self.order, Some(self.least), &mut |_| ()) {
                Ok(made) => {
                    rest = FIRST_REST;
                    news(News::Met(made));
                    if dials {
                        self.wait_for_need()?;
                    }
                }
                Err(_) if cancel.is_cancelled() => break,
                Err(failure) if !passes(&failure) => return Err(failure),
                Err(failure) if !dials && failure.finding().code == Code::Unreachable => {
                    // The other party has nothing to come for, unless this one lacks something.
                    if self.lacks()? {
                        news(News::Failed(&failure, Duration::ZERO));
                    }
                }
                Err(failure) => {
                    news(News::Failed(&failure, rest));
                    self.wait(rest, || Ok(false))?;
                    rest = (2 * rest).min(VISIT);
                }
            }
        }
        Ok(())
    }

    /// Waits until this party's pool holds too little, or the next visit is due.
    fn wait_for_need(&self) -> Result<(), Failure> {
        let mut looked = Instant::now();
        self.wait(VISIT, || {
            if looked.elapsed() < LOOK {
                return Ok(false);
            }
            looked = Instant::now();
            self.lacks()
        })
    }

    /// Waits for this time, or until `over` says so, or the meeting is cancelled.
    fn wait(
        &self,
        time: Duration,
        mut over: impl FnMut() -> Result<bool, Failure>,
    ) -> Result<(), Failure> {
        let began = Instant::now();
        while began.elapsed() < time && !self.meeting.cancel().is_cancelled() && !over()? {
            thread::sleep(NAP);
        }
        Ok(())
    }

    /// Returns whether this party's pool holds too little for a party that may evaluate.
    fn lacks(&self) -> Result<bool, Failure> {
        let pool = self.meeting.pool().expect("a pair has a pool");
        for (party, batches) in self.order.batches.iter().enumerate() {
            let is_own = party == self.meeting.me().index();
            let role = if is_own { Role::Receiver } else { Role::Sender };
            if *batches > 0 {
                match pool.count(role) {
                    Ok(count) if count.left < self.least => return Ok(true),
                    Ok(_) => {}
                    // A run takes from it right now.
                    Err(finding) if finding.code == Code::PoolBusy => {}
                    Err(finding) => return Err(finding.into()),
                }
            }
        }
        Ok(false)
    }
}

/// Returns whether a failure may pass by itself.
fn passes(failure: &Failure) -> bool {
    use Code::{PeerCancelled, PeerFinished, PeerGaveUp, PoolBusy};
    let passing = [PeerCancelled, PeerFinished, PeerGaveUp, PoolBusy];
    failure.kind() == FailureKind::Network || passing.contains(&failure.finding().code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, Party};
    use crate::connect::prepare_pair;
    use crate::pool::with;
    use sealane_identity::Identity;
    use sealane_net::Cancel;
    use sealane_parties::NetworkClass;
    use std::path::Path;
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

    /// Configuration of two parties on ports of loopback, each with a folder of its own.
    fn configs(folder: &Path) -> [Config; 2] {
        let identities = ["a", "b"].map(|name| {
            let (identity, file) = (Identity::generate(), folder.join(format!("{name}.key")));
            identity.save(&file).unwrap();
            let ports = [0, 0].map(|_| sealane_net::free_loopback_port().unwrap());
            (name, identity.public_key(), file, ports)
        });
        let parties = identities.map(|(name, key, file, [port, pool_port])| {
            let party = Party {
                address: format!("127.0.0.1:{port}"),
                listen: None,
                pool_port: pool_port.try_into().ok(),
                key,
                identity: Some(file),
            };
            (name.to_string(), party)
        });
        ["a", "b"].map(|own| Config {
            parties: parties.clone().into(),
            me: Some(own.to_string()),
            pools: folder.join(own),
            timeout: Some(Duration::from_secs(20)),
            wait: Some(Duration::from_millis(300)),
            ..Config::default()
        })
    }

    /// Waits for a moment that has to come. If it does not, those who would wait for ever are
    /// cancelled first, since the test ends after them.
    fn until(cancels: &[Cancel], what: &str, there: impl Fn() -> bool) {
        let began = Instant::now();
        while !there() {
            if began.elapsed() > Duration::from_secs(30) {
                cancels.iter().for_each(Cancel::cancel);
                panic!("{what}");
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn a_pool_is_filled_when_runs_have_used_it_and_after_faults() {
        let folder = tempfile::tempdir().unwrap();
        let configs = configs(folder.path());
        let names = [["a", "b"], ["b", "a"]];
        let pools = [0, 1].map(|at| with(names[at][0], names[at][1], &configs[at], None).unwrap());
        let order = Order {
            batches: [2, 0],
            network: NetworkClass::LAN,
        };
        // Party 0 is the one that listens.
        let meetings = [0, 1].map(|at| prepare_pair(names[at], &configs[at], None).unwrap());
        let listens = usize::from(meetings[1].me().0 == 0);
        let role = |at: usize| [Role::Sender, Role::Receiver][usize::from(at == listens)];
        let left = |at: usize| pools[at].count(role(at)).unwrap().left;
        let [failed, made] = [AtomicU64::new(0), AtomicU64::new(0)];
        let cancels = [(); 3].map(|()| Cancel::default());
        let keep = |at: usize, cancel: &Cancel| {
            let mut meeting = prepare_pair(names[at], &configs[at], None).unwrap();
            meeting.cancelled_by(cancel);
            let (meeting, least) = (&meeting, 3);
            let keeper = Keeper {
                meeting,
                order,
                least,
            };
            let end = keeper.keep(&mut |news| match news {
                News::Met(batches) => _ = made.fetch_add(batches, SeqCst),
                News::Failed(..) => _ = failed.fetch_add(1, SeqCst),
            });
            end.unwrap_or_else(|failure| panic!("{failure}"));
        };
        // A run takes two batches, which both have to let it take.
        let run = || {
            let offers = [0, 1].map(|at| pools[at].offer().unwrap());
            for at in [0, 1] {
                let taken = pools[at].take(&[(role(at), 2)], &offers[at], &offers[1 - at]);
                let (_, taken) = taken.unwrap_or_else(|finding| panic!("{finding}"));
                pools[at].finish(&taken).unwrap();
            }
        };
        thread::scope(|scope| {
            let dials = scope.spawn(|| keep(1 - listens, &cancels[0]));
            // The other one is not there yet.
            until(&cancels, "a failure", || failed.load(SeqCst) > 0);
            scope.spawn(|| keep(listens, &cancels[1]));
            // Two fills reach the least number.
            until(&cancels, "a fill", || [0, 1].map(left) == [4, 4]);
            run();
            until(&cancels, "another fill", || [0, 1].map(left) == [4, 4]);
            assert_eq!(made.load(SeqCst), 2 * 6);
            // One is ended and begins again, while the other stays.
            cancels[0].cancel();
            dials.join().expect("no panic");
            run();
            scope.spawn(|| keep(1 - listens, &cancels[2]));
            until(&cancels, "a fill after the pause", || {
                [0, 1].map(left) == [4, 4]
            });
            cancels.iter().for_each(Cancel::cancel);
        });
    }

    #[test]
    fn failures_that_time_does_not_mend_end_it() {
        let failure = |code| Failure::new(code, "", "");
        for code in [Code::Unreachable, Code::PeerVanished, Code::PeerCancelled] {
            assert!(passes(&failure(code)), "{code}");
        }
        use Code::{PeerDeviated, PoolDiffers, PoolFull, WrongKey};
        for code in [PoolDiffers, PeerDeviated, PoolFull, WrongKey] {
            assert!(!passes(&failure(code)), "{code}");
        }
    }
}
