//! One role of a protocol against a peer that sends arbitrary bytes with correct digests: those of
//! oblivious transfers and the one that settles the transcript are corrected before they are
//! delivered, so that hostile bytes reach the code after them.
//!
//! Randomness is fixed, so the corpus holds messages of honest peers to this very party. With `yao`
//! a party either learns the result of the honest run or refuses: forged labels are found when
//! results are opened. With `trio` a corrupt peer can change results (SECURITY.md), and only their
//! form is checked. `guarded` has the profile of `trio` against one of them.

use crate::script::{Script, Tap, mesh};
use sealane_block::{Coins, Cpu};
use sealane_fuzz_harness::{Accepted, Verdict};
use sealane_net::fuzzing::Digests;
use sealane_net::{Limits, Mesh, SessionId};
use sealane_parties::{PartyId, PartySet};
use sealane_party::{DIGEST_BYTES, Fault, Opened, Party, Selected, Step};
use sealane_protocol::{Algebra, Demand, Protocol, Setting, StepShape};
use sealane_testkit::side::{Given, Side, copied, on_threads, two_ands};
use sealane_testkit::stock::Dealt;
use sealane_trio::TrioParty;
use sealane_yao::YaoParty;
use std::ops::Range;
use std::sync::LazyLock;

/// Lanes of the session; not a multiple of anything.
const LANES: usize = 11;
/// Bits of the integers into which results are converted.
const RING: u8 = 9;

/// Honest sessions of the parties of a setting.
pub(crate) struct Scene {
    setting: Setting,
    run: Session,
    parties: Vec<Honest>,
}

/// One party of a session, with or without random OTs of a pool; it is told points to watch.
type Session = fn(&Setting, bool, Mesh, &mut dyn FnMut(Point, &Mesh)) -> Ended;

/// Results that a party learnt, and its links.
pub(crate) type Ended = Result<(Learnt, Mesh), Fault>;

/// With an extension of their own, and with the random OTs of a pool.
static YAO: LazyLock<Scene> =
    LazyLock::new(|| Scene::of::<YaoParty>(2, &[false, true], session::<YaoParty>));
static YAO_OUTSIDE: LazyLock<Scene> =
    LazyLock::new(|| Scene::of::<YaoParty>(3, &[false], session::<YaoParty>));
static TRIO: LazyLock<Scene> =
    LazyLock::new(|| Scene::of::<TrioParty>(4, &[false], session::<TrioParty>));

