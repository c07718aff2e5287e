//! Statements of a segment, made of its records group by group when a proof asks for them.

use super::gates::{Made, Unit, units};
use super::rows::Rows;
use super::{Body, Counts, KINDS, Record};
use crate::guarded::turns::Turned;
use sealane_block::{Block, Cpu, Kernel, Lanes};
use sealane_party::AlignedBuffer;
use sealane_party::bits::words_for;
use sealane_party::wires::WIDE;
use sealane_proof::{BitString, Shape, Statements, Turns};
use std::array;
use std::rc::Rc;

/// The role whose statements they are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prover {
    /// This role's own: both operands.
    Own,
    /// Of the role before, 0, or of the next one, 1: operands and constants of one side.
    Other(usize),
}

impl Prover {
    /// The side on which this role follows its proof.
    pub(super) fn side(self) -> usize {
        match self {
            Prover::Own => 0,
            Prover::Other(side) => side,
        }
    }
}

/// Most statements that are made at once.
pub(super) const UNIT: usize = 64 * 64;

/// The statements of a segment that some role proves.
pub(crate) struct Stream<'a> {
    cpu: Cpu,
    records: &'a [Record],
    turned: Option<&'a Turned>,
    prover: Prover,
    shape: &'a Shape,
    /// Each kind that there is, with its first statement and their number.
    kinds: Vec<(usize, usize, usize)>,
    pieces: Box<dyn Iterator<Item = Piece<'a>> + 'a>,
    group: Group,
    /// Statements of a piece, a row for each string.
    rows: AlignedBuffer,
    /// The strings of a kind, if groups are parts of them as they are.
    whole: Option<Vec<&'a [Block]>>,
}

/// Statements that are made at once.
enum Piece<'a> {
    Gate(Unit<'a>),
    /// So many of whole strings, from a word on.
    Strings(Vec<&'a BitString>, usize, usize),
    /// The same of strings that were made of a record that is packed.
    Made(Rc<Vec<BitString>>, usize, usize),
    Zeros(usize),
}

impl Piece<'_> {
    fn count(&self) -> usize {
        match self {
            Piece::Gate(unit) => unit.count(),
            Piece::Strings(.., count) | Piece::Made(.., count) | Piece::Zeros(count) => *count,
        }
    }
}

/// Numbers of statements of pieces that have so many together.
fn pieces(count: usize) -> impl Iterator<Item = usize> {
    let starts = (0..count).step_by(UNIT);
    starts.map(move |start| UNIT.min(count - start))
}

impl Record {
    /// The statements of a kind, in order.
    fn pieces(
        &self,
        cpu: Cpu,
        kind: usize,
        prover: Prover,
    ) -> Box<dyn Iterator<Item = Piece<'_>> + '_> {
        let all = self.counts[kind];
        match &self.body {
            Body::Products(products) => {
                let strings = &products.kinds[kind];
                let count = strings.count().unwrap_or(0);
                let words = (0..).step_by(UNIT / 64).zip(pieces(count));
                let some = move |(first, count)| Piece::Strings(strings.of(prover), first, count);
                Box::new(words.map(some).chain(pieces(all - count).map(Piece::Zeros)))
            }
            Body::Rows(rows) if rows.is_packed() => {
                let (strings, count) = unpacked(cpu, rows, kind, prover);
                let strings = Rc::new(strings);
                let words = (0..).step_by(UNIT / 64).zip(pieces(count));
                let some = move |(first, count)| Piece::Made(Rc::clone(&strings), first, count);
                Box::new(words.map(some).chain(pieces(all - count).map(Piece::Zeros)))
            }
            Body::Rows(rows) => {
                let mut left = all;
                let units = rows.all().flat_map(move |(seen, gates)| {
                    let gates = gates.iter();
                    gates.flat_map(move |gate| units(seen, gate, kind, prover))
                });
                let mut units = units.map(Piece::Gate);
                Box::new(std::iter::from_fn(move || {
                    let zeros = || (left > 0).then(|| Piece::Zeros(UNIT.min(left)));
                    let piece = units.next().or_else(zeros)?;
                    let behind = left.checked_sub(piece.count());
                    left = behind.expect("no more statements than were counted");
                    Some(piece)
                }))
            }
        }
    }
}

/// The strings of a kind that packed rows have, and their statements.
fn unpacked(cpu: Cpu, rows: &Rows, kind: usize, prover: Prover) -> (Vec<BitString>, usize) {
    let planes = planes(kind, prover);
    let mut strings = (0..planes)
        .map(|_| BitString::default())
        .collect::<Vec<_>>();
    let mut made = AlignedBuffer::zeros(planes * Made::STRIDE);
    let (mut memory, mut count) = (rows.room(), 0);
    for level in 0..rows.levels() {
        let (seen, gates) = rows.unpack(level, &mut memory);
        for unit in gates
            .iter()
            .flat_map(|gate| units(seen, gate, kind, prover))
        {
            let (lanes, mut found) = (unit.count(), Vec::with_capacity(2 * planes));
            unit.rows(cpu, &mut made, &mut found);
            for (string, row) in strings.iter_mut().zip(&found) {
                string.push(&row[1..], lanes);
            }
            count += lanes;
        }
    }
    (strings, count)
}

