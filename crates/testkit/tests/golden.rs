//! Golden transcripts: the traffic under fixed coins in a fixed session, of every protocol and, in
//! `yao`, every scheme with an offset, on every tier, as digests in `golden.txt`. Tests of room
//! `garble` do the same for the tables of every scheme.

use sealane_block::{Coins, Cpu};
use sealane_garble::Scheme;
use sealane_net::{Mesh, SessionId};
use sealane_parties::PartyId;
use sealane_protocol::{Paper, Protocol, Setting};
use sealane_testkit::golden;
use sealane_testkit::record::recorded;
use sealane_testkit::session::Session;
use sealane_trio::Trio;
use sealane_yao::{Garbling, ThreeHalves, Yao};
use std::fmt::Write;
use zeroize::Zeroizing;

/// A wide block of lanes and a narrow one.
const SIZE: Session = Session { lanes: 37, bits: 6 };

/// Half-gates under the hashes that no user-facing protocol uses.
macro_rules! garblings {
    ($($name:ident => $scheme:ident, $text:literal;)*) => {
        $(
            struct $name;
            impl Garbling for $name {
                const SCHEME: Scheme = Scheme::$scheme;
                const NAME: &'static str = $text;
                const ASSUMPTION: &'static str = "for tests";
                const PAPERS: &'static [Paper] = &[];
            }
        )*
    };
}
garblings! {
    Prp => Prp, "yao-prp";
    Tccr => Tccr, "yao-tccr";
    Circ => Circ, "yao-circ";
}

fn session() -> SessionId {
    SessionId::new(&[1; 32], &[[2; 32], [3; 32]])
}

/// Each direction of each link, with the digest of its payload.
type Crossed = Vec<(PartyId, PartyId, [u8; 32])>;

/// Runs a session of all roles, and of a party without a role if there may be one.
fn run<P: Protocol>(cpu: Cpu, session: SessionId, meshes: Vec<Mesh>) -> Crossed {
    let start = |setting: &Setting, mesh: &mut Mesh| {
        mesh.set_session(session);
        let me = mesh.me();
        let coins = Coins::danger_fixed_seed(u64::from(me.0));
        P::start(setting, me, cpu, coins)
    };
    let input = |owner: PartyId| {
        let bit = |i: usize| u8::from((i + usize::from(owner.0)).is_multiple_of(3));
        let bits = (0..SIZE.lanes * SIZE.bits).map(bit);
        Zeroizing::new(bits.collect())
    };
    let end = |mut mesh: Mesh, _| {
        let (me, peers) = (mesh.me(), mesh.peers());
        let sent = peers.map(|peer| (me, peer, mesh.digest_sent(peer)));
        let sent = sent.collect::<Crossed>();
        mesh.finish().unwrap();
        sent
    };
    SIZE.run(meshes, start, input, end).concat()
}

/// A line for each direction of each link.
fn transcript<P: Protocol>(cpu: Cpu) -> String {
    let mut text = String::new();
    for (from, to, digest) in run::<P>(cpu, session(), Mesh::in_memory(Session::parties::<P>())) {
        let (name, digest) = (P::profile().name, hex::encode(digest));
        writeln!(text, "{name} {}>{} {digest}", from.0, to.0).unwrap();
    }
    text
}

fn transcripts(cpu: Cpu) -> String {
    let protocols = [
        transcript::<Yao>(cpu),
        transcript::<Yao<ThreeHalves>>(cpu),
        transcript::<Yao<Prp>>(cpu),
        transcript::<Yao<Tccr>>(cpu),
        transcript::<Yao<Circ>>(cpu),
        transcript::<Trio>(cpu),
    ];
    protocols.concat()
}

#[test]
fn transcripts_are_those_of_this_wire_version_on_every_tier() {
    let mut tiers = Cpu::available().into_iter();
    let lines = transcripts(tiers.next().unwrap());
    for cpu in tiers {
        assert_eq!(transcripts(cpu), lines, "{}", cpu.tier());
    }
    golden::is("crates/testkit/tests/golden.txt", &lines);
}

/// Bytes of a link that carries two keys of `trio` and a digest, and nothing masked.
const KEYS: usize = 3 * 32;

/// Masks of one session are independent of those of another, even if a party tosses the same coins
/// in both: far more bytes differ than those of digests.
fn sessions_differ<P: Protocol>() {
    let cpu = Cpu::detect().unwrap();
    let heard = |session| {
        let (meshes, logs) = recorded(Session::parties::<P>());
        run::<P>(cpu, session, meshes);
        let logs = logs.concat();
        logs.iter().map(|log| log.heard()).collect::<Vec<_>>()
    };
    let [one, other] = [session(), SessionId::default()].map(heard);
    let links = one.iter().zip(&other);
    let masked = links
        .filter(|(one, _)| one.len() > KEYS)
        .map(|(one, other)| {
            assert_eq!(one.len(), other.len());
            one.iter().zip(other).filter(|(a, b)| a != b).count()
        });
    let masked = masked.collect::<Vec<_>>();
    let name = P::profile().name;
    assert!(
        masked.len() >= Session::parties::<P>(),
        "{name}: {masked:?}"
    );
    assert!(
        masked.iter().all(|differ| *differ > 100),
        "{name}: {masked:?}"
    );
}

#[test]
fn the_session_reaches_every_message_that_masks() {
    sessions_differ::<Yao>();
    sessions_differ::<Yao<ThreeHalves>>();
    sessions_differ::<Trio>();
}
