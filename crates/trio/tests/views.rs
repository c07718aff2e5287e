//! Independence of each party's view from the secrets: chi-square tests of joint values, over
//! sessions of fixed seeds, and controls that the same tests must reject.
//!
//! An owner, each of the three roles in turn and one without a role, has two secret bits. They are
//! input as shared bits and as integers, the same on each of 64 lanes, so that each lane is a
//! sample; then come linear results, ANDs, products and conversions both ways. All choices of the
//! two secrets are compared with each other.
//!
//! *A party with a role* holds two components of each tensor, and of each flight it hears planes of
//! bits or integers. Jointly tested are the low bits of every four planes of tensors that it holds,
//! and each plane that it hears with every two of these: eight bits at most, in 256 cells.
//!
//! *A receiver without a role* learns `x`, `x + y`, `x y` and more, and sees of each result `r`
//! component 2 and `r` less component 2. So it is enough that the components 2 of all results are
//! jointly independent of the secrets, and that the results are right: both are tested. This is
//! stronger than privacy, which compares only secrets with equal results.
//!
//! *Significance.* A test compares `n = 2048` lanes with as many, in up to 256 cells. [`BOUND`] is
//! the upper 1e-10 point of chi-square of 255 degrees of freedom; fewer than a million such tests
//! are made here, so the seeds make a sound protocol fail with a chance of 1e-4 at most.
//!
//! *Controls* run the real protocol with coins that are not independent, and the same test rejects:
//! parties with the same coins have shares of zero that are zero, and know each other's masks; two
//! sessions of the same coins, seen as one, are one in which streams start again.
//!
//! *Limits.* Disjoint samples reach `2 n`. A parity of the eight bits which is 1 in two cases of
//! three under some secrets, and in one of three under others, adds `2 n / 9` and is found. Weaker
//! dependences may not be found, nor dependences that show only in more planes at once, or in
//! higher bits. AES and the keys that expand to components are assumed to be good. Keys are made
//! before there are secrets, and a digest is a hash of messages that its reader has received, so
//! neither is tested. The message that opens a result to one of the three is not tested either: it
//! is the one component that it lacks, which follows from the result and the components that it
//! holds.

use crate::common::chi::{BOUND, Seen, View, worst};
use crate::common::{Side, domain, parties, session, setting, tape};
use sealane_circuit::{Builder, Tape, Wire};
use sealane_parties::PartyId;
use sealane_party::{DIGEST_BYTES, Factor, Shares, Steps, Term};
use sealane_protocol::Setting;
use sealane_testkit::record::{Log, recorded};
use sealane_trio::Share;
use std::sync::Arc;

/// Sessions for each choice of secrets.
const SESSIONS: u64 = 32;
const LANES: usize = 64;
const PARTIES: usize = 5;
/// The owner of inputs without a role.
const GUEST: PartyId = PartyId(3);
/// The receiver of results without a role.
const RECEIVER: PartyId = PartyId(4);
/// Bits of the integers: a byte of a message is an element.
const K: u8 = 8;
/// Bits that are decomposed.
const LOW: usize = 3;
const SECRETS: [[u8; 2]; 4] = [[0, 0], [0, 1], [1, 0], [1, 1]];

/// The parameters of a session.
#[derive(Clone, Copy)]
struct Case {
    /// The owners of the first and of the second secret.
    owners: [PartyId; 2],
    secrets: [u8; 2],
    /// The number of the session, which makes its coins differ from those of other sessions.
    coins: u64,
    /// True if the three parties with roles have the same coins; otherwise the coins of parties
    /// differ.
    same: bool,
}

fn roles() -> Setting {
    setting(PARTIES, [1, 2, 0])
}

/// Returns the views of all parties in one session.
fn views(case: Case) -> Vec<View> {
    let setting = roles();
    let (meshes, logs) = recorded(PARTIES);
    let seed = |me: PartyId| {
        if case.same && setting.role_of(me).is_some() {
            case.coins * 8
        } else {
            case.coins * 8 + 1 + u64::from(me.0)
        }
    };
    session(&setting, &[GUEST], seed, meshes, |side| {
        let logs = &logs[side.me.index()];
        let mut watch = Watch::new(side, logs);
        watch.run(case);
        watch.view
    })
}