/// Strings of the statements of a kind that a role has of a prover.
fn planes(kind: usize, prover: Prover) -> usize {
    match prover {
        Prover::Own => 2 * KINDS[kind].planes(),
        Prover::Other(_) => KINDS[kind].planes() + KINDS[kind].field.degree(),
    }
}

impl<'a> Stream<'a> {
    /// The statements of all these records from `first` on, so many as the shape has of each kind,
    /// and those of a shuffle.
    pub(crate) fn new(
        cpu: Cpu,
        (records, turned): (&'a [Record], Option<&'a Turned>),
        prover: Prover,
        (first, counts): (&Counts, &Counts),
        shape: &'a Shape,
    ) -> Stream<'a> {
        let kinds = (0..KINDS.len()).filter(|kind| counts[*kind] > 0);
        let kinds: Vec<_> = kinds
            .map(|kind| (kind, first[kind], counts[kind]))
            .collect();
        let room = (0..).zip(&kinds).map(|(index, (kind, ..))| {
            let size = 2 * shape.group_blocks(index);
            (planes(*kind, prover), size)
        });
        let most = room.clone().map(|(planes, _)| planes).max().unwrap_or(0);
        Stream {
            cpu,
            records,
            turned,
            prover,
            shape,
            group: Group::new(room),
            kinds,
            pieces: Box::new(std::iter::empty()),
            rows: AlignedBuffer::zeros(most * Made::STRIDE),
            whole: None,
        }
    }

    /// The statements of a kind, in whole groups, if one record has them all in strings whose
    /// blocks are theirs. Behind the end of a string it is zero.
    fn whole(&self, index: usize) -> Option<Vec<&'a [Block]>> {
        let (kind, first, count) = self.kinds[index];
        let mut start = 0;
        let record = self.records.iter().find(|record| {
            start += record.counts[kind];
            first < start
        })?;
        let Body::Products(products) = &record.body else {
            return None;
        };
        let strings = &products.kinds[kind];
        let end = strings.count()?;
        let first = first - (start - record.counts[kind]);
        let blocks = self.shape.group_blocks(index);
        let groups = count.div_ceil(128 * blocks);
        let ends = first + count == end || count == groups * 128 * blocks;
        if !first.is_multiple_of(128) || first + count > end || !ends {
            return None;
        }
        let range = first / 128..first / 128 + groups * blocks;
        let strings = strings.of(self.prover).into_iter();
        let strings = strings.map(|string| {
            let blocks: &[Block] = bytemuck::cast_slice(string.words());
            blocks.get(range.clone())
        });
        strings.collect()
    }

    /// Begins a kind.
    fn begin(&mut self, index: usize) {
        let (kind, first, _) = self.kinds[index];
        let (cpu, prover) = (self.cpu, self.prover);
        let blocks = self.shape.group_blocks(index);
        self.group.clear(planes(kind, prover), 2 * blocks);
        // A segment begins at a whole word, perhaps within a piece.
        let (mut start, mut whole) = (0, 0);
        for record in self.records {
            if start + record.counts[kind] > first {
                break;
            }
            start += record.counts[kind];
            whole += 1;
        }
        let records = self.records[whole..].iter();
        self.pieces = Box::new(records.flat_map(move |of| of.pieces(cpu, kind, prover)));
        while start < first {
            let piece = self.pieces.next().expect("statements before a segment");
            let end = start + piece.count();
            if end > first {
                self.group.count = start % 64;
                self.add(piece);
                self.group.skip((first - start + start % 64) / 64);
            }
            start = end;
        }
    }

    fn add(&mut self, piece: Piece<'_>) {
        let (planes, count) = (self.group.planes, piece.count());
        let made = &mut self.rows[..planes * Made::STRIDE];
        let mut rows = Vec::with_capacity(2 * planes);
        if let Piece::Gate(unit) = piece {
            unit.rows(self.cpu, made, &mut rows);
        } else {
            let (strings, first) = match &piece {
                Piece::Strings(strings, first, _) => (&strings[..], *first),
                Piece::Made(strings, first, _) => (&strings.iter().collect::<Vec<_>>()[..], *first),
                Piece::Gate(_) | Piece::Zeros(_) => (&[][..], 0),
            };
            for (plane, made) in made.chunks_exact_mut(Made::STRIDE).enumerate() {
                let words = strings.get(plane).map_or(&[][..], |string| string.words());
                // A row as it is, where there are words in front of it and behind it.
                let row = first
                    .checked_sub(1)
                    .map(|before| before..before + Made::ROW);
                if let Some(row) = row.and_then(|row| words.get(row)) {
                    rows.push(row);
                    continue;
                }
                made.fill(0);
                if let Some(words) = words.get(first..first + words_for(count)) {
                    made[WIDE..][..words.len()].copy_from_slice(words);
                }
                rows.push(&made[WIDE - 1..]);
            }
        }
        let group = &mut self.group;
        self.cpu.run(Append {
            rows: &rows,
            count,
            group: &mut *group,
        });
        group.count += count;
    }
}

