//! Pass `algebra`: the algebra in which each value of the main graph is computed.
//!
//! Without arithmetic, every value is held as bits. A protocol with arithmetic adds and multiplies
//! modulo `2^k` as well; there sums are free, and an inner product costs one ring element per lane
//! and one flight, whatever its length. Comparisons, bit operations, divisions, bodies and
//! functions called by name need bits. For replicated sharing among three parties, in bits sent by
//! all of them:
//!
//! | | flights | bits |
//! |---|---|---|
//! | a product modulo `2^k` | 1 | `3 k` |
//! | `n` bits become a ring element | 2 | `(n + 3) k` |
//! | a ring element becomes bits | those of an adder, `1 + log2 k`, and 1 | some `3 k log2 k` |
//! | a circuit that multiplies 16 by 16 bits | 9 or more | some 900 |
//!
//! So a ring pays for products and for sums of many elements, and a conversion pays if one of those
//! follows. The rule:
//!
//! 1. *Seeds.* A sum of several elements, a dot product, and a product of two secrets of which
//!    neither is a single bit are computed in the ring. A small one (up to 256 gates, the size of a
//!    16 by 16 bit multiplier) whose operands all come from gates is not a seed: converting there
//!    and back would cost more.
//! 2. *Forward propagation.* A linear operation stays in the ring if an operand is there: `+`, `-`,
//!    products by constants, stacks, slices, views, concatenations, casts that keep the number; so
//!    does a product by a single bit, such as a choice between a value and zero. The exception is
//!    an operation that would turn one conversion into many: one whose ring operand is broadcast
//!    along elements that come from gates. One of several drafts of a program has another: a linear
//!    operation with an operand from gates is gates, for chains that would go back and forth.
//!    Where the protocol divides ring elements by a power of two as a step, so does that.
//! 3. *Backward propagation.* A value that only the ring reads, or only the receivers of a result,
//!    is in the ring if that takes no more conversions than its result would: of its operands, at
//!    most one comes from gates (or both factors of a product, which has the bits of both).
//! 4. *Inputs and constants are shared in every algebra that reads them*, and so are linear
//!    functions of them alone: sharing an input twice is cheaper than converting it.
//!
//! Every value is an integer in a known range, so it may be computed modulo any `2^k` that holds
//! the range. Values that operations of the ring connect have one `k`, the largest width of any of
//! them and of their operands, so that no element changes from one ring to another. Where a type
//! wraps at `m` bits, numbers are known modulo `2^m` alone: then `k` is `m`, and such values are
//! connected with others only if those have 64 bits at most and `m` is 64.
//!
//! *Modulo a prime.* A protocol against malicious parties computes modulo `2^61 - 1` in place of
//! `2^k`. Then only exact values of at most 60 bits are there, and never those of types that wrap.
//! Inputs are bits (rule 4 holds for constants alone), since nothing else holds an owner to a
//! range. So a value takes a conversion whose bytes are those of its bits times 61, and only
//! products are seeds: sums of many elements are cheaper as circuits.
//!
//! Time is nearly linear in the size of the program: two passes over its values, and disjoint sets.

use crate::place::{Placement, lens};
use sealane_program::graph::{Binary, Graph, Op, Program, Reduction, Unary, Value, ValueId};
use sealane_program::types::{Dim, Range, Type};
use sealane_protocol::{Algebra, Protocol};

/// Most gates of a sum or product that stays in gates if its operands come from there.
const FEW_GATES: u64 = 256;

/// Most parts of a stack in the ring, where its cost is their square.
const FEW_PARTS: usize = 64;

/// Algebras in which a value is computed: once in each one set here. Users in another algebra
/// convert it. Inputs, constants and their parts count as bits, and are available in any algebra.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Had {
    /// As bits.
    pub bits: bool,
    /// Modulo `2^k`, or modulo the prime.
    pub ring: Option<Algebra>,
}

/// Arithmetic of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    /// None: all is bits.
    None,
    /// Modulo `2^k`.
    Power,
    /// Modulo the prime `2^61 - 1`.
    Prime,
}

