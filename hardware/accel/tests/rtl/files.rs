//! Files for the better engines, taken apart and changed.

use sealane_accel::Operand;
use sealane_accel::bundle::Bundles;

pub const LAST: u32 = 1 << 9;
pub const DRIVES: u32 = 1 << 10;

/// A gate or a move of a file.
pub struct Line {
    /// Where it is in the file.
    pub at: usize,
    /// The number of its bundle.
    pub bundle: usize,
    /// The number of its gate; none for a move.
    pub gate: Option<usize>,
    /// True for a gate that drives no flip-flop.
    pub has_place: bool,
    /// Bank and place, in their bits.
    pub place: u32,
}

/// A file, by lines, and the netlist in its order.
pub struct File<'a> {
    pub made: &'a Bundles,
    pub words: Vec<String>,
    pub lines: Vec<Line>,
}

/// Bits of bank, and of place or flip-flop, in the lowest field of a gate.
pub const PLACE: u32 = 0xffff << 11 | 0xf << 5;

impl File<'_> {
    pub fn of(made: &Bundles) -> File<'_> {
        let words: Vec<String> = made.text.lines().map(str::to_string).collect();
        let first = 4 + made.netlist.flip_flops().len();
        let (mut bundle, mut gate) = (0, 0);
        let mut lines = Vec::new();
        for (at, word) in words.iter().enumerate().skip(first) {
            let low = field(word, 2);
            let is_move = low >> 1 & 15 == 15;
            lines.push(Line {
                at,
                bundle,
                gate: (!is_move).then_some(gate),
                has_place: !is_move && low & DRIVES == 0,
                place: low & PLACE,
            });
            gate += usize::from(!is_move);
            bundle += usize::from(low & LAST != 0);
        }
        File { made, words, lines }
    }

    /// Lines of gates with places, and their gates.
    pub fn placed(&self) -> impl Iterator<Item = (&Line, usize)> {
        let gates = self.lines.iter().filter(|line| line.has_place);
        gates.filter_map(|line| Some((line, line.gate?)))
    }

    /// The gates that a line reads.
    pub fn reads(&self, line: &Line) -> Vec<usize> {
        let netlist = &self.made.netlist;
        let place = |wire: u32| wire.checked_sub(netlist.first_gate());
        let operands: Vec<Operand> = match line.gate {
            Some(gate) => netlist.gates()[gate].operands().collect(),
            None => {
                let own = field(&self.words[line.at], 1) - netlist.inputs();
                vec![netlist.flip_flops()[own as usize].next]
            }
        };
        let wires = operands.into_iter().filter_map(Operand::wire);
        wires.filter_map(place).map(|gate| gate as usize).collect()
    }

    /// The bundles that read a gate.
    pub fn readers(&self, gate: usize) -> Vec<usize> {
        let lines = self.lines.iter();
        let readers = lines.filter(|line| self.reads(line).contains(&gate));
        readers.map(|line| line.bundle).collect()
    }

    /// The file with bank and place of a line changed.
    pub fn with_place(&self, line: &Line, place: u32) -> Vec<String> {
        let mut words = self.words.clone();
        words[line.at] = changed(&words[line.at], 2, |old| old & !PLACE | place);
        words
    }
}

/// A field of a word.
pub fn field(word: &str, field: usize) -> u32 {
    u32::from_str_radix(&word[8 * field..8 * (field + 1)], 16).expect("a field")
}

/// A word with one of its three fields changed.
pub fn changed(word: &str, number: usize, change: impl Fn(u32) -> u32) -> String {
    let mut changed = word.to_string();
    let new = format!("{:08x}", change(field(word, number)));
    changed.replace_range(8 * number..8 * (number + 1), &new);
    changed
}
