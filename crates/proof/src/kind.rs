//! Kinds of statements, and from their numbers alone the sizes of a proof.

use crate::grid::GIVEN;
use crate::strings::GROUP_BLOCKS;
use crate::turns::Turn;

/// Lanes of a group. A position of a group then fills one vector of the widest tier.
pub(crate) const GROUP_LANES: usize = 512;
/// Positions of a group: the grid of 8 x 8 points.
pub(crate) const POSITIONS: usize = 64;
/// Statements of a group.
pub(crate) const GROUP: usize = POSITIONS * GROUP_LANES;

/// Statements of a kind below which the grid, whose groups are padded, takes longer than a lift.
const LEAST_FOR_GRID: usize = 4096;
/// Most elements of the inner product of a segment: 256 MiB for each of its vectors.
pub(crate) const MOST_ELEMENTS: usize = 1 << 24;

/// The field of the operands of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Small {
    /// Bits.
    Bits,
    /// GF(4): bits 0 and 1 are coefficients of 1 and w, with `w^2 = w + 1`.
    Gf4,
    /// GF(16): `high z + low`, where `low` is bits 0 and 1 as an element of GF(4), `high` is bits 2
    /// and 3, and `z^2 = z + w`. It is the field of the tower in crate `circuit`.
    Gf16,
}

impl Small {
    /// Bits of an element.
    pub const fn degree(self) -> usize {
        match self {
            Small::Bits => 1,
            Small::Gf4 => 2,
            Small::Gf16 => 4,
        }
    }

    /// Degree of the subfield over which powers of x that weigh the lanes of a block have to be
    /// independent. GF(4) is taken for part of GF(16).
    pub(crate) const fn subfield(self) -> usize {
        match self {
            Small::Bits => 1,
            Small::Gf4 | Small::Gf16 => 4,
        }
    }
}

/// Statements of one form: so many products of operands in one field, summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The field of operands and constants.
    pub field: Small,
    /// Products of a statement, 1 to [`Kind::MOST_TERMS`].
    pub terms: usize,
}

impl Kind {
    /// Most products of a statement.
    pub const MOST_TERMS: usize = 16;
    /// A replicated AND: bits, two products.
    pub const AND: Kind = Kind {
        field: Small::Bits,
        terms: 2,
    };
    /// A replicated product in GF(4).
    pub const PRODUCT4: Kind = Kind {
        field: Small::Gf4,
        terms: 2,
    };
    /// A replicated product in GF(16).
    pub const PRODUCT16: Kind = Kind {
        field: Small::Gf16,
        terms: 2,
    };
    /// An opening of the masked inverse in GF(16).
    pub const OPENING16: Kind = Kind {
        field: Small::Gf16,
        terms: 6,
    };

    /// Bit strings that hold one operand of each product.
    pub const fn planes(self) -> usize {
        self.field.degree() * self.terms
    }
}

/// The statements of one kind in a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub kind: Kind,
    pub statements: usize,
}

impl Part {
    /// True if its statements go through the grid.
    pub fn on_grid(self) -> bool {
        self.statements >= LEAST_FOR_GRID
    }

    /// Groups of the grid.
    pub fn groups(self) -> usize {
        if self.on_grid() {
            self.statements.div_ceil(GROUP)
        } else {
            0
        }
    }

    /// Elements of the inner product that is left behind the grid.
    pub fn elements(self) -> usize {
        let each = self.kind.terms;
        if self.on_grid() {
            self.groups() * GROUP_LANES * each
        } else {
            self.statements * each
        }
    }
}

/// Numbers of statements of a segment, by kind. All sizes of its proof follow from them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    pub(crate) parts: Vec<Part>,
    /// Statements about rows that change their order.
    pub(crate) turns: Vec<Turn>,
    elements: usize,
    /// True if it has statements about integers, and no others.
    pub(crate) sums: bool,
}

/// Numbers of statements that no segment can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// A kind is listed twice.
    #[error("a segment lists statements of {0:?} twice; add up their numbers")]
    Twice(Kind),
    /// A kind has no product, or too many.
    #[error("a statement of a proof has {0} products; it can have 1 to {most}", most = Kind::MOST_TERMS)]
    Terms(usize),
    /// The proof would be too long.
    #[error("a segment has too many statements for one proof; settle it in more segments")]
    TooLong,
}

impl Shape {
    /// Bytes from a verifier to the prover: half of the seed of the weights, and a digest.
    pub const SEED_BYTES: usize = 64;
    /// Bytes from each verifier to the other.
    pub const ANSWER_BYTES: usize = 64;