impl Arithmetic {
    /// The arithmetic of a protocol; none if `gates` compute everything.
    pub fn of<P: Protocol>(gates: bool) -> Arithmetic {
        if gates || !P::profile().arithmetic {
            Arithmetic::None
        } else if P::prime() {
            Arithmetic::Prime
        } else {
            Arithmetic::Power
        }
    }

    /// True if there is some.
    pub fn any(self) -> bool {
        self != Arithmetic::None
    }

    /// Returns whether a sum of several elements, or a dot product, suits the ring.
    pub fn suits(self, value: &Value) -> bool {
        match self {
            Arithmetic::None => false,
            Arithmetic::Power => suits_ring(value),
            Arithmetic::Prime => {
                let bits = (2..=MOST_PRIME_BITS).contains(&width(value));
                bits && modulus(value.ty).is_none()
            }
        }
    }

    /// Returns whether an inner product of so many terms is one in the ring.
    pub fn multiplies(self, value: &Value, factors: [&Value; 2], length: u64) -> bool {
        let fits = |factor: &Value| width(factor) <= MOST_PRIME_BITS;
        let proved = length <= MOST_PRIME_TERMS && factors.into_iter().all(fits);
        self.suits(value) && (self != Arithmetic::Prime || proved)
    }

    /// Returns whether a sum of several elements suits the ring wherever its operand comes from.
    pub fn sums(self, value: &Value) -> bool {
        self != Arithmetic::Prime && self.suits(value)
    }

    /// Most bits of a value in the ring.
    fn most_bits(self) -> u8 {
        match self {
            Arithmetic::Prime => MOST_PRIME_BITS,
            _ => MOST_BITS,
        }
    }
}

/// Most bits of values modulo the prime: both signs fit, and leave a number for neither.
const MOST_PRIME_BITS: u8 = 60;
/// Most elements of an inner product modulo the prime, which is proved as a whole.
const MOST_PRIME_TERMS: u64 = 1 << 20;

/// Chooses the algebras of each value of the main graph; with `floors`, the ring has floors of
/// elements divided by a power of two, and with `apart` sums of which an operand comes from gates
/// are gates.
pub(crate) fn algebra(
    program: &Program,
    arithmetic: Arithmetic,
    floors: bool,
    apart: bool,
) -> Vec<Had> {
    let (bits, ring) = (true, None);
    let only_bits = Had { bits, ring };
    let mut had = vec![only_bits; program.main.values.len()];
    if arithmetic.any() {
        let choice = Choice::forward(&program.main, arithmetic, floors, apart);
        let chosen = choice.backward();
        let moduli = choice.moduli(&chosen);
        for ((had, chosen), k) in had.iter_mut().zip(chosen).zip(moduli) {
            let ring = match arithmetic {
                Arithmetic::Prime => Algebra::Fp,
                _ => Algebra::Z2k(k),
            };
            let (bits, ring) = (chosen.bits, chosen.ring.then_some(ring));
            *had = Had { bits, ring };
        }
    }
    had
}

/// Most bits of a ring's elements.
const MOST_BITS: u8 = 64;

/// Returns whether a sum of several elements, or a dot product, suits the ring: its result has more
/// than one bit, and at most those of a ring. (A one-bit sum is a sum modulo two, which is free in
/// gates. An exact fixed-point product can have more bits than any ring.)
pub(crate) fn suits_ring(value: &Value) -> bool {
    (2..=MOST_BITS).contains(&width(value))
}

/// Number of bits that determine a value: all of its type where it wraps.
fn width(value: &Value) -> u8 {
    modulus(value.ty).unwrap_or(value.range.bits())
}

/// Width at which arithmetic in a type wraps.
fn modulus(ty: Type) -> Option<u8> {
    ty.is_wrapping().then_some(ty.bits())
}

/// Kind of an operation, from the view of a ring.
#[derive(Clone, Copy, PartialEq)]
enum Nature {
    /// An input, a constant, or a part of one.
    Given,
    /// The same elements, moved.
    Moved,
    /// A sum of multiples by constants.
    Linear,
    /// A product of two values, or an inner product.
    Product,
    /// Something else.
    Gates,
}

