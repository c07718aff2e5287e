//! What each party sees does not depend on the secrets: chi-square tests of joint values, over
//! sessions of fixed seeds, and controls that the same tests must reject.
//!
//! An owner, each of the three roles in turn and one without a role, has two secret bits. They are
//! input as shared bits and as integers, the same on each of 64 lanes, so that each lane is a
//! sample; then come linear results, ANDs, products and conversions both ways. All choices of the
//! two secrets are compared with each other.
//!
//! *A party with a role* holds two components of each tensor, and of each flight it hears planes of
//! bits or integers. Jointly tested are the low bits of every four tensors that it holds, and each
//! plane that it hears with every two tensors: in each case eight bits, 256 cells.
//!
//! *A receiver without a role* learns `x`, `x + y`, `x y` and more, and sees of each result `r`
//! component 2 and `r` less component 2. So it is enough that the components 2 of all results are
//! jointly independent of the secrets, and that the results are right: both are tested. The first
//! is more than what privacy asks for, which is to compare secrets of equal results.
//!
//! *Significance.* Both samples of a test have `n` lanes, and the statistic is the sum over cells of
//! `(a - b)^2 / (a + b)`: chi-square of 255 degrees of freedom at most, fewer if cells are
//! impossible. [`BOUND`] is its upper 1e-10 point (from the regularised incomplete gamma function);
//! there are fewer than 500,000 tests here, so seeds that make a sound protocol fail have a chance
//! of 5e-5.
//!
//! *What this cannot see.* Disjoint samples reach `2 n`, so with `n = 2048` a parity of eight bits
//! that tells a secret in about two cases of three is found, and weaker leaks are not, nor those
//! that need more values at once, or higher bits. The components take their randomness from
//! AES, which is taken for granted. Keys are made before there are secrets, and digests are hashes
//! of what their reader sent or heard, so neither is among the bytes that are tested. One seed for
//! each session stands for honest coins.

mod common;

use common::{Side, domain, parties, planes_of, session, setting};
use sealane_circuit::{Builder, Machine, Tape, Wire, compile};
use sealane_net::{Frame, FrameKind, Limits, Mesh, PartyId, Recorder, Transport, memory_pair};
use sealane_protocol::{DIGEST_BYTES, Factor, Protocol, Setting, Shares, Term};
use sealane_trio::Share;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// Sessions for each choice of secrets.
const SESSIONS: u64 = 32;
const LANES: usize = 64;
const PARTIES: usize = 5;
/// Owns inputs without a role.
const GUEST: PartyId = PartyId(3);
/// Learns results without a role.
const RECEIVER: PartyId = PartyId(4);
/// Bits of the integers: a byte of a message is an element.
const K: u8 = 8;
/// Bits that are decomposed.
const LOW: usize = 3;
const SECRETS: [[u8; 2]; 4] = [[0, 0], [0, 1], [1, 0], [1, 1]];
/// Chi-square of 255 degrees of freedom lies above this with a chance of 1e-10.
const BOUND: f64 = 425.93;

/// What one party sees of one thing: for each lane of all sessions, at most two bits.
#[derive(Clone)]
struct Seen {
    name: String,
    lanes: Vec<u8>,
}

/// What one party sees: components that it holds, and what it hears.
#[derive(Clone, Default)]
struct View {
    held: Vec<Seen>,
    heard: Vec<Seen>,
}

impl View {
    /// Adds further sessions of the same kind.
    fn extend(&mut self, other: View) {
        for (mine, theirs) in [(&mut self.held, other.held), (&mut self.heard, other.heard)] {
            if mine.is_empty() {
                *mine = theirs;
                continue;
            }
            assert_eq!(mine.len(), theirs.len());
            let pairs = mine.iter_mut().zip(theirs);
            pairs.for_each(|(mine, theirs)| mine.lanes.extend(theirs.lanes));
        }
    }

    /// What is held of these names alone.
    fn only(&self, names: &[&str]) -> View {
        let named = |seen: &&Seen| names.contains(&seen.name.as_str());
        View {
            held: self.held.iter().filter(named).cloned().collect(),
            heard: vec![],
        }
    }
}

/// What a [`Recorder`] writes, shared with whoever reads it.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// The payload that was received.
    fn heard(&self) -> Vec<u8> {
        let log = self.0.lock().unwrap();
        let (mut rest, mut heard) = (&log[8..], vec![]);
        while let Some((direction, after)) = rest.split_first() {
            rest = after;
            let frame = Frame::decode(&mut rest).unwrap();
            if *direction == b'<' && matches!(frame.kind, FrameKind::Data { .. }) {
                heard.extend(frame.payload);
            }
        }
        heard
    }
}

