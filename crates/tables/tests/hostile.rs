//! Damaged and lying files: each is refused, or read according to its content, without a panic and
//! without allocating the memory that it claims.

use crate::common::{self, NUMBERS, age, assert_has, file, input, load, pairs, read_path};
use flate2::Compression;
use flate2::write::GzEncoder;
use sealane_program::graph::Input;
use sealane_program::types::Type;
use sealane_tables::TableSource;
use std::fs;
use std::io::Write;
use std::ops::Range;
use std::path::Path;

fn inputs() -> [Input; 3] {
    let fixed = Type::fixed(40, 8);
    let range = (fixed.range().lo, fixed.range().hi);
    let most = (-(1 << 63), (1 << 63) - 1);
    [
        input("age", Type::I64, NUMBERS, most, &[]),
        input("f64", fixed, NUMBERS, range, &[]),
        pairs("pair", Type::I64, most, &[]),
    ]
}

fn fixtures() -> impl Iterator<Item = (String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let files = fs::read_dir(folder).expect("the fixtures");
    let files = files.map(|file| file.expect("a file").path());
    let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "parquet"));
    files.map(|path| (path.display().to_string(), fs::read(path).expect("a file")))
}

/// Reads the bytes as a file; returns the error, or the number of rows.
fn read(bytes: &[u8]) -> Result<u64, String> {
    let (_folder, path) = file("x.parquet", bytes);
    let read = load(TableSource::File(&path), &inputs(), 1 << 20);
    read.map(|loaded| loaded[0].data.shape[0])
        .map_err(|error| error.render_with_source())
}

#[test]
fn a_file_that_was_cut_off_is_refused() {
    for (name, bytes) in fixtures() {
        for length in (0..bytes.len()).step_by(97) {
            let error = read(&bytes[..length]).expect_err("it has to be refused");
            assert!(error.contains("was cut off"), "{name} {length}: {error}");
        }
    }
}

#[test]
fn another_format_is_no_parquet() {
    let others = [
        &b""[..],
        b"PAR1",
        b"age,f64\n1,2\n",
        b"PAR1\xff\xff\xff\xffPAR1",
    ];
    for bytes in others {
        let error = read(bytes).expect_err("it has to be refused");
        assert_has(&error, ["it is no Parquet file, or was cut off"]);
    }
}

#[test]
fn a_damaged_file_is_read_or_refused_within_bounds() {
    for (name, bytes) in fixtures() {
        let mut damaged = bytes.clone();
        // Thirteen is coprime to eight, so every bit of a byte is flipped.
        for at in (0..bytes.len()).step_by(13) {
            damaged[at] ^= 1 << (at % 8);
            if let Ok(rows) = read(&damaged) {
                assert_eq!(rows, 5, "{name} {at}");
            }
            damaged[at] = bytes[at];
        }
    }
    // Twice the largest accepted page, and the memory of the tests.
    #[cfg(target_os = "linux")]
    assert!(most_resident_kib() < 2 * (1 << 17) + (1 << 17));
}

/// Packs each of these parts by gzip.
fn packed(parts: &[&[u8]]) -> Vec<u8> {
    let pack = |part: &&[u8]| {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(part).expect("memory");
        packer.finish().expect("memory")
    };
    parts.iter().map(pack).collect::<Vec<_>>().concat()
}

/// Reads ages from a file of this name; returns the error, or the ages.
fn ages(name: &str, bytes: &[u8]) -> Result<Vec<u64>, String> {
    common::read(age(), name, bytes).map(|data| data.elements.clone())
}

#[test]
fn tables_that_gzip_has_packed_are_read_and_damaged_ones_refused() {
    let whole = packed(&[b"name,age\nA,4", b"1\nB,7\n"]);
    for name in ["x.csv.gz", "x.csv"] {
        assert_eq!(ages(name, &whole), Ok(vec![41, 7]));
    }
    let one = packed(&[b"name,age\nA,41\nB,old\n"]);
    let reported = ages("x.csv.gz", &one).expect_err("a word");
    assert_has(&reported, ["`old` in column `age`"]);
    assert!(!reported.contains(" | "), "{reported}");
    let right = packed(&[b"age\n41\n"]);
    for at in 2..right.len() {
        let reported = ages("x.csv.gz", &right[..at]).expect_err("it was cut off");
        assert!(reported.contains("cut off"), "{reported}");
    }
    for at in right.len() - 8..right.len() {
        let mut damaged = right.clone();
        damaged[at] ^= 1;
        let reported = ages("x.csv.gz", &damaged).expect_err("it was damaged");
        assert!(reported.starts_with("error[data-unreadable]"), "{reported}");
    }
}