/// Algebra of a value as far as its operands determine it.
#[derive(Clone, Copy, PartialEq)]
enum Status {
    /// Any algebra: a linear function of inputs and constants, without messages.
    Free,
    Ring,
    Bits,
}

/// Algebras in which a value is computed.
#[derive(Clone, Copy, Default)]
struct Chosen {
    bits: bool,
    ring: bool,
}

struct Choice<'a> {
    graph: &'a Graph,
    arithmetic: Arithmetic,
    floors: bool,
    apart: bool,
    natures: Vec<Nature>,
    statuses: Vec<Status>,
    /// Placement of the elements of inputs and constants in them, for values that are given.
    placed: Vec<Option<Placement<()>>>,
}

impl<'a> Choice<'a> {
    /// Applies rules 1 and 2.
    fn forward(graph: &'a Graph, arithmetic: Arithmetic, floors: bool, apart: bool) -> Choice<'a> {
        let mut choice = Choice {
            graph,
            arithmetic,
            floors,
            apart,
            natures: Vec::with_capacity(graph.values.len()),
            statuses: Vec::with_capacity(graph.values.len()),
            placed: Vec::with_capacity(graph.values.len()),
        };
        for value in &graph.values {
            let placed = choice.placed(value);
            choice.placed.push(placed);
            let nature = choice.nature(value);
            let status = choice.status(value, nature);
            choice.natures.push(nature);
            choice.statuses.push(status);
        }
        choice
    }

    fn of(&self, id: ValueId) -> &'a Value {
        &self.graph[id]
    }

    /// Returns where the elements of an input or a constant are that a value consists of; none if
    /// they have to be copied.
    fn placed(&self, value: &Value) -> Option<Placement<()>> {
        let of = |id: &ValueId| self.placed[id.0 as usize].clone();
        match &value.op {
            Op::Param(_) | Op::Const(_) => Some(Placement::whole((), &lens(&value.shape))),
            Op::Slice(slice) => Some(of(&slice.of)?.slice(slice)),
            Op::Stack(parts, axis) if parts.len() == 1 => {
                Some(of(&parts[0])?.with_axis(*axis as usize))
            }
            Op::View { of: a, start, dims } => of(a)?.view(*start, dims),
            Op::Cast(a) | Op::Share { of: a, .. } => of(a),
            _ => None,
        }
    }

    fn nature(&self, value: &Value) -> Nature {
        let constant = |id: ValueId| matches!(self.of(id).op, Op::Const(_));
        match &value.op {
            Op::Param(_) | Op::Const(_) => Nature::Given,
            Op::Slice(slice) => self.moved(slice.of),
            Op::Stack(parts, _) if parts.len() == 1 => self.moved(parts[0]),
            Op::View { of, .. } => {
                let copied = self.placed[self.natures.len()].is_none();
                match self.moved(*of) {
                    Nature::Given if !copied => Nature::Given,
                    Nature::Given if self.arithmetic.suits(value) => Nature::Linear,
                    Nature::Given => Nature::Gates,
                    nature => nature,
                }
            }
            Op::Cast(of) if self.keeps(*of, value) => self.moved(*of),
            Op::Share { of, .. } => self.moved(*of),
            _ if !self.arithmetic.suits(value) || !self.reads_ring(value) => Nature::Gates,
            Op::Binary(Binary::Shr, a, by) if self.floors && self.is(*a, Status::Ring) => {
                match &self.of(*by).op {
                    Op::Const(data) if data.elements.windows(2).all(|by| by[0] == by[1]) => {
                        Nature::Moved
                    }
                    _ => Nature::Gates,
                }
            }
            Op::Stack(parts, _) if parts.len() <= FEW_PARTS => Nature::Linear,
            Op::Concat(..) | Op::Append(_) => Nature::Linear,
            Op::Unary(Unary::Neg, _) | Op::Reduce(Reduction::Sum, ..) => Nature::Linear,
            Op::Binary(Binary::Add | Binary::Sub, ..) => Nature::Linear,
            op => match self.factors(op) {
                Some(factors) if factors.into_iter().any(constant) => Nature::Linear,
                Some(_) => Nature::Product,
                None => Nature::Gates,
            },
        }
    }