/// One party of a session, with its view.
struct Watch<'a> {
    side: &'a mut Side,
    logs: &'a [Log],
    view: View,
    /// Number of bytes received from each peer before this step.
    before: Vec<usize>,
}

impl<'a> Watch<'a> {
    fn new(side: &'a mut Side, logs: &'a [Log]) -> Watch<'a> {
        let mut watch = Watch {
            side,
            logs,
            view: View::default(),
            before: vec![0; PARTIES],
        };
        watch.hear();
        watch
    }

    /// Returns the bytes received from each peer since the last call.
    fn hear(&mut self) -> Vec<Vec<u8>> {
        let mut heard = vec![vec![]; PARTIES];
        for peer in self.side.mesh.peers() {
            let before = &mut self.before[peer.index()];
            let now = self.side.mesh.payload_received(peer) as usize;
            if now > *before {
                heard[peer.index()] = self.logs[peer.index()].heard()[*before..now].to_vec();
            }
            *before = now;
        }
        heard
    }

    /// Records the messages for a tensor, over bits or integers, and the components that are held:
    /// of bits every plane, of integers the lowest bit and the next.
    fn note(&mut self, name: &str, ring: bool, share: Arc<Share>) -> Arc<Share> {
        let heard = self.hear().concat();
        for (plane, lanes) in lanes_of(&heard, ring).into_iter().enumerate() {
            let name = format!("message {plane} for {name}");
            self.view.heard.push(Seen { name, lanes });
        }
        if let Some(parts) = share.components() {
            for bit in 0..if ring { 2 } else { share.planes() } {
                let low = |part: &[u64], lane: usize| {
                    if ring {
                        (part[lane] >> bit & 1) as u8
                    } else {
                        (part[bit] >> lane & 1) as u8
                    }
                };
                let lane = |lane| low(parts[0], lane) << 1 | low(parts[1], lane);
                self.view.held.push(Seen {
                    name: format!("{name}.{bit}"),
                    lanes: (0..LANES).map(lane).collect(),
                });
            }
        }
        share
    }

    /// The steps: inputs, linear results, two ANDs and two products, conversions, and a reveal.
    fn run(&mut self, case: Case) {
        let [x, y] = [0, 1].map(|i| {
            let bits = [case.secrets[i].into(); LANES];
            let share = self.side.input(case.owners[i], None, 1, &bits);
            self.note(["x", "y"][i], false, share)
        });
        let xor = self.side.tape(&gate(|b, x, y| b.xor(x, y)), &[&x, &y]);
        let xor = self.note("x^y", false, xor);
        let [and, _] = [("x&y", &y), ("x&(x^y)", &xor)].map(|(name, right)| {
            let and = self.side.tape(&gate(|b, x, y| b.and(x, y)), &[&x, right]);
            self.note(name, false, and)
        });
        let [u, v] = [0, 1].map(|i| {
            let values = [case.secrets[i].into(); LANES];
            let share = self.side.integers(case.owners[i], K, &values);
            self.note(["u", "v"][i], true, share)
        });
        let terms = [&u, &v].map(|share| Term {
            share: &**share,
            factor: Factor::Number(1),
        });
        let sum = self.side.trio.linear(domain(Some(K)), LANES, &terms);
        let sum = self.note("u+v", true, Arc::new(sum.unwrap()));
        let [product, _] = [("uv", &v), ("uu", &u)].map(|(name, right)| {
            let product = self.side.product(K, &u, right);
            self.note(name, true, product)
        });
        let [injected, _] = [("ring(x)", &x), ("ring(y)", &y)].map(|(name, bits)| {
            let injected = self.side.convert([None, Some(K)], (1, false), bits);
            self.note(name, true, injected)
        });
        let decomposed = self.side.convert([Some(K), None], (LOW, false), &u);
        let decomposed = self.note("bits(u)", false, decomposed);

        let [a, b] = case.secrets;
        let all = |value: u8| vec![value.into(); LANES];
        self.reveal(&[
            ("x", &x, false, all(a)),
            ("x^y", &xor, false, all(a ^ b)),
            ("x&y", &and, false, all(a & b)),
            ("u", &u, true, all(a)),
            ("u+v", &sum, true, all(a + b)),
            ("uv", &product, true, all(a * b)),
            ("ring(x)", &injected, true, all(a)),
            ("bits(u)", &decomposed, false, all(a)),
        ]);
    }

    /// Reveals results and checks them. The receiver gets components 2 from role 1, and records
    /// them; from role 0 it gets the results less these.
    fn reveal(&mut self, results: &[(&str, &Arc<Share>, bool, Vec<u64>)]) {
        let to = parties(1 << RECEIVER.0);
        let opened = results.iter();
        let opened = opened.map(|(_, share, ring, _)| (*share, ring.then_some(K), to));
        let learnt = self.side.reveal(&opened.collect::<Vec<_>>());
        if self.side.me != RECEIVER {
            return;
        }
        let heard = self.hear().swap_remove(roles().player(1).index());
        let mut rest = &heard[DIGEST_BYTES as usize..];
        for ((name, share, ring, value), learnt) in results.iter().zip(learnt) {
            assert_eq!(learnt.as_ref(), Some(value), "{name}");
            let bytes = LANES / 8 * share.planes() * if *ring { K.into() } else { 1 };
            let (component, after) = rest.split_at(bytes);
            rest = after;
            for (plane, lanes) in lanes_of(component, *ring).into_iter().enumerate() {
                let name = format!("component 2 of {name}.{plane}");
                self.view.held.push(Seen { name, lanes });
            }
        }
        assert!(rest.is_empty());
    }
}

