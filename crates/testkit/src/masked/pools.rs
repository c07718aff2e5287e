//! Correlations: their words, refills of pools, and products that take them.

use super::description::bucket;
use super::{Common, DEALER, Sums, mask, minus, plus, recv, to_bytes};
use sealane_block::Block;
use sealane_circuit::Tape;
use sealane_circuit::tape::{Batch, Gate};
use sealane_net::Mesh;
use sealane_parties::PartyId;
use sealane_party::{Fault, Result};
use sealane_protocol::{Algebra, Choices, Correlation, Demand};

impl Common {
    /// Adds correlations to the pools: the sender of a choice sends it, the dealer deals all
    /// others.
    pub(super) fn refill(&mut self, demand: &Demand, mesh: &mut Mesh) -> Result<()> {
        let dealer = self.setting.player(DEALER);
        let parties = |kind| match kind {
            Correlation::Cot {
                sender, receiver, ..
            } => (sender, Some(receiver)),
            _ => (dealer, None),
        };
        for (kind, count) in &demand.0 {
            if parties(*kind).0 == self.me {
                let made = bucket(&self.setting, *kind) * count;
                let own = self.deal(*kind, made as usize, parties(*kind).1, mesh)?;
                self.keep(*kind, &own);
            }
        }
        mesh.flush()?;
        for (kind, count) in &demand.0 {
            let (from, to) = parties(*kind);
            if from != self.me && to.is_none_or(|to| to == self.me) {
                let made = bucket(&self.setting, *kind) * count;
                let words = recv(from, layout(*kind).len() * made as usize, mesh)?;
                self.keep(*kind, &words);
            }
        }
        Ok(())
    }

    /// Adds the first correlation of each bucket to the pool.
    fn keep(&mut self, kind: Correlation, words: &[u64]) {
        let size = layout(kind).len();
        let buckets = words.chunks(size * bucket(&self.setting, kind) as usize);
        let kept = buckets.flat_map(|bucket| &bucket[..size]);
        self.pools.entry(kind).or_default().extend(kept);
    }

    /// Makes correlations: a choice is for one receiver, who gets what its sender has; of all
    /// others each party gets its part. Returns this party's own.
    fn deal(
        &mut self,
        kind: Correlation,
        count: usize,
        receiver: Option<PartyId>,
        mesh: &mut Mesh,
    ) -> Result<Vec<u64>> {
        let mut words = Vec::new();
        for _ in 0..count {
            words.extend(self.sample(kind));
        }
        if let Some(receiver) = receiver {
            mesh.send(receiver, &to_bytes(&words))?;
            return Ok(words);
        }
        let (layout, (holder, held)) = (layout(kind), held(kind));
        for to in self.others() {
            let mut part = self.random(Algebra::Z2k(64), words.len());
            for (at, (word, part)) in words.iter_mut().zip(&mut part).enumerate() {
                let at = at % layout.len();
                if at < held {
                    *part = if holder == Some(to) { *word } else { 0 };
                }
                *part &= mask(layout[at]);
                *word = minus(layout[at], *word, *part);
            }
            mesh.send(to, &to_bytes(&part))?;
        }
        Ok(words)
    }

    /// The words of a random correlation.
    fn sample(&mut self, kind: Correlation) -> Vec<u64> {
        if let Some(shape) = Matrices::of(kind) {
            let [a, b, _] = shape.lengths();
            let [a, b] = [a, b].map(|length| self.random(shape.algebra, length));
            let c = shape.product(&a, &b);
            return [a, b, c].concat();
        }
        match kind {
            Correlation::DaBit { .. } => {
                let bit = self.random(Algebra::Z2, 1);
                [&bit[..], &bit].concat()
            }
            Correlation::Select { algebra } => {
                let (bit, element) = (self.random(Algebra::Z2, 1)[0], self.random(algebra, 1)[0]);
                vec![bit, element, bit * element, bit]
            }
            Correlation::Known {
                algebra,
                choice_bits,
                partners,
                ..
            } => {
                let mut words = self.random(Algebra::Z2, choice_bits.into());
                let bits = words.clone();
                for element in self.random(algebra, partners as usize) {
                    words.push(element);
                    words.extend(bits.iter().map(|bit| bit * element));
                }
                words
            }
            _ => self.random(Algebra::Z2k(64), 1),
        }
    }

