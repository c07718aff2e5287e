//! Netlists for garbling hardware: each comes back from every form that can hold it, and the cycles
//! of its gates keep the bounds that are stated as certified.

use sealane_accel::bound::bound;
use sealane_accel::fase::{NetlistCycle, Variant};
use sealane_accel::formats::{Format, Place, Width, read, write};
use sealane_accel::timing::netlist_cycle;
use sealane_fuzz_harness::{Accepted, Verdict, place};

/// Words of the formats.
#[rustfmt::skip] // As many words in a line as there is room for.
pub const WORDS: &[&str] = &[
    " 0 ", " 1 ", "-1 ", "-2 ", "-3 ", " 12 ", " 6 ", " 8 ", "ports 0", "\n", "00000000\n",
    "0003FFFDE\n", "000000000000000000000000\n", "\u{1}",
];

/// Most gates of a netlist that is run: larger ones are only read.
const MOST_GATES: usize = 2000;

/// Reads a netlist, writes it in every form, and runs it on both machines.
pub fn netlist(bytes: &[u8]) -> Verdict {
    let file = match read(bytes) {
        Ok(file) => file,
        Err(error) => {
            match (error.place, str::from_utf8(bytes)) {
                (Place::Text { line, column }, Ok(text)) => place(text, line, column),
                (Place::Text { .. }, Err(_)) => panic!("a line of binary data"),
                (Place::Byte(byte), _) => assert!(byte <= bytes.len(), "byte {byte}"),
            }
            return None;
        }
    };
    let hscd = [Width::Narrow, Width::Wide].map(Format::Hscd);
    let scd = [Format::Fase, Format::TinyGarble, Format::JustGarble];
    for format in scd.into_iter().chain(hscd) {
        // Not every form can hold every netlist; the writer reports that.
        let stalls = match format {
            Format::Hscd(_) => &file.stalls[..],
            _ => &[],
        };
        let Ok(written) = write(&file.netlist, format, stalls) else {
            continue;
        };
        let again = read(&written).expect("what is written can be read");
        assert_eq!(again.format, format);
        let (one, other) = (file.netlist.parts(), again.netlist.parts());
        assert_eq!(one.gates, other.gates);
        assert_eq!(one.flip_flops, other.flip_flops);
        assert_eq!(file.netlist.inputs(), again.netlist.inputs());
        if let Format::Hscd(_) = format {
            assert_eq!(again.stalls, file.stalls);
        } else {
            assert_eq!(one.outputs, other.outputs);
        }
    }
    if file.netlist.gates().len() <= MOST_GATES {
        let least = bound(&file.netlist).cycles();
        for variant in [Variant::Plain, Variant::Queued] {
            let cycles = netlist_cycle(&file.netlist, variant, NetlistCycle::Later);
            assert!(least <= cycles.garbling, "{least} > {}", cycles.garbling);
            let gates = file.netlist.gates().len() as u64;
            let all = gates + cycles.port_stalls + cycles.dependency_stalls;
            assert_eq!(cycles.garbling, all, "every cycle has one reason");
        }
    }
    Some(Accepted)
}
