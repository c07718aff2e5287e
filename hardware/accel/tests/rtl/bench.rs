//! Runs the bench of `rtl/` and reads its records and counters.

use std::io::{BufReader, ErrorKind, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use sealane_accel::Netlist;
use sealane_accel::engine::Engine;
use sealane_accel::fase::Variant;
use sealane_accel::formats::{Format, Width, write};
use sealane_block::{Block, Coins};
use sealane_hw_testkit::slow::{Hash, mi, prp};

/// A build of the bench: its folder, and what it is to agree with.
pub struct Build {
    folder: &'static str,
    pub variant: Variant,
    pub hash: Hash,
}

/// A build of better engines. Its netlists are those of `sealane_accel::bundle`.
pub struct EngineBuild {
    pub build: Build,
    pub engine: Engine,
}

impl EngineBuild {
    /// An AND and three XORs a cycle, eight banks.
    pub const BANKED: EngineBuild = EngineBuild::of("banked", prp, 1);
    /// Two such engines over sixteen banks.
    pub const TWO: EngineBuild = EngineBuild::of("two", prp, 2);
    pub const ALL: [EngineBuild; 2] = [EngineBuild::BANKED, EngineBuild::TWO];
    /// Both with a key for each half of each gate.
    pub const MI: [EngineBuild; 2] = [
        EngineBuild::of("banked_mi", mi, 1),
        EngineBuild::of("two_mi", mi, 2),
    ];

    const fn of(folder: &'static str, hash: Hash, engines: u32) -> EngineBuild {
        EngineBuild {
            build: Build::of(folder, Variant::Queued, hash),
            engine: Engine {
                engines,
                ..Engine::BANKED
            },
        }
    }
}

impl Build {
    /// FASE's machine with the hash of `prp`.
    pub const FASE: Build = Build::of("fase", Variant::Queued, prp);
    /// The same without the queue of the label memory.
    pub const PLAIN: Build = Build::of("plain", Variant::Plain, prp);
    /// A key for each half of each gate.
    pub const MI: Build = Build::of("mi", Variant::Queued, mi);
    /// The hash without sigma, which no scheme of crate `garble` has.
    pub const INSECURE: Build = Build::of("insecure", Variant::Queued, prp);

    const fn of(folder: &'static str, variant: Variant, hash: Hash) -> Build {
        Build {
            folder,
            variant,
            hash,
        }
    }

    fn program(&self) -> PathBuf {
        sealane_hw_testkit::bench(self.folder)
    }
}

/// The blocks that a session takes, in order.
#[derive(Clone, Copy)]
pub struct Seeds {
    pub hash: Block,
    pub offset: Block,
    pub label_key: Block,
    pub label_start: Block,
}

impl Seeds {
    /// Draws those of a session, by number.
    pub fn drawn(number: u64) -> Seeds {
        let mut coins = Coins::danger_fixed_seed(number);
        let mut blocks = coins.secret("test: seeds");
        Seeds {
            hash: blocks.block(),
            offset: Block::new(blocks.block().value() | 1),
            label_key: blocks.block(),
            // Near the end of a word, so that the counter carries.
            label_start: Block::new(blocks.block().value() | 0xffff_ffff_ffff_fff0),
        }
    }

    /// All of them, in order.
    pub fn blocks(&self) -> [Block; 4] {
        [self.hash, self.offset, self.label_key, self.label_start]
    }

    fn text(&self) -> String {
        let all = self.blocks().map(|block| format!("{:032x}", block.value()));
        all.join(",")
    }
}

/// One record of the stream.
#[derive(PartialEq, Eq)]
pub struct Record {
    pub tag: u32,
    pub netlist_cycle: u32,
    pub index: u32,
    pub data: [u8; 32],
}

pub const LABEL: u32 = 0;
pub const TABLE: u32 = 1;
pub const MASKS: u32 = 2;

impl Record {
    /// The lower or the upper block of the data.
    pub fn block(&self, half: usize) -> Block {
        let bytes = self.data[16 * half..][..16].try_into();
        Block::from_bytes(bytes.expect("sixteen bytes"))
    }
}

/// The counters of a session.
#[derive(Clone, Debug)]
pub struct Report {
    pub loaded: bool,
    pub fault: u64,
    pub first_garbling: u64,
    pub garbling: u64,
    pub total: u64,
    pub held: u64,
    pub tables: u64,
    pub secret_words_left: u64,
}

/// How a session ended.
pub mod fault {
    pub const NONE: u64 = 0;
    pub const NO_NETLIST: u64 = 1;
    pub const NO_CYCLES: u64 = 2;
    pub const OLD_KEY: u64 = 3;
    pub const LIMIT: u64 = 4;
}

/// A run of the bench: an iterator over records, then the counters.
pub struct BenchRun {
    child: Child,
    records: BufReader<std::process::ChildStdout>,
    _netlist: tempfile::TempDir,
}

impl BenchRun {
    pub fn of(build: &Build, netlist: &Netlist, netlist_cycles: u64, seeds: &[Seeds]) -> BenchRun {
        BenchRun::with(build, netlist, netlist_cycles, seeds, &[])
    }

    /// With more options of the bench.
    pub fn with(
        build: &Build,
        netlist: &Netlist,
        netlist_cycles: u64,
        seeds: &[Seeds],
        options: &[&str],
    ) -> BenchRun {
        // Both widths are read; narrow ones are those of the paper.
        let narrow = write(netlist, Format::Hscd(Width::Narrow), &[]);
        let text = narrow.or_else(|_| write(netlist, Format::Hscd(Width::Wide), &[]));
        let text = text.expect("HSCD");
        BenchRun::of_text(build, &text, netlist_cycles, seeds, options)
    }

    /// On the text of a file.
    pub fn of_text(
        build: &Build,
        text: &[u8],
        netlist_cycles: u64,
        seeds: &[Seeds],
        options: &[&str],
    ) -> BenchRun {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("netlist.hscd");
        std::fs::write(&path, text).expect("a file");
        let mut command = Command::new(build.program());
        command.arg(&path).args(["--stream", "-", "--cycles"]);
        command.arg(netlist_cycles.to_string()).args(options);
        for seeds in seeds {
            command.args(["--seeds", &seeds.text()]);
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the bench");
        let stdout = child.stdout.take().expect("a pipe");
        BenchRun {
            child,
            records: BufReader::with_capacity(1 << 16, stdout),
            _netlist: folder,
        }
    }

    /// The next record, until the end.
    pub fn record(&mut self) -> Option<Record> {
        let mut bytes = [0; 48];
        match self.records.read_exact(&mut bytes) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return None,
            Err(error) => panic!("{error}"),
        }
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("a word"));
        Some(Record {
            tag: word(0),
            netlist_cycle: word(4),
            index: word(8),
            data: bytes[16..].try_into().expect("the rest"),
        })
    }

    /// All records that are left.
    pub fn records(&mut self) -> Vec<Record> {
        std::iter::from_fn(|| self.record()).collect()
    }

    /// The counters of each session, behind all records.
    pub fn reports(self) -> Vec<Report> {
        let output = self.child.wait_with_output().expect("the bench");
        let text = String::from_utf8(output.stderr).expect("text");
        assert!(output.status.success(), "{text}");
        let reports = text.lines().map(|line| {
            let json: serde_json::Value = serde_json::from_str(line).expect(line);
            let number = |name: &str| json[name].as_u64().expect(name);
            Report {
                loaded: json["loaded"].as_bool().expect("a truth"),
                fault: number("fault"),
                first_garbling: number("first_garbling_cycles"),
                garbling: number("garbling_cycles"),
                total: number("total_cycles"),
                held: number("held_cycles"),
                tables: number("tables"),
                secret_words_left: number("secret_words_left"),
            }
        });
        reports.collect()
    }
}
