//! One role of a protocol against a peer that sends arbitrary bytes with correct digests: those of
//! oblivious transfers and the one that settles the transcript are corrected before they are
//! delivered, so that hostile bytes reach the code after them.
//!
//! Randomness is fixed, so the corpus holds messages of honest peers to this very party. With `yao`
//! a party either learns the result of the honest run or refuses: forged labels are found when
//! results are opened. With `trio` a corrupt peer can change results (SECURITY.md), and only their
//! form is checked.

use crate::script::{Script, Tap, mesh};
use sealane_block::{Coins, Cpu};
use sealane_circuit::tape::{Batch, Gate, ONE, Tape};
use sealane_fuzz_harness::{Accepted, Verdict};
use sealane_net::fuzzing::Digests;
use sealane_net::{Mesh, SessionId};
use sealane_parties::{PartyId, PartySet};
use sealane_party::{DIGEST_BYTES, Fault, Opened, Outcome, Party, Selected};
use sealane_party::{Start, Step, Stocks, Words, run_alone};
use sealane_protocol::{Algebra, Demand, Protocol, Setting, StepShape};
use sealane_testkit::stock::Dealt;
use sealane_trio::{Trio, TrioParty};
use sealane_yao::{Yao, YaoParty};
use std::sync::{Arc, OnceLock};
use zeroize::Zeroizing;

/// Lanes of the session; not a multiple of anything.
const LANES: usize = 11;
/// Bits of the integers into which results are converted.
const RING: u8 = 9;

/// Runs the garbler or the evaluator, by the first byte: with an extension of their own, and with
/// the random OTs of a pool.
pub fn yao(bytes: &[u8]) -> Verdict {
    let setting = Setting::in_order(&<Yao>::profile(), 2);
    static HONEST: OnceLock<Vec<Honest>> = OnceLock::new();
    let honest = HONEST.get_or_init(|| yao_sessions(&setting));
    hostile::<YaoParty>(bytes, &setting, honest, |end, honest, streams| {
        // The party that opens results to the evaluator can open them to any value.
        let opening = honest.settle_at[0] + DIGEST_BYTES as usize;
        let same = streams[0].get(opening..) == honest.streams[0].get(opening..);
        if honest.me == PartyId(0) || same {
            assert_eq!(end, &honest.learnt, "hostile bytes change no result");
        }
    })
}

/// Runs garbler, evaluator, or a party without a role that gives and learns, by the first byte. An
/// owner can give any input, and both roles together can open results to any value, so only their
/// form is checked.
pub fn yao_outside(bytes: &[u8]) -> Verdict {
    let setting = yao_of_three();
    static HONEST: OnceLock<Vec<Honest>> = OnceLock::new();
    let honest = HONEST.get_or_init(|| honest::<YaoParty>(&setting, false));
    hostile::<YaoParty>(bytes, &setting, honest, |end, honest, _| {
        // Two bits.
        have_form(end, honest, 4);
    })
}

/// Runs one of three roles, or a party without one, by the first byte.
pub fn trio(bytes: &[u8]) -> Verdict {
    let setting = Setting::in_order(&Trio::profile(), 4);
    static HONEST: OnceLock<Vec<Honest>> = OnceLock::new();
    let honest = HONEST.get_or_init(|| honest::<TrioParty>(&setting, false));
    hostile::<TrioParty>(bytes, &setting, honest, |end, honest, _| {
        have_form(end, honest, 1 << RING);
    })
}

/// Asserts that there are as many values as in the honest run, all of them below `end`.
fn have_form(learnt: &Learnt, honest: &Honest, end: u64) {
    for (result, wanted) in learnt.iter().flatten().zip(honest.learnt.iter().flatten()) {
        assert_eq!(result.len(), wanted.len());
        assert!(result.iter().all(|value| *value < end));
    }
}

/// Messages of honest peers of [`yao`] to each party.
pub fn yao_seeds() -> Vec<Vec<u8>> {
    let setting = Setting::in_order(&<Yao>::profile(), 2);
    seeds(yao_sessions(&setting))
}

/// Messages of honest peers of [`yao_outside`] to each party.
pub fn yao_outside_seeds() -> Vec<Vec<u8>> {
    seeds(honest::<YaoParty>(&yao_of_three(), false))
}

fn yao_of_three() -> Setting {
    Setting::in_order(&<Yao>::profile(), 3)
}

/// Messages of honest peers of [`trio`] to each party.
pub fn trio_seeds() -> Vec<Vec<u8>> {
    let setting = Setting::in_order(&Trio::profile(), 4);
    seeds(honest::<TrioParty>(&setting, false))
}

