//! Round trips, known answers, and everything that an attacker can do to a sealed file.

use super::*;
use crate::args::{Cli, Verb};
use clap::Parser;
use sealane_net::Cancel;
use serde_json::{Value, json};
use std::io;
use std::sync::LazyLock;
use tempfile::TempDir;
use zeroize::Zeroizing;

mod attacks;
mod folders;
mod verbs;

/// Argon2id as small as it can be.
const SMALL: Cost = Cost {
    memory_kib: 32,
    passes: 1,
    lanes: 2,
};
/// The smallest segment.
const SEGMENT: usize = 4096;
static NEVER: LazyLock<Cancel> = LazyLock::new(Cancel::default);
static AT_ONCE: LazyLock<Cancel> = LazyLock::new(|| {
    let cancel = Cancel::default();
    cancel.cancel();
    cancel
});

/// A folder with a key file.
struct Desk(TempDir);

impl Desk {
    fn new() -> Desk {
        let desk = Desk(TempDir::new().unwrap());
        Master::generate().unwrap().save(&desk.path("k")).unwrap();
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    fn get(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    fn master(&self) -> Master {
        Master::load(&self.path("k")).unwrap()
    }

    /// `sealane VERB ...`, where `@NAME` is a path on this desk, with a passphrase that somebody
    /// types and a signal that comes or does not.
    fn run(&self, command: &str, typed: &str, asked: &Cancel) -> Result<Value, Failure> {
        self.run_as(command, typed, asked, &|| ())
    }

    /// The same, and something that happens when work begins.
    fn run_as(
        &self,
        command: &str,
        typed: &str,
        asked: &Cancel,
        meanwhile: &dyn Fn(),
    ) -> Result<Value, Failure> {
        let place = |word: &str| match word.strip_prefix('@') {
            Some(name) => self.path(name).into_os_string(),
            None => word.into(),
        };
        let words = ["sealane"].into_iter().chain(command.split(' ')).map(place);
        let mut ask = |_: &str| Ok(Zeroizing::new(typed.to_string()));
        let begin = |_| {
            meanwhile();
            At {
                watch: Watch::new(asked, None),
                _work: None,
            }
        };
        let printed = match Cli::try_parse_from(words).unwrap().verb {
            Verb::Seal(args) => sealed(&args, SMALL, &mut ask, begin)?,
            Verb::Open(args) => opened(&args, &mut ask, begin)?,
            _ => panic!("this is no verb of sealed files"),
        };
        Ok(printed.1)
    }

    fn does(&self, command: &str) -> Value {
        let done = self.run(command, "", &NEVER);
        done.unwrap_or_else(|failure| panic!("{command}: {failure}"))
    }

    /// The code with which a command is refused, which leaves nothing behind.
    fn refuses(&self, command: &str) -> &'static str {
        let before = self.names();
        let code = self.run(command, "", &NEVER).unwrap_err().finding().code;
        assert_eq!(self.names(), before, "{command}");
        code
    }

    /// What a failure says, without the folder.
    fn told(&self, failure: &Failure) -> String {
        let folder = format!("{}/", self.0.path().display());
        failure.to_string().replace(&folder, "")
    }
}

fn content(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i * i % 251) as u8).collect()
}

fn header(mode: Mode, content: Content) -> Header {
    Header {
        mode,
        lock: Lock::KeyFile,
        content,
        segment_bytes: SEGMENT as u32,
        salt: std::array::from_fn(|i| 32 + i as u8),
    }
}

/// A sealed file in memory.
fn sealed_bytes(header: &Header, master: &Master, content: &[u8]) -> Vec<u8> {
    let sealer = Sealer::new(Vec::new(), places(header, master));
    let Ok(mut sealer) = sealer else { panic!() };
    assert!(sealer.write(content).is_ok());
    let Ok((bytes, segments)) = sealer.finish() else {
        panic!()
    };
    let expected = content.len().div_ceil(header.segment_bytes as usize).max(1);
    assert_eq!(segments, expected as u64);
    bytes
}

