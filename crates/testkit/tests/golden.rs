//! Golden transcripts: what crosses under fixed coins in a fixed session, of every protocol and, in
//! `yao`, every scheme with an offset, on every tier, as digests in `golden.txt`. Tables of every
//! scheme are held likewise by the tests of room `garble`.

use sealane_block::{Coins, Cpu};
use sealane_circuit::{Builder, Goal, Int, Machine, Tape, compile_known};
use sealane_garble::Scheme;
use sealane_net::{Mesh, PartyId, SessionId};
use sealane_protocol::{
    Algebra, Demand, Domain, Outcome, Paper, PartySet, Protocol, Setting, Step, Work, knower,
    run_alone,
};
use sealane_testkit::golden;
use sealane_testkit::record::recorded;
use sealane_trio::Trio;
use sealane_yao::{Garbling, ThreeHalves, Yao};
use std::fmt::Write;
use std::sync::Arc;
use zeroize::Zeroizing;

/// A wide block of lanes and a narrow one.
const LANES: usize = 37;
const BITS: usize = 6;

/// Half-gates under the hashes that no protocol for users takes.
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

/// Additions, a product, a comparison and a choice; each input is known to a party.
fn tape(goal: Goal) -> Tape {
    let mut b = Builder::for_goal(goal);
    let (x, y) = (b.input(BITS), b.input(BITS));
    let (left, right) = (Int::unsigned(&x), Int::unsigned(&y));
    let less = b.lt(left, right);
    let product = b.mul(left, right, BITS);
    let chosen = b.select(less, &product, &x);
    let known = [0, 1].map(|party| [knower(PartyId(party)); BITS]).concat();
    compile_known(&b.finish(vec![chosen, vec![less]]), &Machine::CPU, &known)
}

/// One party of a session.
struct Side<P: Protocol> {
    party: P,
    mesh: Mesh,
    parties: usize,
}

impl<P: Protocol> Side<P> {
    /// Every step that the protocol has; what this party has sent to each other one.
    fn run(mut self, setting: &Setting) -> Vec<(PartyId, PartyId, [u8; 32])> {
        let owners = setting.everyone().collect::<Vec<_>>();
        let bits = P::domain(Algebra::Z2);
        let mut demand = Demand::default();
        for owner in owners.iter().copied() {
            let domain = P::input_domain(Algebra::Z2);
            let (elements, bits) = (LANES as u64, BITS as u64);
            let work = Work::Input {
                owner,
                domain,
                elements,
                bits,
            };
            demand.merge(&P::demand(setting, &work));
        }
        self.party.prepare(&demand, &mut self.mesh).unwrap();
        let inputs = owners.iter().map(|owner| self.input(*owner));
        let inputs = inputs.collect::<Vec<_>>();
        let tape = tape(P::profile().goal);
        let mut results = Vec::new();
        for pair in inputs.windows(2) {
            results.push(self.share(Step::Tape {
                tape: &tape,
                lanes: LANES,
                operands: pair.to_vec(),
            }));
        }
        if P::profile().arithmetic {
            let ring = P::domain(Algebra::Z2k(40));
            let left = self.convert(inputs[0].clone(), bits, ring);
            let right = self.convert(inputs[1].clone(), bits, ring);
            let domain = ring;
            let product = self.share(Step::Product {
                domain,
                left,
                right,
            });
            results.push(self.convert(product, ring, bits));
        }
        let all = PartySet::of(owners);
        let results = results.into_iter().map(|share| (share, bits, all));
        let step = Step::Reveal {
            results: results.collect(),
            checks: vec![],
        };
        let outcome = run_alone(&mut self.party, &mut self.mesh, step);
        assert!(matches!(outcome, Ok(Outcome::Revealed(_))));
        let (me, peers) = (self.mesh.me(), self.mesh.peers());
        let sent = peers.map(|peer| (me, peer, self.mesh.digest_sent(peer)));
        let sent = sent.collect();
        self.mesh.finish().unwrap();
        sent
    }

    fn input(&mut self, owner: PartyId) -> Arc<P::Share> {
        let bit = |i: usize| u8::from((i + usize::from(owner.0)).is_multiple_of(3));
        let bits = (owner == self.mesh.me()).then(|| (0..LANES * BITS).map(bit).collect());
        self.share(Step::Input {
            owner,
            domain: P::input_domain(Algebra::Z2),
            elements: LANES,
            planes: BITS,
            bits: bits.map(Zeroizing::new),
        })
    }

    fn convert(&mut self, share: Arc<P::Share>, from: Domain, to: Domain) -> Arc<P::Share> {
        self.share(Step::Convert {
            from,
            to,
            bits: BITS,
            signed: false,
            share,
        })
    }

    fn share(&mut self, step: Step<'_, P>) -> Arc<P::Share> {
        match run_alone(&mut self.party, &mut self.mesh, step) {
            Ok(Outcome::Share(share, _)) => Arc::new(share),
            _ => panic!("{} parties: a share is due", self.parties),
        }
    }
}

fn session() -> SessionId {
    SessionId::new(&[1; 32], &[[2; 32], [3; 32]])
}

/// A session of all roles, and of an outsider where there may be one.
fn run<P: Protocol>(
    cpu: Cpu,
    session: SessionId,
    meshes: Vec<Mesh>,
) -> Vec<(PartyId, PartyId, [u8; 32])> {
    let roles = P::profile().roles.len();
    let setting = Setting {
        parties: meshes.len(),
        roles: (0..roles).map(PartyId::from_index).collect(),
    };
    let party = |mut mesh: Mesh| {
        mesh.enter(session);
        let (me, parties) = (mesh.me(), mesh.parties());
        let coins = Coins::danger_fixed_seed(u64::from(me.0));
        let party = P::start(&setting, me, cpu, coins);
        let side = Side {
            party,
            mesh,
            parties,
        };
        side.run(&setting)
    };
    std::thread::scope(|threads| {
        let meshes = meshes.into_iter();
        let threads = meshes.map(|mesh| threads.spawn(|| party(mesh)));
        let threads = threads.collect::<Vec<_>>();
        let sent = threads.into_iter().map(|party| party.join().unwrap());
        sent.flatten().collect()
    })
}

fn parties<P: Protocol>() -> usize {
    let profile = P::profile();
    profile.roles.len() + usize::from(profile.outsiders)
}

/// A line for each direction of each link.
fn transcript<P: Protocol>(cpu: Cpu) -> String {
    let mut text = String::new();
    for (from, to, digest) in run::<P>(cpu, session(), Mesh::in_memory(parties::<P>())) {
        let (name, digest) = (P::profile().name, golden::hex(&digest));
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

/// Bytes of a link that carries two keys of `trio` and a digest, and nothing that is masked.
const KEYS: usize = 3 * 32;

/// What is masked in one session tells nothing of what is masked in another, even where a party
/// tosses the same coins in both: far more bytes differ than those of digests.
fn sessions_differ<P: Protocol>() {
    let cpu = Cpu::detect().unwrap();
    let heard = |session| {
        let (meshes, logs) = recorded(parties::<P>());
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
    assert!(masked.len() >= parties::<P>(), "{name}: {masked:?}");
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