/// A single cell of 300 MB once took 2 GB of memory.
#[test]
fn records_are_bounded_whatever_they_are_unpacked_from() {
    let zeros = vec![b'0'; 5 << 20];
    let reported = ages("x.csv.gz", &packed(&[b"age\n4\n", &zeros])).expect_err("too long");
    assert_has(
        &reported,
        ["x.csv.gz has a record of more than 4 MiB\n --> x.csv.gz:3:1"],
    );
    let reported = ages("x.csv", &[b"age,n\n4,\"", &zeros[..]].concat()).expect_err("too long");
    assert_has(&reported, ["not closed within 4 MiB\n --> x.csv:2:3"]);
    let rows = b"4\n".repeat(1 << 20);
    let reported = ages("x.csv.gz", &packed(&[b"age\n", &rows])).expect_err("too many");
    assert_has(&reported, ["x.csv.gz has more than 4 records"]);
    let wide = [&b"n,age\n"[..], &zeros[..3 << 20], b",7"].concat();
    assert_eq!(ages("x.csv", &wide), Ok(vec![7]));
}

/// The device was once read until memory was full.
#[test]
#[cfg(unix)]
fn a_path_that_leads_to_no_file_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["x.csv", "x.npy", "x.parquet"] {
        let path = folder.path().join(name);
        for target in ["/dev/zero", "/"] {
            std::os::unix::fs::symlink(target, &path).expect("a link");
            let reported = read_path(age(), &path, 4).map(|_| ()).expect_err("no file");
            assert!(reported.starts_with("error[data-unreadable]"), "{reported}");
            fs::remove_file(&path).expect("the link");
        }
    }
    let header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (4194304,), }";
    let mut large = [b"\x93NUMPY\x01\x00v\0", &header[..]].concat();
    large.resize(4 << 20, 0);
    let reported = ages("x.npy", &large).expect_err("far too many");
    assert_has(&reported, ["the limit"]);
}

/// Position of the values of a column, which are contiguous.
fn values<const N: usize>(bytes: &[u8], values: impl IntoIterator<Item = [u8; N]>) -> Range<usize> {
    let wanted = values.into_iter().flatten().collect::<Vec<_>>();
    let mut windows = bytes.windows(wanted.len());
    let start = windows.position(|window| window == wanted);
    let start = start.expect("plain values in this file");
    start..start + wanted.len()
}

#[test]
fn a_damaged_page_with_a_checksum_is_refused() {
    let with_checksums = |name: &str| name.ends_with("pyarrow-checksums.parquet");
    let found = fixtures().find(|(name, _)| with_checksums(name));
    let (_, bytes) = found.expect("the fixture with checksums");
    assert_eq!(read(&bytes), Ok(5));
    let ages = [41i64, 7, 120, 0, 41].map(i64::to_le_bytes);
    let floats = [0.5f64, -1.25, 3.0, -0.0, 0.1].map(f64::to_le_bytes);
    let pairs = (1i32..=10).map(i32::to_le_bytes);
    let pages = [
        values(&bytes, ages),
        values(&bytes, floats),
        values(&bytes, pairs),
    ];
    let mut damaged = bytes.clone();
    for at in pages.into_iter().flatten() {
        damaged[at] ^= 1 << (at % 8);
        let error = read(&damaged).expect_err("a value that is not what was written");
        assert!(error.contains("CRC"), "{at}: {error}");
        damaged[at] = bytes[at];
    }
}

/// Peak memory of this process.
#[cfg(target_os = "linux")]
fn most_resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("the state of this process");
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let digits = line.and_then(|line| line.split_whitespace().nth(1));
    let number = digits.and_then(|digits| digits.parse().ok());
    number.expect("a number of KiB")
}