    /// Takes the words of correlations from a pool.
    pub(super) fn take(&mut self, kind: Correlation, count: usize) -> Result<Vec<u64>> {
        let words = count * layout(kind).len();
        let pool = self.pools.entry(kind).or_default();
        if pool.len() < words {
            return Err(Fault::internal("a pool is empty"));
        }
        Ok(pool.drain(..words).collect())
    }

    /// Draws keys of random OTs for an input: both of each at the party that does not own it; the
    /// owner tells its choices, and has the keys of these.
    pub(super) fn draw(
        &mut self,
        owner: PartyId,
        count: usize,
        mesh: &mut Mesh,
    ) -> Result<Vec<[u64; 2]>> {
        let missing = || Fault::internal("no OTs of this direction");
        let word = |key: Block| key.value() as u64;
        if owner != self.me {
            let mut pairs = vec![[Block::ZERO; 2]; count];
            let stock = self.stocks.sender.as_mut().ok_or_else(missing)?;
            stock.pairs(&mut pairs)?;
            return Ok(pairs.into_iter().map(|pair| pair.map(word)).collect());
        }
        let (mut chosen, mut keys) = (vec![0; count], vec![Block::ZERO; count]);
        let stock = self.stocks.receiver.as_mut().ok_or_else(missing)?;
        stock.keys(&mut chosen, &mut keys)?;
        let chosen = chosen.into_iter().map(u64::from).collect::<Vec<_>>();
        for to in self.others() {
            mesh.send(to, &to_bytes(&chosen))?;
        }
        Ok(keys.into_iter().map(|key| [word(key); 2]).collect())
    }

    /// Adds the keys of an owner's choices to the pool of the other party and its own.
    pub(super) fn choose(
        &mut self,
        owner: PartyId,
        keys: &[[u64; 2]],
        mesh: &mut Mesh,
    ) -> Result<()> {
        for other in self.setting.others(owner) {
            let chosen = if owner == self.me {
                vec![0; keys.len()]
            } else {
                recv(owner, keys.len(), mesh)?
            };
            let words = keys.iter().zip(chosen);
            let words = words.map(|(keys, chosen)| keys[(chosen & 1) as usize]);
            self.pools
                .entry(choices(other, owner))
                .or_default()
                .extend(words);
        }
        Ok(())
    }

    /// This party's part of a bit as a ring element, which is a public bit xor one of which this is
    /// the part.
    pub(super) fn xored(&self, algebra: Algebra, public: u64, part: u64) -> u64 {
        if public == 0 {
            part
        } else {
            minus(algebra, u64::from(self.is_first()), part)
        }
    }

    /// Begins choices of shared ring elements by shared bits: returns the words of correlations,
    /// and those to broadcast, which are the bits and the elements less random ones.
    pub(super) fn open_choices(
        &mut self,
        algebra: Algebra,
        bits: &[u64],
        elements: &[u64],
    ) -> Result<(Vec<u64>, Vec<u64>)> {
        let words = self.take(Correlation::Select { algebra }, bits.len())?;
        let random = words.as_chunks::<4>().0.iter();
        let own = bits.iter().zip(elements).zip(random);
        let own = own.flat_map(|((x, y), [a, b, ..])| [x ^ a, minus(algebra, *y, *b)]);
        let own = own.collect();
        Ok((words, own))
    }