/// A message by lanes: planes of bits, or the two lowest bits of integers.
fn lanes_of(message: &[u8], ring: bool) -> Vec<Vec<u8>> {
    let low = |plane: &[u8], lane: usize| {
        if ring {
            plane[lane] & 3
        } else {
            plane[lane / 8] >> (lane % 8) & 1
        }
    };
    let planes = message.chunks_exact(if ring { LANES } else { LANES / 8 });
    assert!(planes.remainder().is_empty());
    let by_lane = planes.map(|plane| (0..LANES).map(|lane| low(plane, lane)).collect());
    by_lane.collect()
}

/// A tape of one gate.
fn gate(gate: fn(&mut Builder, Wire, Wire) -> Wire) -> Tape {
    tape([1, 1], |b, [x, y]| vec![gate(b, x[0], y[0])])
}

/// The views of every party for each choice of secrets, each party's together.
fn samples(view: impl Fn(Case) -> Vec<View>, case: Case) -> Vec<[View; 4]> {
    let mut samples = vec![[(); 4].map(|()| View::default()); PARTIES];
    for (choice, secrets) in SECRETS.into_iter().enumerate() {
        for session in 0..SESSIONS {
            let coins = case.coins + session * 4 + choice as u64;
            let views = view(Case {
                secrets,
                coins,
                ..case
            });
            let parties = samples.iter_mut().zip(views);
            parties.for_each(|(sample, view)| sample[choice].extend(view));
        }
    }
    samples
}

/// Independent coins.
const HONEST: Case = Case {
    owners: [GUEST; 2],
    secrets: [0; 2],
    coins: 0,
    same: false,
};

/// For any owner, no other party's view depends on the secrets.
fn views_of_others_are_independent(owner: PartyId) {
    let owners = [owner; 2];
    let coins = u64::from(owner.0) << 32;
    let case = Case { owners, ..HONEST };
    let samples = samples(views, Case { coins, ..case });
    for (party, sample) in samples.iter().enumerate() {
        if party == owner.index() {
            continue;
        }
        // An outsider who neither owns nor learns sees nothing, and all others see something.
        let view = &sample[0];
        let sees = view.held.len() + view.heard.len() > 0;
        assert_eq!(sees, party != GUEST.index(), "party {party}");
        let (statistic, what) = worst(sample);
        assert!(statistic < BOUND, "party {party} sees {what}: {statistic}");
    }
}

