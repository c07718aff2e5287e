//! What each party sees does not depend on the secrets: chi-square tests over many sessions of
//! fixed seeds, and the same tests on sessions whose shares of zero cancel, which they must reject.
//!
//! Party 3 owns two secrets, each a bit (or an integer) on 64 lanes, and computes nothing; party 4
//! learns the products of both, which are zero either way. Secrets are 0 and 1, or 1 and 0.

mod common;

use common::{Side, parties, session, setting};
use sealane_circuit::{Builder, Machine, compile};
use sealane_net::{Frame, FrameKind, Limits, Mesh, PartyId, Recorder, Transport, memory_pair};
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// Sessions for each choice of secrets.
const SESSIONS: u64 = 300;
const LANES: usize = 64;
const OWNER: PartyId = PartyId(3);
/// Bits of the integers.
const K: u8 = 5;

/// What one party sees in one session.
struct View {
    /// All payload that it received.
    heard: Vec<u8>,
    /// For each lane, the lowest bits of both its components of both secrets and of their product:
    /// six bits, for shared bits and for integers.
    lanes: [Vec<u8>; 2],
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

/// A recorded mesh in memory; and for each party, its logs.
fn recorded(parties: usize) -> (Vec<Mesh>, Vec<Vec<Log>>) {
    let limits = Limits::default();
    let mut ends: Vec<Vec<Option<Box<dyn Transport>>>> = vec![];
    ends.resize_with(parties, || (0..parties).map(|_| None).collect());
    let mut logs = vec![vec![]; parties];
    for one in 0..parties {
        for other in 0..one {
            let (a, b) = memory_pair(&limits);
            for (me, peer, end) in [(one, other, a), (other, one, b)] {
                let log = Log::default();
                let recorder = Recorder::new(Box::new(end), log.clone()).unwrap();
                ends[me][peer] = Some(Box::new(recorder));
                logs[me].push(log);
            }
        }
    }
    let mesh = |(me, ends)| Mesh::from_transports(PartyId::from_index(me), ends, limits).unwrap();
    (ends.into_iter().enumerate().map(mesh).collect(), logs)
}

/// The views of all parties in one session. If `broken`, the three parties that compute toss the
/// same coins: their keys are the same, and their shares of zero are zero.
fn views(secrets: [u8; 2], run: u64, broken: bool) -> Vec<View> {
    let setting = setting(5, [1, 2, 0]);
    let (meshes, logs) = recorded(5);
    let seed = |me: PartyId| match broken && setting.roles.contains(&me) {
        true => run * 16,
        false => run * 16 + u64::from(me.0) + u64::from(secrets[0]) * 8,
    };
    let lanes = session(&setting, &[OWNER], seed, meshes, |side| {
        lanes_of(side, secrets)
    });
    let view = |(lanes, logs): (_, Vec<Log>)| View {
        lanes,
        heard: logs.iter().flat_map(Log::heard).collect(),
    };
    lanes.into_iter().zip(logs).map(view).collect()
}

/// Multiplies the secrets, as bits and as integers, and converts both; party 4 learns the products.
fn lanes_of(side: &mut Side, secrets: [u8; 2]) -> [Vec<u8>; 2] {
    let mut b = Builder::new();
    let (x, y) = (b.input(1), b.input(1));
    let and = b.and(x[0], y[0]);
    let tape = compile(&b.finish(vec![vec![and]]), &Machine::ROUNDS);
    let x = secrets.map(|secret| side.input(OWNER, None, 1, &[secret; LANES]));
    let bits = side.tape(&tape, &[&x[0], &x[1]]);
    let y = secrets.map(|secret| side.integers(OWNER, K, &[secret.into(); LANES]));
    let integers = side.product(K, &y[0], &y[1]);
    let injected = side.convert(None, Some(K), 1, false, &x[0]);
    let decomposed = side.convert(Some(K), None, K.into(), false, &y[0]);
    let to = parties(1 << 4);
    side.reveal(&[(&bits, None, to), (&integers, Some(K), to)]);
    // Held, and compared in what follows through what was received for them.
    assert_eq!(
        injected.components().is_some(),
        decomposed.components().is_some()
    );
    if side.role().is_none() {
        return [vec![], vec![]];
    }
    let joint = |shares: [&Arc<_>; 3], bit: &dyn Fn(&[u64], usize) -> u64| {
        let parts = shares.map(|share: &Arc<sealane_trio::Share>| share.components().unwrap());
        let lane = |lane| {
            let bits = parts
                .as_flattened()
                .iter()
                .map(|part| bit(part, lane) as u8);
            bits.fold(0, |code, bit| code << 1 | bit)
        };
        (0..LANES).map(lane).collect::<Vec<u8>>()
    };
    [
        joint([&x[0], &x[1], &bits], &|part, lane| part[0] >> lane & 1),
        joint([&y[0], &y[1], &integers], &|part, lane| part[lane] & 1),
    ]
}

/// The chi-square statistic of two samples' counts.
fn chi_square(one: &[f64], other: &[f64]) -> f64 {
    let cell = |(a, b): (&f64, &f64)| (a - b).powi(2) / (a + b).max(1.0);
    one.iter().zip(other).map(cell).sum()
}

fn counts(cells: usize, codes: impl Iterator<Item = u8>) -> Vec<f64> {
    let mut counts = vec![0.0; cells];
    codes.for_each(|code| counts[usize::from(code)] += 1.0);
    counts
}

/// The largest statistic over all half bytes that are heard, of 15 degrees of freedom each.
fn of_heard(samples: &[Vec<View>; 2]) -> f64 {
    let bytes = samples[0][0].heard.len();
    let count = |sample: &[View], byte: usize, shift: u8| {
        counts(16, sample.iter().map(|view| view.heard[byte] >> shift & 15))
    };
    let statistic = |byte, shift| {
        let [one, other] = samples.each_ref().map(|sample| count(sample, byte, shift));
        chi_square(&one, &other)
    };
    let halves = (0..bytes).flat_map(|byte| [statistic(byte, 0), statistic(byte, 4)]);
    halves.fold(0.0, f64::max)
}

/// The larger statistic of the joint bits of a lane, of 63 degrees of freedom each.
fn of_lanes(samples: &[Vec<View>; 2]) -> f64 {
    let statistic = |algebra: usize| {
        let [one, other] = samples.each_ref().map(|sample| {
            counts(
                64,
                sample
                    .iter()
                    .flat_map(|view| view.lanes[algebra].iter().copied()),
            )
        });
        chi_square(&one, &other)
    };
    statistic(0).max(statistic(1))
}

/// The two samples of every party's views.
fn samples(sessions: u64, broken: bool) -> Vec<[Vec<View>; 2]> {
    let mut samples = (0..5).map(|_| [vec![], vec![]]).collect::<Vec<_>>();
    for (choice, secrets) in [[0, 1], [1, 0]].into_iter().enumerate() {
        for run in 0..sessions {
            let views = views(secrets, run, broken);
            let parties = samples.iter_mut().zip(views);
            parties.for_each(|(sample, view)| sample[choice].push(view));
        }
    }
    samples
}

/// Chi-square of 15 degrees of freedom lies above this with a chance of 5e-8; there are fewer than
/// 5,000 such tests here, so all of them together fail with a chance of 0.00025.
const HEARD: f64 = 65.0;
/// The same for 63 degrees of freedom, with a chance of 1e-6 each, for six tests.
const JOINT: f64 = 132.0;

#[test]
fn views_do_not_depend_on_the_secrets() {
    for (party, sample) in samples(SESSIONS, false).iter().enumerate() {
        if party == OWNER.index() {
            continue;
        }
        let heard = of_heard(sample);
        assert!(heard < HEARD, "party {party} hears: {heard}");
        let joint = of_lanes(sample);
        assert!(joint < JOINT, "party {party} holds: {joint}");
    }
}

#[test]
fn without_shares_of_zero_views_do_depend_on_the_secrets() {
    let samples = samples(SESSIONS / 10, true);
    for (party, sample) in samples.iter().enumerate().take(3) {
        let joint = of_lanes(sample);
        assert!(joint > 4.0 * JOINT, "party {party} holds: {joint}");
    }
}
