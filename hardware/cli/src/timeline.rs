//! The pipeline over time, as an SVG picture.
//!
//! Each cycle is a square, from left to right and in rows of [`ACROSS`]. Its colour says what the
//! machine did: issued a gate of type XOR or another one, waited for a port, or for an operand.

use sealane_accel::Netlist;
use sealane_accel::timing::CycleCount;
use sealane_bench::plot::{document, escaped};
use std::fmt::Write;

/// Cycles in a row.
const ACROSS: u32 = 128;
/// Size of a square, and the distance of two.
const SQUARE: u32 = 5;
const PITCH: u32 = 6;
const LEFT: u32 = 60;
const TOP: u32 = 52;
/// Most cycles that are drawn.
const MOST: u32 = 200_000;

/// Meanings of the colours, in the order of the classes of a chart.
const MEANINGS: [&str; 4] = ["AND", "XOR", "waits for an operand", "waits for a port"];

/// Draws a netlist cycle.
pub fn svg(heading: &str, netlist: &Netlist, netlist_cycle: &CycleCount) -> String {
    let cycles = (netlist_cycle.garbling as u32).min(MOST);
    let rows = cycles.div_ceil(ACROSS);
    let size = [LEFT + ACROSS * PITCH + 20, TOP + rows * PITCH + 20].map(f64::from);
    document(heading, size, |out| {
        writeln!(out, "<text x=\"16\" y=\"22\">{}</text>", escaped(heading))?;
        let mut x = LEFT;
        for (colour, meaning) in MEANINGS.iter().enumerate() {
            square(out, colour, [x, 32], 10)?;
            writeln!(out, "<text x=\"{}\" y=\"41\">{meaning}</text>", x + 14)?;
            x += 40 + 7 * meaning.len() as u32;
        }
        for row in 0..rows {
            let [y, first] = [TOP + row * PITCH + 6, row * ACROSS];
            if row % 4 == 0 {
                let end = LEFT - 6;
                writeln!(
                    out,
                    r#"<text class="group" x="{end}" y="{y}">{first}</text>"#
                )?;
            }
        }
        let mut next = 0;
        for issue in &netlist_cycle.issues {
            runs(out, 2, next, issue.ready)?;
            runs(out, 3, issue.ready, issue.cycle)?;
            let gate = netlist.gates()[(issue.node - netlist.first_gate()) as usize];
            let colour = usize::from(gate.kind.is_xor());
            runs(out, colour, issue.cycle, issue.cycle + 1)?;
            next = issue.cycle + 1;
        }
        Ok(())
    })
}

/// Draws the cycles from `from` to before `to`.
fn runs(out: &mut String, colour: usize, from: u32, to: u32) -> std::fmt::Result {
    for cycle in from..to.min(MOST) {
        let [x, y] = [LEFT + cycle % ACROSS * PITCH, TOP + cycle / ACROSS * PITCH];
        square(out, colour, [x, y], SQUARE)?;
    }
    Ok(())
}

fn square(out: &mut String, colour: usize, [x, y]: [u32; 2], side: u32) -> std::fmt::Result {
    let place = format!("x=\"{x}\" y=\"{y}\" width=\"{side}\" height=\"{side}\"");
    writeln!(out, "<rect class=\"c{colour}\" {place}/>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_accel::fase::{NetlistCycle, Variant};
    use sealane_accel::formats::read;
    use sealane_accel::timing::netlist_cycle;

    /// An AND, its wait of eleven cycles, and the XOR that reads it.
    #[test]
    fn every_cycle_is_a_square_of_its_colour() {
        let text = "0 0 2 0 0 1 2\n0 2\n1 0\n8 6\n3\n\n\n";
        let netlist = read(text.as_bytes()).unwrap().netlist;
        let cycles = netlist_cycle(&netlist, Variant::Queued, NetlistCycle::Later);
        let drawn = svg("<one>", &netlist, &cycles);
        let count = |class: &str| {
            let square = format!("<rect class=\"{class}\"");
            drawn.matches(&square).count() - 1 // The legend has one of each.
        };
        assert_eq!(["c0", "c1", "c2", "c3"].map(count), [1, 1, 11, 0]);
        assert!(!drawn.contains("<one>") && drawn.ends_with("</svg>\n"));
    }
}