    /// The shape of a segment with these numbers of statements. All parties list kinds in the same
    /// order.
    ///
    /// # Errors
    /// A kind is there twice or has a wrong number of products, or there are too many statements.
    pub fn new(counts: &[(Kind, usize)]) -> Result<Shape, ShapeError> {
        let mut parts: Vec<Part> = Vec::new();
        let mut elements = 0usize;
        for &(kind, statements) in counts {
            if kind.terms == 0 || kind.terms > Kind::MOST_TERMS {
                return Err(ShapeError::Terms(kind.terms));
            }
            if parts.iter().any(|part| part.kind == kind) {
                return Err(ShapeError::Twice(kind));
            }
            // A grid leaves the 64th part, so this also bounds the statements themselves.
            if statements > POSITIONS * MOST_ELEMENTS {
                return Err(ShapeError::TooLong);
            }
            let part = Part { kind, statements };
            elements += part.elements();
            if elements > MOST_ELEMENTS {
                return Err(ShapeError::TooLong);
            }
            parts.push(part);
        }
        Ok(Shape {
            parts,
            turns: Vec::new(),
            elements,
            sums: false,
        })
    }

    /// The shape of a segment of statements about integers modulo `2^61 - 1`, with at most so many
    /// products in all batches: of a matrix, products of a row by a column. A role with fewer fills
    /// up with zeros.
    ///
    /// # Errors
    /// There are too many products.
    pub fn of_sums(products: usize) -> Result<Shape, ShapeError> {
        if products > MOST_ELEMENTS {
            return Err(ShapeError::TooLong);
        }
        Ok(Shape {
            parts: Vec::new(),
            turns: Vec::new(),
            elements: products,
            sums: true,
        })
    }

    /// This shape with statements about rows that change their order, behind all others. All
    /// parties list them in the same order.
    ///
    /// # Errors
    /// There are too many rows.
    pub fn with_turns(mut self, turns: &[Turn]) -> Result<Shape, ShapeError> {
        for turn in turns {
            assert!(turn.words > 0, "a row has a word");
            if turn.rows > MOST_ELEMENTS - self.elements {
                return Err(ShapeError::TooLong);
            }
            self.elements += turn.rows;
            self.turns.push(*turn);
        }
        Ok(self)
    }

    /// Numbers of statements by kind, as [`Shape::new`] takes them.
    pub fn counts(&self) -> Vec<(Kind, usize)> {
        let count = |part: &Part| (part.kind, part.statements);
        self.parts.iter().map(count).collect()
    }

    /// Blocks of a group of a string of kind `kind`, as [`Statements::group`] gives it.
    ///
    /// [`Statements::group`]: crate::Statements::group
    pub fn group_blocks(&self, kind: usize) -> usize {
        let part = &self.parts[kind];
        if part.on_grid() {
            GROUP_BLOCKS
        } else {
            part.statements.div_ceil(128)
        }
    }

    /// True if some kind goes through the grid.
    pub(crate) fn has_grid(&self) -> bool {
        self.parts.iter().any(|part| part.on_grid())
    }

    /// Products of a segment of statements about integers.
    pub fn products(&self) -> usize {
        if self.sums { self.elements } else { 0 }
    }

    /// Elements of the inner product behind the grid, those of turns last.
    pub(crate) fn elements(&self) -> usize {
        self.elements
    }

    /// Levels of two. The grid and the last level come before and after them.
    pub fn levels(&self) -> usize {
        let (mut n, mut levels) = (self.elements, 0);
        while n > 2 {
            n = n.div_ceil(2);
            levels += 1;
        }
        levels
    }

    /// Challenges of the proof, and so its commitments.
    pub fn challenges(&self) -> usize {
        usize::from(self.has_grid()) + self.levels() + 1
    }

    /// Elements that the prover gives.
    pub fn values(&self) -> usize {
        let grid = if self.has_grid() { GIVEN } else { 0 };
        grid + 2 * self.levels() + 4
    }

    /// Bytes from the prover to its left verifier.
    pub fn left_bytes(&self) -> usize {
        16 * self.values()
    }

    /// Bytes from the prover to its right verifier.
    pub fn right_bytes(&self) -> usize {
        32 * self.challenges()
    }

    /// Bytes that a role sends to settle a segment: its own proof, and for both other ones of the
    /// same shape a seed and an answer.
    pub fn role_bytes(&self) -> usize {
        self.left_bytes() + self.right_bytes() + 2 * (Self::SEED_BYTES + Self::ANSWER_BYTES)
    }
}