    /// Returns whether every operand is narrow enough for a ring.
    fn reads_ring(&self, value: &Value) -> bool {
        let operands = value.op.operands();
        operands
            .into_iter()
            .all(|id| width(self.of(id)) <= self.arithmetic.most_bits())
    }

    /// Returns the factors of a product. A choice between a value and zero is a product by a bit.
    fn factors(&self, op: &Op) -> Option<[ValueId; 2]> {
        match op {
            Op::Binary(Binary::Mul, a, b) | Op::Dot(a, b) => Some([*a, *b]),
            Op::Select(bit, a, zero) if self.of(*zero).range == Range::of(0) => Some([*bit, *a]),
            _ => None,
        }
    }

    /// Kind of an operation that moves the elements of `of`.
    fn moved(&self, of: ValueId) -> Nature {
        match self.natures[of.0 as usize] {
            Nature::Given => Nature::Given,
            _ => Nature::Moved,
        }
    }

    /// Returns whether a cast keeps the number and its range, in the ring too.
    fn keeps(&self, of: ValueId, value: &Value) -> bool {
        let operand = self.of(of);
        let joined = match (modulus(operand.ty), modulus(value.ty)) {
            (None | Some(64), None | Some(64)) => true,
            (a, b) => a == b,
        };
        let given = self.natures[of.0 as usize] == Nature::Given;
        operand.range == value.range && (joined || given)
    }

    fn status(&self, value: &Value, nature: Nature) -> Status {
        let operands = value.op.operands();
        let all = |status| operands.iter().all(|id| self.is(*id, status));
        let any = |status| operands.iter().any(|id| self.is(*id, status));
        // Only an operand with as many elements as the result saves as many conversions.
        let whole = |id: &ValueId| self.is(*id, Status::Ring) && self.of(*id).shape == value.shape;
        let goes_on = operands.iter().any(whole);
        match nature {
            Nature::Given if self.is_input(value) => Status::Bits,
            Nature::Given => Status::Free,
            Nature::Gates => Status::Bits,
            // A slice has the algebra of its tensor.
            Nature::Moved => self.statuses[operands[0].0 as usize],
            Nature::Linear | Nature::Product if self.is_seed(value, nature) => Status::Ring,
            Nature::Linear if all(Status::Free) => Status::Free,
            Nature::Linear if goes_on && !self.apart || !any(Status::Bits) => Status::Ring,
            Nature::Product if goes_on => Status::Ring,
            Nature::Linear | Nature::Product => Status::Bits,
        }
    }

    /// Returns whether a given value is one of an input that arrives as bits alone.
    fn is_input(&self, value: &Value) -> bool {
        if self.arithmetic != Arithmetic::Prime {
            return false;
        }
        let operands = value.op.operands();
        let of = |id: &ValueId| self.is(*id, Status::Bits);
        matches!(value.op, Op::Param(_)) || operands.iter().any(of)
    }

    /// Returns whether a sum or product is a seed.
    fn is_seed(&self, value: &Value, nature: Nature) -> bool {
        match &value.op {
            Op::Dot(..) => true,
            Op::Reduce(..) if self.arithmetic == Arithmetic::Prime => false,
            Op::Reduce(_, of, _) => !self.is(*of, Status::Bits) || !self.is_small_sum(value),
            Op::Binary(_, a, b) if nature == Nature::Product => {
                let widths = [a, b].map(|id| u64::from(width(self.of(*id))));
                let from_gates = self.is(*a, Status::Bits) && self.is(*b, Status::Bits);
                let small = from_gates && widths[0] * widths[1] <= FEW_GATES;
                !small && !widths.contains(&1)
            }
            _ => false,
        }
    }