/// A recorded mesh in memory; and for each party, its logs by peer.
fn recorded() -> (Vec<Mesh>, Vec<Vec<Log>>) {
    let limits = Limits::default();
    let mut ends: Vec<Vec<Option<Box<dyn Transport>>>> = vec![];
    ends.resize_with(PARTIES, || (0..PARTIES).map(|_| None).collect());
    let mut logs = vec![vec![Log::default(); PARTIES]; PARTIES];
    for one in 0..PARTIES {
        for other in 0..one {
            let (a, b) = memory_pair(&limits);
            for (me, peer, end) in [(one, other, a), (other, one, b)] {
                logs[me][peer] = Log::default();
                let recorder = Recorder::new(Box::new(end), logs[me][peer].clone()).unwrap();
                ends[me][peer] = Some(Box::new(recorder));
            }
        }
    }
    let mesh = |(me, ends)| Mesh::from_transports(PartyId::from_index(me), ends, limits).unwrap();
    (ends.into_iter().enumerate().map(mesh).collect(), logs)
}

/// What a session is about.
#[derive(Clone, Copy)]
struct Case {
    /// Of the first and of the second secret.
    owners: [PartyId; 2],
    secrets: [u8; 2],
    /// Coins differ between sessions of different numbers,
    coins: u64,
    /// and between parties, unless the three with roles toss the same ones.
    same: bool,
}

fn roles() -> Setting {
    setting(PARTIES, [1, 2, 0])
}

/// The views of all parties in one session.
fn views(case: Case) -> Vec<View> {
    let setting = roles();
    let (meshes, logs) = recorded();
    let seed = |me: PartyId| match case.same && setting.roles.contains(&me) {
        true => case.coins * 8,
        false => case.coins * 8 + 1 + u64::from(me.0),
    };
    session(&setting, &[GUEST], seed, meshes, |side| {
        let logs = &logs[side.me.index()];
        let mut watch = Watch::new(side, logs);
        watch.run(case);
        watch.view
    })
}

