//! Round trips, known answers, and attacks on sealed files.

use super::*;
use std::io;
use tempfile::TempDir;
use zeroize::Zeroizing;

mod attacks;
mod folders;
mod verbs;

/// Smallest cost of Argon2id.
const SMALL: Argon2Cost = Argon2Cost {
    memory_kib: 32,
    passes: 1,
    lanes: 2,
};
/// Smallest segment.
const SEGMENT: usize = 4096;

/// A watch that lets an operation run to its end, or stops it at once.
const NEVER: Asked = Asked { to_stop: false };
const AT_ONCE: Asked = Asked { to_stop: true };

#[derive(Clone, Copy)]
struct Asked {
    to_stop: bool,
}

impl TransferWatch for Asked {
    fn passed(&mut self, _: u64) -> bool {
        !self.to_stop
    }
}

/// A temporary folder with a key file.
struct TestFolder(TempDir);

impl TestFolder {
    fn new() -> TestFolder {
        let folder = TestFolder(TempDir::new().unwrap());
        folder.save_key("k").unwrap();
        folder
    }

    fn save_key(&self, name: &str) -> Result<(), Refusal> {
        MasterKey::generate()?.save(&self.path(name))
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

    fn master(&self) -> MasterKey {
        MasterKey::load(&self.path("k")).unwrap()
    }

    /// Runs `seal` or `open` with arguments as on the command line, where `@NAME` is a path in this
    /// folder, with a typed passphrase and an optional request to stop.
    fn run(&self, command: &str, typed: &str, asked: Asked) -> Result<SealReport, Refusal> {
        self.run_as(command, typed, asked, &|| ())
    }

    /// Does the same as `run`, and calls a function when work begins.
    fn run_as(
        &self,
        command: &str,
        typed: &str,
        asked: Asked,
        meanwhile: &dyn Fn(),
    ) -> Result<SealReport, Refusal> {
        let path = |word: &str| match word.strip_prefix('@') {
            Some(name) => self.path(name),
            None => PathBuf::from(word),
        };
        let mut words = command.split(' ');
        let (verb, input) = (words.next().unwrap(), path(words.next().unwrap()));
        let (mut output, mut key_file, mut mode, mut force) = (None, None, Mode::Gcm, false);
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap();
            match word {
                "-o" => output = Some(path(value())),
                "--key-file" => key_file = Some(path(value())),
                "--mode" if value() == "ocb3" => mode = Mode::Ocb3,
                "--mode" => mode = Mode::Gcm,
                "--force" => force = true,
                word => panic!("no option of a test: {word}"),
            }
        }
        let mut ask = |_: &str| Ok(Zeroizing::new(typed.to_string()));
        let begin = |_| {
            meanwhile();
            asked
        };
        match verb {
            "seal" => {
                let request = Seal {
                    input,
                    output,
                    key_file,
                    mode,
                    force,
                };
                sealed(&request, SMALL, &mut ask, begin)
            }
            "open" => {
                let request = Open {
                    input,
                    output,
                    key_file,
                    force,
                };
                open(&request, &mut ask, begin)
            }
            verb => panic!("no verb of sealed files: {verb}"),
        }
    }

    fn does(&self, command: &str) -> SealReport {
        let done = self.run(command, "", NEVER);
        done.unwrap_or_else(|failure| panic!("{command}: {failure}"))
    }

    /// Asserts that each command is refused with a code.
    #[track_caller]
    fn refuses_all<const N: usize>(&self, cases: [(&str, &str); N]) {
        for (command, code) in cases {
            assert_eq!(self.refuses(command), code, "{command}");
        }
    }

    /// Runs a command that is refused and leaves nothing behind; returns the code.
    fn refuses(&self, command: &str) -> &'static str {
        let before = self.names();
        let failure = self.run(command, "", NEVER).unwrap_err();
        assert_eq!(self.names(), before, "{command}");
        failure.code.name()
    }

    /// Text of a failure without the path of the folder.
    fn reported(&self, failure: &Refusal) -> String {
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
        lock: KeySource::KeyFile,
        content,
        segment_bytes: SEGMENT as u32,
        salt: std::array::from_fn(|i| 32 + i as u8),
    }
}

