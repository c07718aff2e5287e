//! Steps with their operands, and their outcomes.

use crate::run::Steps;
use crate::share::Shares;
use crate::words::Words;
use sealane_circuit::Tape;
use sealane_parties::{PartyId, PartySet};
use sealane_protocol::{
    ConvertShape, Domain, Numbers, Opening, ProductShape, RingOp, RingShape, ShuffleShape,
    SortShape, StepShape, View,
};
use std::sync::Arc;

/// A step with its operands; [`Step::shape`] is its shape. Operands are owned, not borrowed, since
/// a step outlives the call that begins it.
pub enum Step<'a, W: Steps> {
    /// Shares an input.
    Input {
        /// Party that knows the values.
        owner: PartyId,
        /// Domain of the shares.
        domain: Domain,
        /// Number of values.
        elements: usize,
        /// Bits of each; in `Z_2^k` that is `k`.
        bits: usize,
        /// The values; at the owner only, and in the online walk only.
        values: Option<Words>,
    },
    /// Runs a tape on lanes. The planes of all operands, one after the other, are the tape's
    /// inputs; the result has one plane for each output of the tape.
    Tape {
        /// The tape.
        tape: &'a Tape,
        /// Domain of operands and result.
        domain: Domain,
        /// Number of lanes, which is the number of elements of each operand.
        lanes: usize,
        /// The operands.
        operands: Vec<Arc<W::Share>>,
    },
    /// Runs a tape on pairs of elements and writes its outputs over them: a [`Step::Tape`] with a
    /// lane for each pair, of the same cost. The tape's inputs are the planes of the first element
    /// of a pair, of all columns, those of the second one, and those of the values that all pairs
    /// read. Only for parties that state [`Steps::IN_PLACE`].
    CompareExchange {
        /// The tape.
        tape: &'a Tape,
        /// Domain of the columns.
        domain: Domain,
        /// The pairs.
        pairs: Pairs<W::Share>,
    },
    /// Computes inner products: element `l` of the result is the sum over all planes `p` of the
    /// product of both operands' elements `l` of plane `p`. Operands are values with views of them,
    /// so that an element that is used often can be opened once; a matrix product is one step.
    Product {
        /// Domain of operands and result.
        domain: Domain,
        /// One operand.
        left: Selected<W::Share>,
        /// The other, of the same number of lanes and planes.
        right: Selected<W::Share>,
    },
    /// Computes an operation on ring elements, one a lane. The result of a [`RingOp::Extract`] has
    /// a plane for each of its bits. Only for protocols that state
    /// [`ring_steps`](sealane_protocol::Protocol::ring_steps).
    Ring {
        /// The operation.
        op: RingOp,
        /// Domain of the elements.
        domain: Domain,
        /// Bits that hold each element.
        bits: usize,
        /// True if those bits are two's complement.
        signed: bool,
        /// The bits of a [`RingOp::Select`].
        bit: Option<Arc<W::Share>>,
        /// The elements.
        share: Arc<W::Share>,
    },
    /// Converts shares to another domain.
    Convert {
        /// Source domain.
        from: Domain,
        /// Target domain.
        to: Domain,
        /// Bits that hold each value.
        bits: usize,
        /// True if those bits are two's complement.
        signed: bool,
        /// The shares.
        share: Arc<W::Share>,
    },
    /// Puts rows in an order that no party knows, all orders equally likely. An element is a row,
    /// with a plane for each bit or ring element.
    Shuffle {
        /// Domain of the rows.
        domain: Domain,
        /// The rows.
        share: Arc<W::Share>,
    },
    /// Sorts rows of bits in ascending order of a key. Rows of equal keys stay in their order.
    Sort {
        /// Domain of the rows.
        domain: Domain,
        /// The rows; an element is a row, with a plane for each bit.
        share: Arc<W::Share>,
        /// The bits of the key, lowest first.
        key: Vec<KeyBit>,
    },
    /// Settles checks of steps that have finished. Before any result is opened, all parties agree
    /// on the messages that crossed between them.
    Settle {
        /// The checks.
        checks: Vec<W::Check>,
    },
    /// Opens values to their receivers.
    Open {
        /// The values.
        results: Vec<Opened<W::Share>>,
    },
}

impl<'a, W: Steps> Step<'a, W> {
    /// The shape of this step, from which its cost follows.
    pub fn shape(&self) -> StepShape<'a> {
        let size = |share: &W::Share| (share.elements() as u64, share.planes() as u64);
        match self {
            Step::Input {
                owner,
                domain,
                elements,
                bits,
                ..
            } => StepShape::input(*owner, *domain, *elements as u64, *bits as u64),
            Step::Tape {
                tape,
                domain,
                lanes,
                ..
            } => StepShape::tape(tape, *domain, *lanes as u64),
            Step::CompareExchange {
                tape,
                domain,
                pairs,
            } => StepShape::tape(tape, *domain, pairs.places[0].len() as u64),
            Step::Product {
                domain,
                left,
                right,
            } => StepShape::Product(ProductShape {
                domain: *domain,
                lanes: left.lanes() as u64,
                terms: left.planes() as u64,
                lines: [left, right].map(Selected::lines),
                matrix: View::lines(&left.lanes, &right.lanes).is_some(),
                distinct: [left.distinct(), right.distinct()],
                numbers: [left.numbers, right.numbers],
            }),
            Step::Convert {
                from,
                to,
                bits,
                signed,
                share,
            } => StepShape::Convert(ConvertShape {
                from: *from,
                to: *to,
                elements: share.elements() as u64,
                bits: *bits as u64,
                signed: *signed,
            }),
            Step::Ring {
                op,
                domain,
                bits,
                signed,
                share,
                ..
            } => StepShape::Ring(RingShape {
                op: *op,
                domain: *domain,
                lanes: share.elements() as u64,
                bits: *bits as u64,
                signed: *signed,
            }),
            Step::Shuffle { domain, share } => {
                let (domain, (rows, planes)) = (*domain, size(share));
                StepShape::Shuffle(ShuffleShape {
                    domain,
                    rows,
                    planes,
                })
            }
            Step::Sort { domain, share, key } => {
                let (rows, planes) = size(share);
                StepShape::Sort(SortShape {
                    domain: *domain,
                    rows,
                    planes,
                    key_bits: key.len() as u64,
                })
            }
            Step::Settle { checks } => StepShape::Settle {
                checks: W::count(checks),
            },
            Step::Open { results } => StepShape::Open {
                results: results.iter().map(Opened::shape).collect(),
            },
        }
    }
}