/// Runs the garbler or the evaluator, by the first byte: with an extension of their own, and with
/// the random OTs of a pool.
pub fn yao(bytes: &[u8]) -> Verdict {
    YAO.hostile(bytes, |end, honest, streams| {
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
/// form is checked: two bits.
pub fn yao_outside(bytes: &[u8]) -> Verdict {
    YAO_OUTSIDE.hostile(bytes, |end, honest, _| have_form(end, honest, 4))
}

/// Runs one of three roles, or a party without one, by the first byte.
pub fn trio(bytes: &[u8]) -> Verdict {
    TRIO.hostile(bytes, |end, honest, _| have_form(end, honest, 1 << RING))
}

/// Asserts that there are as many values as in the honest run, all of them below `end`.
pub(crate) fn have_form(learnt: &Learnt, honest: &Honest, end: u64) {
    for (result, wanted) in learnt.iter().flatten().zip(honest.learnt.iter().flatten()) {
        assert_eq!(result.len(), wanted.len());
        assert!(result.iter().all(|value| *value < end));
    }
}

/// Messages of honest peers to each party, for each target.
pub fn seeds() -> [(&'static str, Vec<Vec<u8>>); 3] {
    let scenes = [
        ("yao-roles", &YAO),
        ("yao-outside", &YAO_OUTSIDE),
        ("trio-roles", &TRIO),
    ];
    scenes.map(|(target, scene)| (target, scene.seeds()))
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

pub(crate) type Learnt = Vec<Option<Vec<u64>>>;

/// One party of an honest session.
pub(crate) struct Honest {
    /// With random OTs of a pool.
    pooled: bool,
    pub(crate) me: PartyId,
    /// Payload from each peer.
    pub(crate) streams: Vec<Vec<u8>>,
    /// The digests in each.
    digests: Vec<Digests>,
    /// Bytes of each that came before all bulk.
    pub(crate) given: Vec<usize>,
    /// Bytes of each that came before the digest that settles it.
    settle_at: Vec<usize>,
    /// Bytes of each that are no part of an input.
    kept: Vec<usize>,
    pub(crate) learnt: Learnt,
}

/// Points of a session that are watched.
#[derive(Clone, Copy)]
pub(crate) enum Point {
    /// Bulk comes next: from all, or from one peer alone.
    Bulk(Option<PartyId>),
    /// Other messages come next.
    Plain,
    /// The digest comes next.
    Settle,
    /// All before is what honest peers sent, and no part of an input.
    Hostile,
}

impl Scene {
    pub(crate) fn of<P: Party>(parties: usize, pools: &[bool], run: Session) -> Scene {
        let setting = Setting::in_order(&P::Protocol::profile(), parties);
        let sessions = pools.iter().map(|pooled| honest(&setting, *pooled, run));
        Scene {
            parties: sessions.flatten().collect(),
            run,
            setting,
        }
    }

    /// Messages of honest peers to each party.
    pub(crate) fn seeds(&self) -> Vec<Vec<u8>> {
        let parties = self.parties.iter().enumerate();
        let changed = |one: &Honest| {
            let streams = one.streams.iter().zip(&one.kept);
            streams
                .map(|(stream, kept)| stream[*kept..].to_vec())
                .collect::<Vec<_>>()
        };
        let inputs = parties.map(|(number, one)| join(number as u8, &changed(one)));
        inputs.collect()
    }

    /// Runs one party, by the first byte, against these bytes; checks what it learnt with the
    /// streams that it got.
    pub(crate) fn hostile(
        &self,
        bytes: &[u8],
        check: impl Fn(&Learnt, &Honest, &[Vec<u8>]),
    ) -> Verdict {
        let (number, rest) = bytes.split_first()?;
        let honest = &self.parties[usize::from(*number) % self.parties.len()];
        let mut streams = split(rest, self.setting.parties - 1);
        for ((stream, honest), kept) in streams.iter_mut().zip(&honest.streams).zip(&honest.kept) {
            stream.splice(..0, honest[..*kept].iter().copied());
        }
        for (stream, digests) in streams.iter_mut().zip(&honest.digests) {
            digests.correct(stream);
        }
        let scripts = streams.iter().map(|stream| Script::payload(stream));
        let mesh = mesh(honest.me, scripts.collect());
        match (self.run)(&self.setting, honest.pooled, mesh, &mut |_, _| ()) {
            Err(Fault::Internal(what)) => panic!("a peer's bytes are no fault of ours: {what}"),
            Err(Fault::Altered(party)) => panic!("the digests of {party:?} are right"),
            Err(_) => None,
            Ok((learnt, _)) => {
                check(&learnt, honest, &streams);
                Some(Accepted)
            }
        }
    }
}

/// Runs an honest session of all parties, each with the payload that it received.
fn honest(setting: &Setting, pooled: bool, run: Session) -> Vec<Honest> {
    let (meshes, taps) = Tap::full(setting.parties, &Limits::default());
    let settled = on_threads(meshes, |mesh| {
        let mut points = Vec::new();
        let peers: Vec<PartyId> = mesh.peers().collect();
        let ended = run(setting, pooled, mesh, &mut |point, mesh| {
            let bytes = |peer: &PartyId| mesh.payload_received(*peer) as usize;
            points.push((point, peers.iter().map(bytes).collect::<Vec<_>>()));
        });
        let (learnt, mut mesh) = ended.expect("an honest session");
        mesh.finish().expect("an honest end");
        (points, learnt)
    });
    let parties = settled.into_iter().zip(taps).enumerate();
    let one = |(me, ((points, learnt), taps)): (usize, ((Vec<_>, Learnt), Vec<Tap>))| {
        let me = PartyId::from_index(me);
        let peers = (0..setting.parties).map(PartyId::from_index);
        let peers = peers.filter(|peer| *peer != me);
        let streams: Vec<_> = taps.iter().map(Tap::payload).collect();
        let digests = peers.zip(&streams).enumerate().map(|(at, (peer, stream))| {
            let bulk = bulk(&points, peer, at);
            Digests::find(SessionId::default(), [peer, me], stream, &bulk)
        });
        let mut hostile = points
            .iter()
            .filter(|(point, _)| matches!(point, Point::Hostile));
        let kept = hostile.next().map(|(_, kept)| kept.clone());
        let at = |is: fn(&Point) -> bool| {
            let mut points = points.iter().filter(|(point, _)| is(point));
            points.next().expect("such a point").1.clone()
        };
        Honest {
            pooled,
            me,
            digests: digests.collect(),
            given: at(|point| matches!(point, Point::Bulk(_))),
            settle_at: at(|point| matches!(point, Point::Settle)),
            kept: kept.unwrap_or_else(|| vec![0; streams.len()]),
            streams,
            learnt,
        }
    };
    parties.map(one).collect()
}

/// The parts of the payload from a peer, the one at this place, that are bulk.
fn bulk(points: &[(Point, Vec<usize>)], peer: PartyId, at: usize) -> Vec<Range<usize>> {
    let ends = points.iter().skip(1);
    let parts = points
        .iter()
        .zip(ends)
        .filter(|((point, _), _)| match point {
            Point::Bulk(from) => from.is_none_or(|from| from == peer),
            _ => false,
        });
    parts
        .map(|((_, start), (_, end))| start[at]..end[at])
        .collect()
}

/// Runs one party: two inputs, of the first and the last party, a tape, and, if the protocol has
/// integers, a conversion there, a product and a conversion back; all parties learn all results.
/// `watch` is called at each [`Point`].
fn session<P: Party>(
    setting: &Setting,
    pooled: bool,
    mesh: Mesh,
    watch: &mut dyn FnMut(Point, &Mesh),
) -> Ended {
    let me = mesh.me();
    let bits = P::Protocol::input_domain(Algebra::Z2);
    let owners = [PartyId(0), PartyId::from_index(setting.parties - 1)];
    let mut demand = Demand::default();
    for owner in owners {
        let work = StepShape::input(owner, bits, LANES as u64, 1);
        demand.merge(&P::Protocol::demand(setting, &work), 1);
    }
    let mut given = Given::seeded(Cpu::detect().expect("a tier"), u64::from(me.0) + 1);
    if pooled {
        given.stocks = Dealt::both(me, Coins::danger_fixed_seed(9));
    }
    let mut side = Side::<P>::set_up(mesh, setting, &demand, given)?;

    let mut input = |at: usize| {
        let bit = |lane: usize| (lane >> (2 * at) & 1) as u64;
        let elements: Vec<u64> = (0..LANES).map(bit).collect();
        side.input(owners[at], bits, 1, &elements)
    };
    let (x, y) = (input(0)?, input(1)?);
    watch(Point::Bulk(None), &side.mesh);
    let domain = P::Protocol::domain(Algebra::Z2);
    let z = side.tape(&two_ands(), domain, &[&x, &y])?;
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
        let integers = side.share(convert(domain, ring, 2, z))?;
        let product = side.share(Step::Product {
            domain: ring,
            left: Selected::whole(integers.clone()),
            right: Selected::whole(integers),
        })?;
        let back = side.share(convert(ring, domain, usize::from(RING), product.clone()))?;
        results.extend([opened(product, ring), opened(back, domain)]);
    }
    watch(Point::Settle, &side.mesh);
    side.settle()?;
    let values = side.open(results)?;
    Ok((copied(values), side.mesh))
}