impl Statements for Stream<'_> {
    fn counts(&self) -> Vec<usize> {
        self.kinds.iter().map(|(_, _, count)| *count).collect()
    }

    fn group(&mut self, index: usize, number: usize) -> Vec<&[Block]> {
        let size = 128 * self.shape.group_blocks(index);
        let left = self.kinds[index].2 - number * size;
        if number == 0 {
            self.whole = self.whole(index);
        }
        if let Some(strings) = &self.whole {
            let blocks = number * size / 128..(number + 1) * size / 128;
            let group = strings.iter().map(|string| &string[blocks.clone()]);
            return group.collect();
        }
        if number == 0 {
            self.begin(index);
        } else {
            self.group.skip(size / 64);
        }
        while self.group.count < left.min(size) {
            let piece = self
                .pieces
                .next()
                .expect("as many statements as were counted");
            self.add(piece);
        }
        if left <= size {
            self.group.end(left);
        }
        self.group.blocks()
    }

    fn turns(&self) -> Turns<'_> {
        let turned = self.turned.map(|turned| turned.of(self.prover));
        turned.unwrap_or_default()
    }
}

/// A group of each string, and statements behind it.
struct Group {
    memory: AlignedBuffer,
    planes: usize,
    /// Words of a group, and from one string to the next.
    words: usize,
    stride: usize,
    /// Statements so far. Behind them the last word is zero, and others are of no meaning.
    count: usize,
}

impl Group {
    /// Memory for each of these numbers of strings and words.
    fn new(room: impl Iterator<Item = (usize, usize)>) -> Group {
        let words = room
            .map(|(planes, words)| planes * Group::stride(words))
            .max();
        Group {
            memory: AlignedBuffer::zeros(words.unwrap_or(0)),
            planes: 0,
            words: 0,
            stride: 0,
            count: 0,
        }
    }

    /// A piece more than a group, in whole chunks, and a word before it. Strings begin at cache
    /// lines that do not lie in one set of a cache.
    fn stride(words: usize) -> usize {
        (words + UNIT / 64 + 2 * WIDE).next_multiple_of(8) | 8
    }

    fn clear(&mut self, planes: usize, words: usize) {
        *self = Group {
            memory: std::mem::replace(&mut self.memory, AlignedBuffer::zeros(0)),
            planes,
            words,
            stride: Group::stride(words),
            count: 0,
        };
    }

    /// Drops words at the beginning.
    fn skip(&mut self, words: usize) {
        let end = words_for(self.count);
        for string in self.memory.chunks_exact_mut(self.stride).take(self.planes) {
            string.copy_within(words..end, 0);
        }
        self.count -= 64 * words;
    }

    /// Makes everything zero behind so many statements.
    fn end(&mut self, count: usize) {
        for string in self.memory.chunks_exact_mut(self.stride).take(self.planes) {
            string[words_for(count)..].fill(0);
            if !count.is_multiple_of(64) {
                string[count / 64] &= (1 << (count % 64)) - 1;
            }
        }
        self.count = count;
    }

    /// The blocks of the group.
    fn blocks(&self) -> Vec<&[Block]> {
        let strings = self.memory.chunks_exact(self.stride).take(self.planes);
        let blocks = strings.map(|string| bytemuck::cast_slice(&string[..self.words]));
        blocks.collect()
    }
}

/// Adds statements to the strings of a group, from rows with a word in front of each.
struct Append<'a> {
    rows: &'a [&'a [u64]],
    count: usize,
    group: &'a mut Group,
}

impl Kernel for Append<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _: L) {
        let Append { rows, count, group } = self;
        let (first, shift) = (group.count / 64, group.count % 64);
        let (end, rest) = ((group.count + count) / 64, (group.count + count) % 64);
        let strings = group
            .memory
            .chunks_exact_mut(group.stride)
            .take(group.planes);
        for (string, row) in strings.zip(rows) {
            let before = string[first] & ((1 << shift) - 1);
            for word in (0..words_for(count) + 1).step_by(WIDE) {
                let (mut low, mut high) = ([0; WIDE], [0; WIDE]);
                low.copy_from_slice(&row[word..][..WIDE]);
                high.copy_from_slice(&row[word + 1..][..WIDE]);
                let words: [u64; WIDE] =
                    array::from_fn(|i| high[i] << shift | low[i] >> 1 >> (63 - shift));
                string[first + word..][..WIDE].copy_from_slice(&words);
            }
            string[first] = before | row[1] << shift;
            string[end] &= (1 << rest) - 1;
        }
    }
}