fn yao_sessions(setting: &Setting) -> Vec<Honest> {
    let pools = [false, true].into_iter();
    let sessions = pools.flat_map(|pooled| honest::<YaoParty>(setting, pooled));
    sessions.collect()
}

fn seeds(sessions: Vec<Honest>) -> Vec<Vec<u8>> {
    let input = |(number, one): (usize, &Honest)| join(number as u8, &one.streams);
    sessions.iter().enumerate().map(input).collect()
}

/// Builds an input: the number of the party, and the stream of each peer, all but the last after
/// its length.
fn join(number: u8, streams: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = vec![number];
    for (place, stream) in streams.iter().enumerate() {
        if place + 1 < streams.len() {
            bytes.extend_from_slice(&(stream.len() as u16).to_le_bytes());
        }
        bytes.extend_from_slice(stream);
    }
    bytes
}

/// Splits an input into the streams of `peers` peers.
fn split(mut bytes: &[u8], peers: usize) -> Vec<Vec<u8>> {
    let mut streams = Vec::new();
    for _ in 1..peers {
        let (length, rest) = bytes.split_first_chunk().unwrap_or((&[0, 0], &[]));
        let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
        let (stream, rest) = rest.split_at(length);
        streams.push(stream.to_vec());
        bytes = rest;
    }
    streams.push(bytes.to_vec());
    streams
}

type Learnt = Vec<Option<Vec<u64>>>;

/// One party of an honest session.
struct Honest {
    /// With random OTs of a pool.
    pooled: bool,
    me: PartyId,
    /// Payload from each peer.
    streams: Vec<Vec<u8>>,
    /// The digests in each.
    digests: Vec<Digests>,
    /// Bytes of each that came before the digest that settles it.
    settle_at: Vec<usize>,
    learnt: Learnt,
}

/// Points of a session that are watched.
enum Point {
    /// The tape comes next.
    Tape,
    /// The digest comes next.
    Settle,
}

fn hostile<P: Party>(
    bytes: &[u8],
    setting: &Setting,
    honest: &[Honest],
    check: impl Fn(&Learnt, &Honest, &[Vec<u8>]),
) -> Verdict {
    let (number, rest) = bytes.split_first()?;
    let honest = &honest[usize::from(*number) % honest.len()];
    let mut streams = split(rest, setting.parties - 1);
    for (stream, digests) in streams.iter_mut().zip(&honest.digests) {
        digests.correct(stream);
    }
    let scripts = streams.iter().map(|stream| Script::payload(stream));
    let mut mesh = mesh(honest.me, scripts.collect());
    match session::<P>(setting, honest.pooled, &mut mesh, &mut |_, _| ()) {
        Err(Fault::Internal(what)) => panic!("a peer's bytes are no fault of ours: {what}"),
        Err(Fault::Altered(party)) => panic!("the digests of {party:?} are right"),
        Err(_) => None,
        Ok(learnt) => {
            check(&learnt, honest, &streams);
            Some(Accepted)
        }
    }
}

/// Runs an honest session of all parties, each with the payload that it received.
fn honest<P: Party>(setting: &Setting, pooled: bool) -> Vec<Honest> {
    let settled = Tap::honest(setting.parties, |mesh| {
        let mut points = [Vec::new(), Vec::new()];
        let peers: Vec<PartyId> = mesh.peers().collect();
        let learnt = session::<P>(setting, pooled, mesh, &mut |point, mesh| {
            let bytes = |peer: &PartyId| mesh.payload_received(*peer) as usize;
            points[point as usize] = peers.iter().map(bytes).collect();
        });
        (points, learnt.expect("an honest session"))
    });
    let parties = settled.into_iter().enumerate();
    let one = |(me, ((points, learnt), taps)): (usize, (_, Vec<Tap>))| {
        let [tape_at, settle_at]: [Vec<usize>; 2] = points;
        let me = PartyId::from_index(me);
        let peers = (0..setting.parties).map(PartyId::from_index);
        let peers = peers.filter(|peer| *peer != me);
        let streams: Vec<_> = taps.iter().map(Tap::payload).collect();
        let places = peers.zip(&streams).zip(tape_at.iter().zip(&settle_at));
        let digests = places.map(|((peer, stream), (&tape, &settle))| {
            Digests::find(SessionId::default(), [peer, me], stream, tape..settle)
        });
        Honest {
            pooled,
            me,
            digests: digests.collect(),
            streams,
            settle_at,
            learnt,
        }
    };
    parties.map(one).collect()
}