/// One party of a session, and what it has seen.
struct Watch<'a> {
    side: &'a mut Side,
    logs: &'a [Log],
    view: View,
    /// How much was received from each peer before this step.
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

    /// What has been received from each peer since this was asked last.
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

    /// Notes what was heard for a tensor, over bits or integers, and what is held of it: of bits
    /// every plane, of integers the lowest bit and the next.
    fn note(&mut self, name: &str, ring: bool, share: Arc<Share>) -> Arc<Share> {
        let heard = self.hear().concat();
        for (plane, lanes) in lanes_of(&heard, ring).into_iter().enumerate() {
            let name = format!("message {plane} for {name}");
            self.view.heard.push(Seen { name, lanes });
        }
        if let Some(parts) = share.components() {
            for bit in 0..if ring { 2 } else { share.planes() } {
                let low = |part: &[u64], lane: usize| match ring {
                    true => (part[lane] >> bit & 1) as u8,
                    false => (part[bit] >> lane & 1) as u8,
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
            let bits = [case.secrets[i]; LANES];
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
            let injected = self.side.convert(None, Some(K), 1, false, bits);
            self.note(name, true, injected)
        });
        let decomposed = self.side.convert(Some(K), None, LOW, false, &u);
        let decomposed = self.note("bits(u)", false, decomposed);

        let [a, b] = case.secrets;
        let bits = |value: u8| vec![value; LANES];
        let ring = |value: u8| planes_of(&[value.into(); LANES], K.into());
        self.reveal(&[
            ("x", &x, false, bits(a)),
            ("x^y", &xor, false, bits(a ^ b)),
            ("x&y", &and, false, bits(a & b)),
            ("u", &u, true, ring(a)),
            ("u+v", &sum, true, ring(a + b)),
            ("uv", &product, true, ring(a * b)),
            ("ring(x)", &injected, true, ring(a)),
            (
                "bits(u)",
                &decomposed,
                false,
                planes_of(&[a.into(); LANES], LOW),
            ),
        ]);
    }

    /// Reveals results, which are as stated. What the receiver hears from role 1 are components 2,
    /// and it notes them; what it hears from role 0 is the results less these.
    fn reveal(&mut self, results: &[(&str, &Arc<Share>, bool, Vec<u8>)]) {
        let to = parties(1 << RECEIVER.0);
        let opened = results
            .iter()
            .map(|(_, share, ring, _)| (*share, ring.then_some(K), to));
        let learnt = self.side.reveal(&opened.collect::<Vec<_>>());
        if self.side.me != RECEIVER {
            return;
        }
        let heard = self.hear().swap_remove(roles().roles[1].index());
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
    let low = |plane: &[u8], lane: usize| match ring {
        true => plane[lane] & 3,
        false => plane[lane / 8] >> (lane % 8) & 1,
    };
    let planes = message.chunks_exact(if ring { LANES } else { LANES / 8 });
    assert!(planes.remainder().is_empty());
    planes
        .map(|plane| (0..LANES).map(|lane| low(plane, lane)).collect())
        .collect()
}

/// A tape of one gate.
fn gate(gate: fn(&mut Builder, Wire, Wire) -> Wire) -> Tape {
    let mut b = Builder::new();
    let (x, y) = (b.input(1), b.input(1));
    let output = gate(&mut b, x[0], y[0]);
    compile(&b.finish(vec![vec![output]]), &Machine::ROUNDS)
}

/// The views of every party for each choice of secrets, each party's together.
fn samples(sessions: u64, view: impl Fn(Case) -> Vec<View>, case: Case) -> Vec<[View; 4]> {
    let mut samples = vec![[(); 4].map(|()| View::default()); PARTIES];
    for (choice, secrets) in SECRETS.into_iter().enumerate() {
        for session in 0..sessions {
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

/// The largest statistic of all tests, and of what: every four tensors that are held, and every
/// message with every two of them.
fn worst(samples: &[View; 4]) -> (f64, String) {
    let held = samples[0].held.len();
    let mut pairs = vec![];
    for second in 0..held {
        pairs.extend((0..second).map(|first| (first, second)));
    }
    let joint = |(first, second): (usize, usize)| {
        samples
            .each_ref()
            .map(|view| joined(&view.held[first], &view.held[second]))
    };
    let joints = pairs.iter().copied().map(joint).collect::<Vec<_>>();
    let mut worst = (0.0, String::new());
    let mut test = |one: [&[u8]; 4], other: [&[u8]; 4], names: &dyn Fn() -> String| {
        let statistic = statistic(one, other);
        if statistic > worst.0 {
            worst = (statistic, names());
        }
    };
    for (right, (third, fourth)) in joints.iter().zip(&pairs) {
        let right = right.each_ref().map(Vec::as_slice);
        let name = |i: &usize| samples[0].held[*i].name.as_str();
        for (left, (first, second)) in joints
            .iter()
            .zip(&pairs)
            .filter(|(_, pair)| pair.1 < *third)
        {
            let left = left.each_ref().map(Vec::as_slice);
            test(left, right, &|| {
                [first, second, third, fourth].map(name).join(", ")
            });
        }
        for heard in 0..samples[0].heard.len() {
            let left = samples
                .each_ref()
                .map(|view| view.heard[heard].lanes.as_slice());
            let message = samples[0].heard[heard].name.as_str();
            test(left, right, &|| {
                [message, name(third), name(fourth)].join(", ")
            });
        }
    }
    worst
}

/// Two bits and two bits.
fn joined(one: &Seen, other: &Seen) -> Vec<u8> {
    let pairs = one.lanes.iter().zip(&other.lanes);
    pairs.map(|(one, other)| one << 2 | other).collect()
}

/// The largest chi-square statistic of every two of four samples, whose cells are four bits and
/// four bits.
fn statistic(one: [&[u8]; 4], other: [&[u8]; 4]) -> f64 {
    let counts = [0, 1, 2, 3].map(|choice| {
        let mut counts = [0.0; 256];
        let pairs = one[choice].iter().zip(other[choice]);
        pairs.for_each(|(one, other)| counts[usize::from(one << 4 | other)] += 1.0);
        counts
    });
    let cell = |(a, b): (&f64, &f64)| (a - b).powi(2) / (a + b).max(1.0);
    let mut worst = 0.0f64;
    for (i, one) in counts.iter().enumerate() {
        for other in &counts[..i] {
            worst = worst.max(one.iter().zip(other).map(cell).sum());
        }
    }
    worst
}

const HONEST: Case = Case {
    owners: [GUEST; 2],
    secrets: [0; 2],
    coins: 0,
    same: false,
};

/// Whatever the owner, no other party's view depends on the secrets.
fn views_of_others_are_independent(owner: PartyId) {
    let owners = [owner; 2];
    let coins = u64::from(owner.0) << 32;
    let samples = samples(
        SESSIONS,
        views,
        Case {
            owners,
            coins,
            ..HONEST
        },
    );
    for (party, sample) in samples.iter().enumerate() {
        if party == owner.index() || party == GUEST.index() {
            continue;
        }
        let (statistic, what) = worst(sample);
        assert!(statistic < BOUND, "party {party} sees {what}: {statistic}");
    }
}

#[test]
fn secrets_of_the_first_role() {
    views_of_others_are_independent(roles().roles[0]);
}

#[test]
fn secrets_of_the_second_role() {
    views_of_others_are_independent(roles().roles[1]);
}

#[test]
fn secrets_of_the_third_role() {
    views_of_others_are_independent(roles().roles[2]);
}

#[test]
fn secrets_of_an_outsider() {
    views_of_others_are_independent(GUEST);
}

/// The test sees a dependence at each of these parties, by far.
fn rejects(samples: impl IntoIterator<Item = [View; 4]>) {
    for (party, sample) in samples.into_iter().enumerate() {
        let (statistic, what) = worst(&sample);
        println!("REJ {statistic:.0} {what}");
        assert!(
            statistic > 2.0 * BOUND,
            "view {party} of {what}: {statistic}"
        );
    }
}

/// The three with roles toss the same coins: keys are one, so shares of zero are zero.
#[test]
fn without_shares_of_zero_the_test_rejects() {
    let samples = samples(
        SESSIONS,
        views,
        Case {
            same: true,
            ..HONEST
        },
    );
    rejects(
        roles()
            .roles
            .into_iter()
            .map(|role| samples[role.index()].clone()),
    );
}

/// The same coins again, and role 0 owns the first secret, role 1 the second. What masks the first
/// is what role 2 draws as its component of the second; so role 2 has it unmasked.
#[test]
fn with_masks_that_are_known_the_test_rejects() {
    let roles = roles().roles;
    let case = Case {
        owners: [roles[0], roles[1]],
        same: true,
        ..HONEST
    };
    let inputs = |case| {
        let names = ["x.0", "y.0", "u.0", "v.0"];
        views(case).iter().map(|view| view.only(&names)).collect()
    };
    let mut samples = samples(SESSIONS, inputs, case);
    rejects([samples.swap_remove(roles[2].index())]);
}

/// A party's view of two sessions of the same coins, one for each secret, is that of one session
/// in which the streams of inputs and of shares of zero start again.
fn restarted(owner: PartyId, names: [&[&str]; 2]) -> Vec<[View; 4]> {
    let views = |case: Case| {
        let [one, other] = case.secrets.map(|secret| {
            views(Case {
                secrets: [secret; 2],
                ..case
            })
        });
        let both = |(one, other): (View, View)| {
            let mut view = one.only(names[0]);
            view.held.extend(other.only(names[1]).held);
            view
        };
        one.into_iter().zip(other).map(both).collect()
    };
    let case = Case {
        owners: [owner; 2],
        ..HONEST
    };
    samples(SESSIONS, views, case)
}

/// Role 2 gets what is masked of the inputs of role 0, and roles 1 and 2 that of an outsider.
#[test]
fn with_restarted_masks_the_test_rejects() {
    let [first, second, third] = roles().roles.try_into().unwrap();
    for (owner, readers) in [(first, vec![third]), (GUEST, vec![second, third])] {
        let samples = restarted(owner, [&["x.0", "u.0"], &["x.0", "u.0"]]);
        rejects(
            readers
                .iter()
                .map(|reader: &PartyId| samples[reader.index()].clone()),
        );
    }
}

/// Role 0 holds masks alone of an outsider's inputs, so it sees the secrets through products.
#[test]
fn with_restarted_shares_of_zero_the_test_rejects() {
    let first = roles().roles[0].index();
    for names in [["x.0", "y.0", "x&y.0"], ["u.0", "v.0", "uv.0"]] {
        let samples = restarted(GUEST, [&names, &names[2..]]);
        rejects([samples[first].clone()]);
        let inputs = restarted(GUEST, [&names[..2], &names[..2]]);
        assert!(worst(&inputs[first]).0 < BOUND);
    }
}