    fn is(&self, id: ValueId, status: Status) -> bool {
        self.statuses[id.0 as usize] == status
    }

    /// Returns whether a sum along a fixed axis takes few gates. A sum whose sign differs from that
    /// of its operand is left to the ring: gates would need the operand in another form.
    fn is_small_sum(&self, value: &Value) -> bool {
        let Op::Reduce(_, of, axis) = &value.op else {
            return false;
        };
        let operand = self.of(*of);
        let same_sign = operand.range.signed() == value.range.signed();
        match operand.shape.dim(*axis as usize) {
            Some(Dim::Fixed(length)) => {
                let gates = length.saturating_mul(operand.range.bits().into());
                same_sign && gates <= FEW_GATES
            }
            _ => false,
        }
    }

    /// Applies rules 3 and 4, from the results to the inputs, each value after all that read it.
    fn backward(&self) -> Vec<Chosen> {
        let mut chosen = vec![Chosen::default(); self.graph.values.len()];
        // Algebras of the users of each value; a result is revealed from any algebra.
        let mut read = vec![Chosen::default(); self.graph.values.len()];
        for (index, value) in self.graph.values.iter().enumerate().rev() {
            let ring = match (self.natures[index], self.statuses[index]) {
                (Nature::Given, _) => false,
                (_, Status::Ring) => true,
                (_, Status::Free) => read[index].ring || !read[index].bits,
                (nature, Status::Bits) => self.is_reached(value, nature, read[index]),
            };
            let bits = match self.statuses[index] {
                Status::Ring => false,
                Status::Free => read[index].bits || !ring,
                Status::Bits => !ring,
            };
            chosen[index] = Chosen { bits, ring };
            for id in value.op.operands() {
                let read = &mut read[id.0 as usize];
                read.bits |= bits;
                read.ring |= ring;
            }
        }
        chosen
    }

    /// Returns whether a value that gates could compute is in the ring because of its users.
    fn is_reached(&self, value: &Value, nature: Nature, read: Chosen) -> bool {
        if width(value) > self.arithmetic.most_bits() {
            return false;
        }
        let operands = value.op.operands();
        let from_gates = operands.iter().filter(|id| self.is(**id, Status::Bits));
        let from_gates = from_gates.count();
        let most = match nature {
            Nature::Gates | Nature::Given => return false,
            Nature::Moved | Nature::Linear => 1,
            Nature::Product => {
                let bit = operands.iter().any(|id| width(self.of(*id)) == 1);
                if bit { 1 } else { 2 }
            }
        };
        !read.bits && (from_gates == 0 || read.ring && from_gates <= most)
    }

    /// Returns for each value the `k` of the values that it is connected with in the ring. Inputs,
    /// constants and their parts connect nothing.
    fn moduli(&self, chosen: &[Chosen]) -> Vec<u8> {
        let values = &self.graph.values;
        let mut joined = Joined {
            parent: (0..values.len()).collect(),
            widths: values.iter().map(width).collect(),
        };
        for (index, value) in values.iter().enumerate().filter(|(at, _)| chosen[*at].ring) {
            for id in value.op.operands() {
                if chosen[id.0 as usize].ring {
                    joined.join(index, id.0 as usize)
                } else {
                    joined.widen(index, self.of(id).range.bits())
                }
            }
        }
        (0..values.len()).map(|index| joined.width(index)).collect()
    }
}

/// Disjoint sets of values, each with the most bits of its members.
struct Joined {
    parent: Vec<usize>,
    widths: Vec<u8>,
}

impl Joined {
    fn root(&mut self, mut index: usize) -> usize {
        while self.parent[index] != index {
            self.parent[index] = self.parent[self.parent[index]];
            index = self.parent[index];
        }
        index
    }

    fn width(&mut self, index: usize) -> u8 {
        let root = self.root(index);
        self.widths[root]
    }

    fn widen(&mut self, index: usize, bits: u8) {
        let root = self.root(index);
        self.widths[root] = self.widths[root].max(bits);
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a] = b;
        self.widths[b] = self.widths[b].max(self.widths[a]);
    }
}