/// Runs one party: two inputs, of the first and the last party, a tape, and, if the protocol has
/// integers, a conversion there, a product and a conversion back; all parties learn all results.
/// `watch` is called at each [`Point`].
fn session<P: Party>(
    setting: &Setting,
    pooled: bool,
    mesh: &mut Mesh,
    watch: &mut dyn FnMut(Point, &Mesh),
) -> Result<Learnt, Fault> {
    let me = mesh.me();
    let bits = P::Protocol::input_domain(Algebra::Z2);
    let owners = [PartyId(0), PartyId::from_index(setting.parties - 1)];
    let mut demand = Demand::default();
    for owner in owners {
        let work = StepShape::input(owner, bits, LANES as u64, 1);
        demand.merge(&P::Protocol::demand(setting, &work), 1);
    }
    let cpu = Cpu::detect().expect("a tier");
    let coins = Coins::danger_fixed_seed(u64::from(me.0) + 1);
    let start = Start {
        setting,
        me,
        session: mesh.session(),
        cpu,
        coins,
        stocks: if pooled {
            Dealt::both(me, Coins::danger_fixed_seed(9))
        } else {
            Stocks::default()
        },
    };
    let mut party = P::set_up(start, &demand, mesh)?;

    let input = |owner: PartyId| Step::Input {
        owner,
        domain: bits,
        elements: LANES,
        bits: 1,
        values: (owner == me).then(|| {
            let bit = |lane: usize| ((lane >> (2 * usize::from(owner != PartyId(0)))) & 1) as u64;
            Zeroizing::new((0..LANES).map(bit).collect())
        }),
    };
    let x = share(run_alone(&mut party, mesh, input(owners[0]), None)?);
    let y = share(run_alone(&mut party, mesh, input(owners[1]), None)?);
    let tape = tape();
    watch(Point::Tape, mesh);
    let step = Step::Tape {
        tape: &tape,
        domain: P::Protocol::domain(Algebra::Z2),
        lanes: LANES,
        operands: vec![x, y],
    };
    let z = share(run_alone(&mut party, mesh, step, None)?);
    let domain = P::Protocol::domain(Algebra::Z2);
    let to = PartySet::of((0..setting.parties).map(PartyId::from_index));
    let opened = |share, domain| Opened { share, domain, to };
    let mut results = vec![opened(z.clone(), domain)];
    if P::Protocol::profile().arithmetic {
        let ring = P::Protocol::domain(Algebra::Z2k(RING));
        let convert = |from, to, bits, share| Step::Convert {
            from,
            to,
            bits,
            signed: true,
            share,
        };
        let step = convert(domain, ring, 2, z);
        let integers = share(run_alone(&mut party, mesh, step, None)?);
        let step = Step::Product {
            domain: ring,
            left: Selected::whole(integers.clone()),
            right: Selected::whole(integers),
        };
        let product = share(run_alone(&mut party, mesh, step, None)?);
        let step = convert(ring, domain, usize::from(RING), product.clone());
        let back = share(run_alone(&mut party, mesh, step, None)?);
        results.extend([opened(product, ring), opened(back, domain)]);
    }
    watch(Point::Settle, mesh);
    run_alone(&mut party, mesh, Step::Settle { checks: vec![] }, None)?;
    match run_alone(&mut party, mesh, Step::Open { results }, None)? {
        Outcome::Opened(values, ()) => {
            let plain = |values: Option<Words>| values.map(|values| values.to_vec());
            Ok(values.into_iter().map(plain).collect())
        }
        _ => panic!("values are opened"),
    }
}

fn share<P: Party>(outcome: Outcome<P>) -> Arc<P::Share> {
    match outcome {
        Outcome::Share(share, ..) => Arc::new(share),
        _ => panic!("a share is due"),
    }
}

/// Tape on two bits x and y: x AND y, and (x XOR y) AND NOT x.
fn tape() -> Tape {
    let gate = |a, b, out, number| Gate { a, b, out, number };
    Tape {
        inputs: 2,
        slots: 8,
        xors: vec![gate(2, 3, 4, 0), gate(2, ONE, 5, 1)],
        lone: vec![false; 2],
        known_to: vec![0; 2],
        ands: vec![gate(2, 3, 6, 0), gate(4, 5, 7, 1)],
        batches: vec![Batch {
            xors: 0..2,
            ands: 0..2,
        }],
        outputs: vec![6, 7],
        functions: vec![],
        applied: vec![],
        depth: 1,
    }
}
