//! Golden transcripts: the traffic under fixed coins in a fixed session, of every protocol and, in
//! `yao`, every scheme with an offset, on every tier, as digests in `golden.txt`. Tests of crate
//! `garble` do the same for the tables of every scheme.

use sealane_block::Cpu;
use sealane_garble::Scheme;
use sealane_mixed::{GmwParty, MixedParty};
use sealane_net::{Mesh, SessionId};
use sealane_parties::PartyId;
use sealane_party::{Party, from_planes};
use sealane_protocol::{Paper, Protocol};
use sealane_testkit::golden;
use sealane_testkit::record::recorded;
use sealane_testkit::session::Session;
use sealane_testkit::side::Given;
use sealane_trio::TrioParty;
use sealane_yao::{Garbling, ThreeHalves, YaoParty};
use std::fmt::Write;

/// A span of four blocks of the usual width, another block and a narrow one.
const SIZE: Session = Session {
    lanes: 165,
    bits: 6,
};

/// Half-gates under the hashes that no user-facing protocol uses.
macro_rules! garblings {
    ($($name:ident => $scheme:ident, $text:literal;)*) => {
        $(
            struct $name;
            impl Garbling for $name {
                const SCHEME: Scheme = Scheme::$scheme;
                const NAME: &'static str = $text;
                const HASH: &'static str = "of a test";
                const ASSUMPTION: &'static str = "for tests";
                const REFERENCES: &'static [Paper] = &[];
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
fn run<P: Party>(cpu: Cpu, session: SessionId, mut meshes: Vec<Mesh>) -> Crossed {
    meshes.iter_mut().for_each(|mesh| mesh.set_session(session));
    let given = |mesh: &Mesh| Given::seeded(cpu, u64::from(mesh.me().0));
    let input = |owner: PartyId| {
        let bit = |i: usize| u8::from((i + usize::from(owner.0)).is_multiple_of(3));
        let bits = (0..SIZE.lanes * SIZE.bits).map(bit);
        from_planes(&bits.collect::<Vec<_>>(), SIZE.bits)
    };
    let end = |mut mesh: Mesh, _| {
        let (me, peers) = (mesh.me(), mesh.peers());
        let sent = peers.map(|peer| (me, peer, mesh.digest_sent(peer)));
        let sent = sent.collect::<Crossed>();
        mesh.finish().unwrap();
        sent
    };
    SIZE.run::<P, _>(meshes, given, input, end).concat()
}

/// A line for each direction of each link.
fn transcript<P: Party>(cpu: Cpu) -> String {
    let mut text = String::new();
    let meshes = Mesh::in_memory(Session::parties::<P::Protocol>());
    for (from, to, digest) in run::<P>(cpu, session(), meshes) {
        let (name, digest) = (P::Protocol::profile().name, hex::encode(digest));
        writeln!(text, "{name} {}>{} {digest}", from.0, to.0).unwrap();
    }
    text
}

fn transcripts(cpu: Cpu) -> String {
    let protocols = [
        transcript::<YaoParty>(cpu),
        transcript::<YaoParty<ThreeHalves>>(cpu),
        transcript::<YaoParty<Prp>>(cpu),
        transcript::<YaoParty<Tccr>>(cpu),
        transcript::<YaoParty<Circ>>(cpu),
        transcript::<TrioParty>(cpu),
        transcript::<GmwParty>(cpu),
        transcript::<MixedParty>(cpu),
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
fn sessions_differ<P: Party>() {
    let cpu = Cpu::detect().unwrap();
    let heard = |session| {
        let (meshes, logs) = recorded(Session::parties::<P::Protocol>());
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
    let name = P::Protocol::profile().name;
    let enough = masked.len() >= Session::parties::<P::Protocol>();
    assert!(enough, "{name}: {masked:?}");
    let differ = masked.iter().all(|differ| *differ > 100);
    assert!(differ, "{name}: {masked:?}");
}

#[test]
fn the_session_reaches_every_message_that_masks() {
    sessions_differ::<YaoParty>();
    sessions_differ::<YaoParty<ThreeHalves>>();
    sessions_differ::<TrioParty>();
    sessions_differ::<GmwParty>();
    sessions_differ::<MixedParty>();
}