    /// This party's parts of the bits as ring elements, and of the elements times the bits, from
    /// the sums of what [`Common::open_choices`] returned.
    pub(super) fn chosen(&self, algebra: Algebra, words: &[u64], sums: &Sums) -> [Vec<u64>; 2] {
        let random = words.as_chunks::<4>().0.iter().enumerate();
        let part = |(at, [_, element, product, bit]): (usize, &[u64; 4])| {
            let (opened, less) = (sums.xor[2 * at], sums.add[2 * at + 1]);
            let bit = self.xored(algebra, opened, *bit);
            let rest = if opened == 0 {
                *product
            } else {
                minus(algebra, *element, *product)
            };
            (bit, plus(algebra, rest, bit.wrapping_mul(less)))
        };
        let (bits, chosen) = random.map(part).unzip();
        [bits, chosen]
    }

    /// Takes a product of random matrices for one of shared matrices: returns its words, and those
    /// to broadcast, which are both factors less the random ones.
    pub(super) fn open(
        &mut self,
        kind: Correlation,
        x: &[u64],
        y: &[u64],
    ) -> Result<(Vec<u64>, Vec<u64>)> {
        let words = self.take(kind, 1)?;
        let algebra = layout(kind)[0];
        let pairs = x.iter().chain(y).zip(&words);
        let own = pairs.map(|(x, a)| minus(algebra, *x, *a)).collect();
        Ok((words, own))
    }

    /// This party's part of the product, from the sums of what [`Common::open`] returned.
    pub(super) fn product(&self, shape: Matrices, words: &[u64], opened: &[u64]) -> Vec<u64> {
        let [left, right, _] = shape.lengths();
        let (a, rest) = words.split_at(left);
        let (b, c) = rest.split_at(right);
        let (d, e) = opened.split_at(left);
        let mut sums = vec![shape.product(d, b), shape.product(a, e)];
        if self.is_first() {
            sums.push(shape.product(d, e));
        }
        let sum = |i: usize| {
            sums.iter()
                .fold(c[i], |sum, of| plus(shape.algebra, sum, of[i]))
        };
        (0..c.len()).map(sum).collect()
    }

    /// Begins products of shared bits: of so many groups with a common first factor, on so many
    /// lanes, whose pairs of factors come lane by lane. Returns this party's words to broadcast.
    pub(super) fn open_ands(
        &mut self,
        groups: Vec<usize>,
        lanes: usize,
        factors: &[[u64; 2]],
    ) -> Result<(Ands, Vec<u64>)> {
        let (mut ands, mut own) = (
            Ands {
                groups,
                lanes,
                words: vec![],
            },
            vec![],
        );
        for (first, width) in ands.each() {
            let of = |and: usize, lane: usize| factors[and * lanes + lane];
            for lane in 0..lanes {
                let x = [of(first, lane)[0]];
                let y = (first..first + width).map(|and| of(and, lane)[1]);
                let (words, opened) = self.open(wide(width), &x, &y.collect::<Vec<_>>())?;
                ands.words.extend(words);
                own.extend(opened);
            }
        }
        Ok((ands, own))
    }

    /// This party's parts of the products, lane by lane, from the sums of all words.
    pub(super) fn products(&self, ands: &Ands, sums: &Sums) -> Vec<u64> {
        let (mut words, mut opened) = (&ands.words[..], &sums.xor[..]);
        let mut products = Vec::new();
        for (_, width) in ands.each() {
            let shape = Matrices::new(Algebra::Z2, [1, 1, width]);
            let mut group = vec![0; width * ands.lanes];
            for lane in 0..ands.lanes {
                let (now, after) = words.split_at(1 + 2 * width);
                let (seen, unseen) = opened.split_at(1 + width);
                (words, opened) = (after, unseen);
                for (and, bit) in self.product(shape, now, seen).into_iter().enumerate() {
                    group[and * ands.lanes + lane] = bit;
                }
            }
            products.extend(group);
        }
        products
    }
}

/// Products of shared bits under way.
pub struct Ands {
    /// Number of products of each group, which share their first factor.
    groups: Vec<usize>,
    lanes: usize,
    /// Words of the correlations that they take.
    words: Vec<u64>,
}

impl Ands {
    /// The first product of each group, and how many it has.
    fn each(&self) -> Vec<(usize, usize)> {
        let ends = self.groups.iter().scan(0, |end, width| {
            *end += width;
            Some(*end)
        });
        ends.zip(&self.groups)
            .map(|(end, width)| (end - width, *width))
            .collect()
    }
}