fn sealer(crypto: SegmentCrypto) -> Sealer<Vec<u8>> {
    Sealer::new(Vec::new(), crypto).ok().unwrap()
}

/// A sealed file in memory.
fn sealed_bytes(header: &Header, master: &MasterKey, content: &[u8]) -> Vec<u8> {
    let mut sealer = sealer(crypto(header, master));
    assert!(sealer.write(content).is_ok());
    let (bytes, segments) = sealer.finish().ok().unwrap();
    let expected = content.len().div_ceil(header.segment_bytes as usize).max(1);
    assert_eq!(segments, expected as u64);
    bytes
}

/// Key file with the key bytes 0, 1, 2 ...
fn counting_master(folder: &TestFolder) -> MasterKey {
    let digits = hex::encode((0..32).collect::<Vec<u8>>());
    let path = folder.path("counting");
    private_key(&path, &format!("sealane-key-1:{digits}1dbb93fb\n"));
    MasterKey::load(&path).unwrap()
}

fn private_key(path: &Path, text: &str) {
    let _ = fs::remove_file(path);
    let mut file = output::private_file(path, false).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

#[test]
fn files_are_those_of_another_implementation() {
    // Digests of files made with OpenSSL's GCM and OCB (by Python's `cryptography`) and the
    // reference implementations of Argon2 in C and of BLAKE3, according to the format.
    let folder = TestFolder::new();
    let key = counting_master(&folder);
    let salt = header(Mode::Gcm, Content::File).salt;
    let typed = MasterKey::stretch("a passphrase", &salt, SMALL).unwrap();
    let digests = [
        "f4aa4330e6f532bdf87aae55d8db1c9221908327361e284ab490d10c3a1efa0e",
        "159c2f28281e9804cf7fcd5474227005d8053d74f38c8ec023945b26246a3ba4",
        "62c8178b11653963d6b97bf9a3b6eea52a4a35b70ae417cdee8ae7c6fbf17a03",
        "ec5854a36f0e1712544b2be4fcac49f9982d65a722e5bae9a873513ee0f01083",
    ];
    let locks = [
        (KeySource::KeyFile, &key),
        (KeySource::Passphrase(SMALL), &typed),
    ];
    let modes = locks
        .into_iter()
        .flat_map(|lock| [(Mode::Gcm, lock), (Mode::Ocb3, lock)]);
    for ((mode, (lock, master)), expected) in modes.zip(digests) {
        let mut header = header(mode, Content::File);
        header.lock = lock;
        let bytes = sealed_bytes(&header, master, &content(9000));
        let digest = blake3::hash(&bytes).to_hex();
        assert_eq!(digest.as_str(), expected, "{header:?}");
    }
}

/// A reader that returns a few bytes at a time, as pipes and networks do.
struct Slow<'a>(&'a [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let most = into.len().min(1 + self.0.len() % 1000);
        self.0.read(&mut into[..most])
    }
}

#[test]
fn content_of_every_length_around_segments_comes_back() {
    let folder = TestFolder::new();
    let master = folder.master();
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
            let tags = 16 * length.div_ceil(SEGMENT).max(1);
            assert_eq!(bytes.len(), HEADER_BYTES + length + tags);
            // The same by reading, as the verbs do.
            let mut sealer = sealer(crypto(&header, &master));
            let mut watch = NEVER;
            let copied = sealer.copy(&mut Slow(&content), length as u64, &mut watch);
            assert!(copied.is_ok());
            assert!(sealer.finish().is_ok_and(|(copy, _)| copy == bytes));
            let mut from = Slow(&bytes[HEADER_BYTES..]);
            let mut opener = Opener::new(&mut from, crypto(&header, &master));
            let mut back = vec![0; length + 1];
            assert!(opener.fill(&mut back).is_ok_and(|filled| filled == length));
            assert_eq!(back[..length], content);
        }
    }
}
