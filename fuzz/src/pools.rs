//! Pools: what another party says of its own, the file of a state, and one party of a fill against
//! a peer that sends arbitrary bytes in place of one frame, with correct digests.

use crate::script::{Script, Tap, mesh};
use sealane_block::{Coins, Cpu};
use sealane_diagnostic::Code;
use sealane_fuzz_harness::{Accepted, Verdict};
use sealane_identity::Identity;
use sealane_net::fuzzing::Digests;
use sealane_net::{Frame, FrameKind, Mesh};
use sealane_parties::{NetworkClass, PartyId};
use sealane_party::Fault;
use sealane_pool::{FillError, Filling, Order, Pool, Role, fuzzing};
use std::fs;
use std::sync::OnceLock;
use tempfile::TempDir;

/// Lets a pool agree with another one, and take what both hold.
pub fn offer(bytes: &[u8]) -> Verdict {
    same_again(bytes, fuzzing::agree)
}

/// Reads the file of a state, and the text within one.
pub fn state(bytes: &[u8]) -> Verdict {
    same_again(bytes, fuzzing::state)
}

/// Something that is read is written in a form that reads as itself.
fn same_again(bytes: &[u8], read: fn(&[u8]) -> Option<Vec<u8>>) -> Verdict {
    let plain = read(bytes)?;
    assert!(plain.len() <= bytes.len(), "it grows");
    assert_eq!(read(&plain), Some(plain.clone()));
    Some(Accepted)
}

/// A batch for each party.
const ORDER: Order = Order {
    batches: [1, 1],
    network: NetworkClass::LAN,
};

/// A pool that is gone with its folder.
struct Temporary {
    pool: Pool,
    folder: TempDir,
}

impl Temporary {
    fn new() -> Temporary {
        static PARTIES: OnceLock<[Identity; 2]> = OnceLock::new();
        let [own, peer] = PARTIES.get_or_init(|| [Identity::generate(), Identity::generate()]);
        let folder = tempfile::tempdir().expect("a folder");
        Temporary {
            pool: Pool::new(folder.path(), own, &peer.public_key()),
            folder,
        }
    }

    fn fill(&self, mesh: &mut Mesh) -> Result<(), FillError> {
        let filling = Filling {
            pool: &self.pool,
            cpu: Cpu::detect().expect("a tier"),
            progress: &mut |_| (),
            least: None,
        };
        let coins = Coins::danger_fixed_seed(u64::from(mesh.me().0) + 1);
        filling.run(ORDER, coins, mesh).map(|_| ())
    }

    /// Files of OTs, and batches that are left in both roles.
    fn content(&self) -> (usize, [u64; 2]) {
        let folders = fs::read_dir(self.folder.path()).expect("a folder");
        let files = folders.flat_map(|folder| fs::read_dir(folder.expect("one").path()));
        let names = files
            .flatten()
            .map(|file| file.expect("a file").file_name());
        let is_content = |name: &std::ffi::OsString| {
            let name = name.to_string_lossy();
            !name.ends_with("lock") && name != "state"
        };
        let count = |role| self.pool.count(role).expect("a pool that can be read");
        let left = [Role::Sender, Role::Receiver].map(|role| count(role).left);
        (names.filter(is_content).count(), left)
    }
}

/// A party of an honest fill.
struct Honest {
    me: PartyId,
    /// The frames that it received: a greeting, payload, and a last word.
    frames: Vec<Frame>,
    digests: Digests,
}

/// Fills a pool. The first byte says which party, the second which frame is another one.
pub fn fill(bytes: &[u8]) -> Verdict {
    static HONEST: OnceLock<Vec<Honest>> = OnceLock::new();
    let &[party, number, ref bytes @ ..] = bytes else {
        return None;
    };
    let parties = HONEST.get_or_init(honest);
    let party = &parties[usize::from(party) % parties.len()];
    let number = usize::from(number) % party.frames.len();
    let pool = Temporary::new();
    let mut mesh = mesh(party.me, vec![party.with(number, bytes)]);
    let end = pool.fill(&mut mesh);
    let is_payload = matches!(party.frames[number].kind, FrameKind::Data { .. });
    if &party.frames[number].payload[..] == bytes {
        assert!(end.is_ok(), "an honest peer");
    }
    match &end {
        Ok(()) => assert_eq!(pool.content(), (2, [1, 1])),
        Err(_) => assert_eq!(pool.content(), (0, [0, 0])),
    }
    match end {
        Ok(()) => return Some(Accepted),
        Err(FillError::Fault(Fault::Net(_))) => {}
        Err(FillError::Fault(Fault::Peer { .. } | Fault::Deviated { .. })) => {
            assert!(is_payload, "no check has failed");
        }
        // Another greeting is of another session, in which no digest is right.
        Err(FillError::Fault(Fault::Altered(_)) | FillError::Differs(_)) => assert_eq!(number, 0),
        Err(FillError::Pool(finding)) => {
            // The greeting says that the peer has come far.
            assert_eq!((number, finding.code), (0, Code::PoolFull), "{finding}");
        }
        Err(FillError::Fault(fault)) => panic!("a peer's bytes are no fault of ours: {fault}"),
        Err(FillError::KeepsOther(_)) => panic!("this party keeps no number"),
    }
    None
}

impl Honest {
    /// The honest peer, but for one frame.
    fn with(&self, number: usize, bytes: &[u8]) -> Script {
        let mut frames = self.frames.clone();
        frames[number].payload = bytes.to_vec().into();
        let is_payload = |frame: &&mut Frame| matches!(frame.kind, FrameKind::Data { .. });
        let payload = frames.iter_mut().filter(is_payload);
        let mut stream: Vec<u8> = payload.flat_map(|frame| frame.payload.to_vec()).collect();
        self.digests.correct(&mut stream);
        let mut left = &stream[..];
        for frame in frames.iter_mut().filter(is_payload) {
            let (now, rest) = left.split_at(frame.payload.len());
            (frame.payload, left) = (now.to_vec().into(), rest);
        }
        Script::of(frames)
    }
}

/// Both parties of an honest fill.
fn honest() -> Vec<Honest> {
    let sessions = Tap::honest(2, |mesh| {
        let end = Temporary::new().fill(mesh);
        assert!(end.is_ok(), "an honest fill");
        mesh.session()
    });
    let parties = sessions.into_iter().enumerate();
    let one = |(me, (session, taps)): (usize, (_, Vec<Tap>))| {
        let [me, peer] = [me, 1 - me].map(PartyId::from_index);
        Honest {
            me,
            frames: taps[0].frames(),
            digests: Digests::find(session, [peer, me], &taps[0].payload(), &[]),
        }
    };
    parties.map(one).collect()
}

/// Every frame of an honest fill, and examples of offers and states.
pub fn seeds() -> Vec<(&'static str, String, Vec<u8>)> {
    let mut seeds = Vec::new();
    for (party, honest) in honest().into_iter().enumerate() {
        for (number, frame) in honest.frames.into_iter().enumerate() {
            let input = [&[party as u8, number as u8], &frame.payload[..]].concat();
            seeds.push(("pool-fill", format!("party-{party}-frame-{number}"), input));
        }
    }
    for (target, examples) in ["pool-state", "pool-offer"]
        .into_iter()
        .zip(fuzzing::examples())
    {
        let examples = examples.into_iter();
        seeds.extend(examples.map(|(name, bytes)| (target, name.to_string(), bytes)));
    }
    seeds
}