/// Widths of the groups of ANDs that follow each other in a batch and share their first operand.
pub(super) fn groups(tape: &Tape, batch: &Batch) -> Vec<usize> {
    let ands = &tape.ands[batch.ands.start as usize..batch.ands.end as usize];
    ands.chunk_by(|one, other| one.a == other.a)
        .map(<[Gate]>::len)
        .collect()
}

/// Correlation for so many products of bits with a common factor.
pub(super) fn wide(width: usize) -> Correlation {
    match width {
        1 => Correlation::Triple {
            algebra: Algebra::Z2,
        },
        bits => Correlation::Wide { bits: bits as u16 },
    }
}

/// Shape of a product of matrices.
#[derive(Clone, Copy)]
pub struct Matrices {
    algebra: Algebra,
    /// Rows, inner dimension, and columns.
    size: [usize; 3],
}

impl Matrices {
    pub(super) fn new(algebra: Algebra, size: [usize; 3]) -> Matrices {
        Matrices { algebra, size }
    }

    /// The shape of a correlation that is one.
    pub(super) fn of(kind: Correlation) -> Option<Matrices> {
        Some(match kind {
            Correlation::Triple { algebra } => Matrices::new(algebra, [1; 3]),
            Correlation::Wide { bits } => Matrices::new(Algebra::Z2, [1, 1, bits.into()]),
            Correlation::Matrix {
                algebra,
                rows,
                inner,
                columns,
            } => Matrices::new(algebra, [rows, inner, columns].map(|of| of as usize)),
            _ => return None,
        })
    }

    /// Elements of both factors and of the product.
    pub(super) fn lengths(self) -> [usize; 3] {
        let [rows, inner, columns] = self.size;
        [rows * inner, inner * columns, rows * columns]
    }

    /// Place of an element of the product.
    pub(super) fn place(self, row: usize, column: usize) -> usize {
        row * self.size[2] + column
    }

    fn product(self, x: &[u64], y: &[u64]) -> Vec<u64> {
        let [rows, inner, columns] = self.size;
        let element = |at: usize| {
            let (row, column) = (at / columns, at % columns);
            let term = |i: usize| x[row * inner + i].wrapping_mul(y[i * columns + column]);
            (0..inner).fold(0, |sum, i| plus(self.algebra, sum, term(i)))
        };
        (0..rows * columns).map(element).collect()
    }
}

/// The party that has the first words of a correlation alone, and their number.
pub(super) fn held(kind: Correlation) -> (Option<PartyId>, usize) {
    match kind {
        Correlation::Known {
            holder,
            choice_bits,
            ..
        } => (Some(holder), choice_bits.into()),
        _ => (None, 0),
    }
}

/// Algebra of each word of a correlation: of both factors and the product; of a bit as a bit and as
/// a ring element, between them an element and its product by the bit, where there is one; of the
/// bits of a number, then of each element with its products by them; of a choice.
pub(super) fn layout(kind: Correlation) -> Vec<Algebra> {
    match (Matrices::of(kind), kind) {
        (Some(shape), _) => vec![shape.algebra; shape.lengths().iter().sum()],
        (None, Correlation::DaBit { algebra }) => vec![Algebra::Z2, algebra],
        (None, Correlation::Select { algebra }) => vec![Algebra::Z2, algebra, algebra, algebra],
        (
            None,
            Correlation::Known {
                algebra,
                choice_bits,
                partners,
                ..
            },
        ) => {
            let bits = usize::from(choice_bits);
            let elements = vec![algebra; (1 + bits) * partners as usize];
            [vec![Algebra::Z2; bits], elements].concat()
        }
        _ => vec![Algebra::Z2k(64)],
    }
}

/// Choices that a party makes for the owner of an input.
pub(super) fn choices(sender: PartyId, receiver: PartyId) -> Correlation {
    Correlation::Cot {
        sender,
        receiver,
        choices: Choices::Random,
    }
}