/// Columns with the pairs of their elements that meet.
pub struct Pairs<S> {
    /// The columns, all of the same number of elements.
    pub columns: Vec<S>,
    /// The places of the first and of the second elements, pair by pair, both ascending. The
    /// second of a pair may be behind the last element, and is zero then. An element that is
    /// written is in no later pair.
    pub places: [Vec<usize>; 2],
    /// Sides that the tape writes: its outputs are the first elements, then the second ones.
    pub writes: [bool; 2],
    /// Values of one element each that all pairs read.
    pub captured: Vec<Arc<S>>,
}

/// A bit of the key of a sort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyBit {
    /// Its plane in the rows.
    pub plane: usize,
    /// True if ones come before zeros.
    pub inverted: bool,
}

/// A value to be opened.
pub struct Opened<S> {
    /// The shares.
    pub share: Arc<S>,
    /// Domain of the value.
    pub domain: Domain,
    /// Parties that learn it.
    pub to: PartySet,
}

impl<S: Shares> Opened<S> {
    fn shape(&self) -> Opening {
        Opening {
            domain: self.domain,
            bits: (self.share.planes() * self.share.elements()) as u64 * self.domain.algebra.bits(),
            to: self.to,
        }
    }
}

/// Elements of a value that a product reads: plane `i` of lane `l` is element
/// `lanes[l] + inner[i]`.
pub struct Selected<S> {
    /// The value.
    pub share: Arc<S>,
    /// First element of each lane.
    pub lanes: View,
    /// Elements of each lane, relative to its first.
    pub inner: View,
    /// Numbers of these elements, as far as the plan states any.
    pub numbers: Numbers,
}

impl<S: Shares> Selected<S> {
    /// All elements of a value of any number of planes.
    pub fn whole(share: Arc<S>) -> Selected<S> {
        Selected {
            lanes: View::whole(share.elements()),
            inner: View::whole(1),
            numbers: Numbers::ANY,
            share,
        }
    }

    /// Number of lanes.
    pub fn lanes(&self) -> usize {
        self.lanes.count()
    }

    /// Number of planes of each lane.
    pub fn planes(&self) -> usize {
        self.inner.count() * self.share.planes()
    }

    /// Number of different lanes: see [`StepShape::Product`].
    pub fn lines(&self) -> u64 {
        View::distinct(&self.lanes, &View::whole(1))
    }

    /// Number of different elements: see [`View::distinct`].
    pub fn distinct(&self) -> u64 {
        View::distinct(&self.lanes, &self.inner)
    }

    /// The elements as a tensor of its own. A view of everything in order is not copied.
    pub fn gathered(&self) -> Arc<S> {
        let one = self.inner.count() == 1 && self.inner.offset == 0;
        if one && self.lanes.is_whole(self.share.elements()) {
            Arc::clone(&self.share)
        } else {
            Arc::new(self.share.gather(&self.lanes, &self.inner))
        }
    }
}

/// A summand of [`Steps::linear`].
pub struct Term<'a, S> {
    /// Shares of `lanes` elements, of any number of planes.
    pub share: &'a S,
    /// Factor modulo `2^k`, or in two's complement modulo a prime.
    pub factor: Factor,
}

/// Public factor of a [`Term`].
pub enum Factor {
    /// One factor for all elements.
    Number(u64),
    /// One factor for each element of each plane, plane by plane.
    Table(Vec<u64>),
}

/// Progress of a step.
pub enum Progress<'a, W: Steps> {
    /// One more flight has been written and is to be read.
    More(W::Pending<'a>),
    /// The step is finished.
    Done(Outcome<W>),
}

impl<W: Steps<Output = ()>> Progress<'_, W> {
    /// A finished step of the online walk that left a share and no check.
    pub fn share(share: W::Share) -> Self {
        Progress::Done(Outcome::Share(share, Vec::new(), ()))
    }
}

/// Result of a finished step.
pub enum Outcome<W: Steps> {
    /// Shares, checks that are to be settled, and the output beside them.
    Share(W::Share, Vec<W::Check>, W::Output),
    /// The columns of a [`Step::CompareExchange`].
    Columns(Vec<W::Share>, W::Output),
    /// End of a settlement.
    Settled(W::Output),
    /// For each value opened, its elements if this party learns it: one word each, the bits above
    /// the value's own zero. Nothing is opened in the offline walk.
    Opened(Vec<Option<Words>>, W::Output),
}