/// The key file whose bytes are 0, 1, 2 ...
fn counting_master(desk: &Desk) -> Master {
    let digits = hex::encode((0..32).collect::<Vec<u8>>());
    private_key(
        &desk.path("counting"),
        &format!("sealane-key-1:{digits}1dbb93fb\n"),
    );
    Master::load(&desk.path("counting")).unwrap()
}

fn private_key(path: &Path, text: &str) {
    let _ = fs::remove_file(path);
    let mut file = output::private_file(path, false).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

#[test]
fn files_are_those_of_another_implementation() {
    // Digests of files that OpenSSL's GCM and OCB (of Python's `cryptography`), the reference
    // implementation of Argon2 in C and that of BLAKE3 made, as the format says.
    let desk = Desk::new();
    let key = counting_master(&desk);
    let locked = |mode, lock| Header {
        lock,
        ..header(mode, Content::File)
    };
    let passphrase = Lock::Passphrase(SMALL);
    let salt = header(Mode::Gcm, Content::File).salt;
    let typed = Master::stretch("a passphrase", &salt, SMALL).unwrap();
    for (header, master, expected) in [
        (
            locked(Mode::Gcm, Lock::KeyFile),
            &key,
            "f4aa4330e6f532bdf87aae55d8db1c9221908327361e284ab490d10c3a1efa0e",
        ),
        (
            locked(Mode::Ocb3, Lock::KeyFile),
            &key,
            "159c2f28281e9804cf7fcd5474227005d8053d74f38c8ec023945b26246a3ba4",
        ),
        (
            locked(Mode::Gcm, passphrase),
            &typed,
            "62c8178b11653963d6b97bf9a3b6eea52a4a35b70ae417cdee8ae7c6fbf17a03",
        ),
        (
            locked(Mode::Ocb3, passphrase),
            &typed,
            "ec5854a36f0e1712544b2be4fcac49f9982d65a722e5bae9a873513ee0f01083",
        ),
    ] {
        let bytes = sealed_bytes(&header, master, &content(9000));
        assert_eq!(
            blake3::hash(&bytes).to_hex().as_str(),
            expected,
            "{header:?}"
        );
    }
}

/// Gives its bytes a few at a time, as pipes and networks do.
struct Slow<'a>(&'a [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = into.len().min(1 + self.0.len() % 1000);
        self.0.read(&mut into[..most])
    }
}

#[test]
fn content_of_every_length_around_segments_comes_back() {
    let desk = Desk::new();
    let master = desk.master();
    for mode in [Mode::Gcm, Mode::Ocb3] {
        let header = header(mode, Content::File);
        let around = (0..4).flat_map(|segments| [0, 1, 15, 16, 17].map(|i| (segments, i)));
        let lengths = around.flat_map(|(segments, i)| {
            let boundary = segments * SEGMENT;
            [boundary + i, boundary.saturating_sub(i)]
        });
        for length in lengths {
            let content = content(length);
            let bytes = sealed_bytes(&header, &master, &content);
            assert_eq!(
                bytes.len(),
                HEADER_BYTES + length + 16 * length.div_ceil(SEGMENT).max(1)
            );
            // The same by reading, which the verbs do.
            let Ok(mut sealer) = Sealer::new(Vec::new(), places(&header, &master)) else {
                panic!()
            };
            let mut watch = Watch::new(&NEVER, None);
            let copied = sealer.copy(&mut Slow(&content), length as u64, &mut watch);
            assert!(copied.is_ok());
            assert!(sealer.finish().is_ok_and(|(copy, _)| copy == bytes));
            let mut from = Slow(&bytes[HEADER_BYTES..]);
            let mut opener = Opener::new(&mut from, places(&header, &master));
            let mut back = vec![0; length + 1];
            assert!(opener.fill(&mut back).is_ok_and(|filled| filled == length));
            assert_eq!(back[..length], content);
        }
    }
}
