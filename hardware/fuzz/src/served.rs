//! Served netlists: the messages of server and client, inputs as text, and records of a device,
//! which is trusted with secrets and may be broken all the same.

use sealane_fuzz_harness::{Accepted, Verdict};
use sealane_serve::collect::Collector;
use sealane_serve::device::{Client, RECORD_BYTES, Record, RecordCounts};
use sealane_serve::input::{InputText, hex};

/// Words of texts of inputs.
pub const WORDS: &[&str] = &["cycles ", " 1 ", "00", "ff", "a", "\n"];

/// Reads the messages; an accepted one is written in a form that is read back unchanged and is not
/// longer.
pub fn messages(bytes: &[u8]) -> Verdict {
    let kinds = sealane_serve::fuzzing(bytes);
    for (kind, again) in kinds.iter().enumerate() {
        let Some(again) = again else { continue };
        assert!(again.len() <= bytes.len(), "kind {kind} grows");
        assert_eq!(sealane_serve::fuzzing(again)[kind].as_ref(), Some(again));
    }
    kinds.iter().any(Option::is_some).then_some(Accepted)
}

/// Reads the text of an input; its bits give the same digits.
pub fn input(bytes: &[u8]) -> Verdict {
    let text = str::from_utf8(bytes).ok()?;
    let input = InputText::parse(text).ok()?;
    assert!(input.span.cycles > 0);
    let digits = (0..=bytes.len() as u64).find_map(|bytes| input.bits(8 * bytes).ok());
    let digits = hex(&digits.expect("as many bytes as there are"));
    let again = InputText::parse(&digits).expect("digits");
    let bits = again.bits(4 * digits.len() as u64);
    assert_eq!(hex(&bits.expect("bits")), digits);
    Some(Accepted)
}

/// Collects records of a device. The result is whole netlist cycles of the right sizes, in
/// order, made of exactly the records that were taken.
pub fn records(bytes: &[u8]) -> Verdict {
    let shape = RecordCounts {
        held: 1,
        inputs: 2,
        ands: 2,
        outputs: 3,
    };
    let (client, cycles) = (Client(3), 4);
    let mut collector = Collector::new(client, shape, cycles);
    let (mut taken, mut whole) = (0, 0);
    for bytes in bytes.chunks_exact(RECORD_BYTES) {
        let bytes: &[u8; RECORD_BYTES] = bytes.try_into().expect("whole records");
        let record = Record::parse(client, bytes);
        collector.put(&record.ok()?).ok()?;
        taken += 1;
        while let Some(cycle) = collector.take() {
            let labels = if whole == 0 { 2 } else { 1 };
            let sizes = [cycle.labels.len(), cycle.tables.len(), cycle.masks.len()];
            assert_eq!(sizes, [labels, 64, 3]);
            assert!(cycle.masks.iter().all(|mask| *mask <= 1));
            whole += 1;
        }
        assert!(whole <= cycles && taken >= 4 * whole);
    }
    assert_eq!(collector.is_done(), whole == cycles);
    collector.is_done().then_some(Accepted)
}

/// An honest run of a device, an input, and messages.
pub fn seeds() -> Vec<(&'static str, String, Vec<u8>)> {
    let mut records = Vec::new();
    for cycle in 0..4u8 {
        let labels = if cycle == 0 { 0..2 } else { 1..2 };
        let all = labels.map(|index| (0, index));
        for (tag, index) in all.chain([(1, 0), (1, 1), (2, 0)]) {
            let mut record = [0; RECORD_BYTES];
            (record[0], record[4], record[8]) = (tag, cycle, index);
            let data = if tag == 2 { 1 } else { 16 };
            record[16..16 + data].fill(5);
            records.extend_from_slice(&record);
        }
    }
    let [ask, granted, refused] = sealane_serve::examples();
    let seeds = [
        ("device", "whole", records),
        ("served-input", "words", b"cycles 8\na1 0F".to_vec()),
        ("served", "ask", ask),
        ("served", "granted", granted),
        ("served", "refused", refused),
    ];
    seeds
        .map(|(target, name, bytes)| (target, name.to_string(), bytes))
        .to_vec()
}