#[test]
fn secrets_of_the_first_role() {
    views_of_others_are_independent(roles().player(0));
}

#[test]
fn secrets_of_the_second_role() {
    views_of_others_are_independent(roles().player(1));
}

#[test]
fn secrets_of_the_third_role() {
    views_of_others_are_independent(roles().player(2));
}

#[test]
fn secrets_of_an_outsider() {
    views_of_others_are_independent(GUEST);
}

/// The test sees a dependence at each of these parties, by far.
fn rejects(samples: impl IntoIterator<Item = [View; 4]>) {
    for (party, sample) in samples.into_iter().enumerate() {
        let (statistic, what) = worst(&sample);
        let found = statistic > 2.0 * BOUND;
        assert!(found, "view {party} of {what}: {statistic}");
    }
}

/// The three parties with roles have the same coins: all keys are equal, so shares of zero are
/// zero.
#[test]
fn without_shares_of_zero_the_test_rejects() {
    let same = true;
    let samples = samples(views, Case { same, ..HONEST });
    rejects([0, 1, 2].map(|role| samples[roles().player(role).index()].clone()));
}

/// The same coins again, and role 0 owns the first secret, role 1 the second. The mask of the first
/// equals the component of the second that role 2 draws, so role 2 can unmask it.
#[test]
fn with_masks_that_are_known_the_test_rejects() {
    let [first, second, third] = [0, 1, 2].map(|role| roles().player(role));
    let case = Case {
        owners: [first, second],
        same: true,
        ..HONEST
    };
    let inputs = |case| {
        let names = ["x.0", "y.0", "u.0", "v.0"];
        views(case).iter().map(|view| view.only(&names)).collect()
    };
    let mut samples = samples(inputs, case);
    rejects([samples.swap_remove(third.index())]);
}

/// A party's view of two sessions of the same coins, one for each secret, is that of one session
/// in which the streams of inputs and of shares of zero start again.
fn restarted(owner: PartyId, names: [&[&str]; 2]) -> Vec<[View; 4]> {
    let views = |case: Case| {
        let [one, other] = case.secrets.map(|secret| {
            let secrets = [secret; 2];
            views(Case { secrets, ..case })
        });
        let both = |(one, other): (View, View)| {
            let mut view = one.only(names[0]);
            view.held.extend(other.only(names[1]).held);
            view
        };
        one.into_iter().zip(other).map(both).collect()
    };
    let owners = [owner; 2];
    samples(views, Case { owners, ..HONEST })
}

/// Role 2 gets the masked part of the inputs of role 0; of an outsider's inputs, roles 1 and 2 get
/// it, and the receiver as component 2 of a result.
#[test]
fn with_restarted_masks_the_test_rejects() {
    let [first, second, third] = [0, 1, 2].map(|role| roles().player(role));
    let names = ["x.0", "u.0", "component 2 of x.0", "component 2 of u.0"];
    let cases = [(first, vec![third]), (GUEST, vec![second, third, RECEIVER])];
    for (owner, readers) in cases {
        let samples = restarted(owner, [&names, &names]);
        rejects(readers.iter().map(|reader| samples[reader.index()].clone()));
    }
}

/// Role 0 holds masks alone of an outsider's inputs, so it sees the secrets through products.
#[test]
fn with_restarted_shares_of_zero_the_test_rejects() {
    let first = roles().player(0).index();
    for names in [["x.0", "y.0", "x&y.0"], ["u.0", "v.0", "uv.0"]] {
        let samples = restarted(GUEST, [&names, &names[2..]]);
        rejects([samples[first].clone()]);
        let inputs = restarted(GUEST, [&names[..2], &names[..2]]);
        assert!(worst(&inputs[first]).0 < BOUND);
    }
}
