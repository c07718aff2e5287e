//! A prover that uses every freedom of a proof escapes as often as the bound says, no more and no
//! less, over fields in which that can be counted.
//!
//! It has one false statement, or some at each position of the grid. At each level it knows the
//! error of the claim and adds a polynomial to the true one that carries this error and has as many
//! roots of its choice as its degree allows. If the challenge is one of them, the rest of its proof
//! is honest and passes.

use std::cell::RefCell;

use sealane_block::{Block, Cpu, Nonce};
use zeroize::Zeroizing;

use super::{CONTEXT, Strings, Tiny, coefficients, key, run, shape};
use crate::field::{Field, Scalars};
use crate::grid::{GIVEN, SIDE, embed, given_point};
use crate::kind::{GROUP_LANES, POSITIONS};
use crate::level;
use crate::sources::{LeftKey, RightDraws, RightKey};
use crate::vectors::Weights;
use crate::{ByKey, Challenges, Context, Kind};

const CPU: fn() -> Cpu = Cpu::best;

/// A polynomial that was added in a level.
enum Added {
    Nothing,
    /// Coefficients, lowest first.
    Line(Vec<Block>),
    /// A scale, and the roots in both variables.
    Grid(Block, [Vec<Block>; 2]),
}

/// The freedoms that a cheat uses.
#[derive(Clone, Copy)]
struct Freedom {
    /// False statements at all positions of the grid, in one block of lanes, in place of one.
    spread: bool,
    /// Roots outside of the grid, in each of its variables.
    roots: usize,
    /// Roots in the levels behind the grid too.
    levels: bool,
    /// It knows the challenges ahead.
    ahead: bool,
}

/// One false statement, with all the roots that it can have.
const ALL: Freedom = Freedom {
    spread: false,
    roots: SIDE - 1,
    levels: true,
    ahead: false,
};

/// Cheat: its knowledge and its last move.
struct Cheat {
    freedom: Freedom,
    /// Error of the verifiers' claim.
    wrong: Block,
    /// Position of the false statement in the grid.
    position: usize,
    added: Added,
    /// Challenges since the last move, in order.
    drawn: Vec<Block>,
    /// The challenges of this proof, if the cheat knows them ahead.
    ahead: Option<ByKey>,
}

fn product_of<F: Field>(at: Block, roots: &[Block]) -> Block {
    roots.iter().fold(Block::new(1), |product, root| {
        F::mul(CPU(), product, at ^ *root)
    })
}

/// The value at a point of the grid and the lines beyond, with these roots in both variables.
fn grid_value<F: Field>(roots: &[Vec<Block>; 2], at: [usize; 2]) -> Block {
    let [x, y] = [0, 1].map(|v| product_of::<F>(embed::<F>(at[v] as u8), &roots[v]));
    F::mul(CPU(), x, y)
}

/// All challenges of a level that has so many points.
fn choices<F: Field>(points: usize) -> impl Iterator<Item = Block> {
    let all = (2..1 << F::BITS).map(Block::new);
    all.filter(move |at| !F::is_point(*at, points))
}

fn evaluated<F: Field>(all: &[Block], at: Block) -> Block {
    all.iter()
        .rev()
        .fold(Block::ZERO, |sum, c| F::mul(CPU(), sum, at) ^ *c)
}

impl Cheat {
    /// The error that its last move has left.
    fn settle<const BITS: usize>(&mut self) {
        let mul = |a, b| Tiny::<BITS>::mul(CPU(), a, b);
        let mut drawn = std::mem::take(&mut self.drawn);
        drawn
            .iter_mut()
            .for_each(|at| *at = Tiny::<BITS>::element(*at));
        self.wrong = match &self.added {
            Added::Nothing => self.wrong,
            Added::Line(all) => {
                let allowed = drawn.iter().find(|at| !Tiny::<BITS>::is_point(**at, 2));
                evaluated::<Tiny<BITS>>(all, *allowed.unwrap())
            }
            Added::Grid(scale, roots) => {
                let mut allowed = drawn
                    .iter()
                    .filter(|at| !Tiny::<BITS>::is_point(**at, SIDE));
                roots.iter().fold(*scale, |value, roots| {
                    mul(
                        value,
                        product_of::<Tiny<BITS>>(*allowed.next().unwrap(), roots),
                    )
                })
            }
        };
        self.added = Added::Nothing;
    }

    /// The errors of the values of the next level, so many.
    fn errors<const BITS: usize>(&mut self, count: usize) -> Vec<Block> {
        self.settle::<BITS>();
        let points = if count == GIVEN { SIDE } else { 2 };
        let known = |ahead: &mut ByKey| level::challenge::<Tiny<BITS>>(ahead, points);
        let mut chosen: Vec<Block> = self.ahead.as_mut().map(known).into_iter().collect();
        if count == GIVEN {
            // The second challenge of the grid.
            self.ahead.as_mut().map(known);
        }
        if self.wrong.value() == 0 {
            return vec![Block::ZERO; count];
        }
        let first = chosen.first().map(|at| at.value());
        let others = choices::<Tiny<BITS>>(points);
        chosen.extend(others.filter(|at| Some(at.value()) != first));
        if count == GIVEN {
            return self.grid_errors::<BITS>(&chosen[..self.freedom.roots]);
        }
        if !self.freedom.levels {
            return vec![Block::ZERO; count];
        }
        let degree = if count == 2 { 2 } else { 4 };
        // The error of the claim is the sum of values at 0 and 1, so that has to be some element.
        let mut roots = chosen[..degree].to_vec();
        let sum = |roots: &[Block]| {
            coefficients::<Tiny<BITS>>(roots)[1..]
                .iter()
                .fold(Block::ZERO, |s, c| s ^ *c)
        };
        for other in &chosen[degree..] {
            if sum(&roots).value() != 0 {
                break;
            }
            roots[degree - 1] = *other;
        }
        let scale = Tiny::<BITS>::over(self.wrong, sum(&roots));
        let mut all = coefficients::<Tiny<BITS>>(&roots);
        all.iter_mut()
            .for_each(|c| *c = Tiny::<BITS>::mul(CPU(), *c, scale));
        let given = [&all[..1], &all[2..]].concat();
        self.added = Added::Line(all);
        given
    }

    /// Errors that vanish at roots outside of the grid, and on it but for the false statements.
    fn grid_errors<const BITS: usize>(&mut self, chosen: &[Block]) -> Vec<Block> {
        let place = [self.position / SIDE, self.position % SIDE];
        let point = |i: usize| embed::<Tiny<BITS>>(i as u8);
        let spread = self.freedom.spread;
        let roots = place.map(|own| {
            let others = (0..SIDE).filter(|other| !spread && *other != own);
            let others = others.map(point);
            others.chain(chosen.iter().copied()).collect::<Vec<Block>>()
        });
        let value = |at| grid_value::<Tiny<BITS>>(&roots, at);
        // With errors at all positions, which are this value there, the weight of their block.
        let scale = if spread {
            self.wrong
        } else {
            Tiny::<BITS>::over(self.wrong, value(place))
        };
        let errors = (0..GIVEN).map(|q| {
            let (x, y) = given_point(q);
            Tiny::<BITS>::mul(CPU(), scale, value([x, y]))
        });
        let errors = errors.collect();
        self.added = Added::Grid(scale, roots);
        errors
    }
}

/// The cheat in place of the right key: shares that are wrong by its errors make values wrong by
/// them.
struct CheatKey<'a, const BITS: usize>(RightKey, &'a RefCell<Cheat>);

impl<const BITS: usize> RightDraws for CheatKey<'_, BITS> {
    fn mask(&mut self) -> Block {
        self.0.mask()
    }

    fn shares(&mut self, count: usize) -> Zeroizing<Vec<Block>> {
        let mut shares = self.0.shares(count);
        let errors = self.1.borrow_mut().errors::<BITS>(count);
        shares
            .iter_mut()
            .zip(errors)
            .for_each(|(share, error)| *share ^= error);
        shares
    }
}

struct CheatDraws<'a>(ByKey, &'a RefCell<Cheat>);

impl Challenges for CheatDraws<'_> {
    fn commit(&mut self, commitment: &[u8; 32]) {
        self.0.commit(commitment);
    }

    fn draw(&mut self) -> Block {
        let drawn = self.0.draw();
        self.1.borrow_mut().drawn.push(drawn);
        drawn
    }
}

/// One false statement of a kind: its kind, the statements, and the number of the false one. With
/// errors at all positions, that of the first statement of their block.
type Case = (Kind, usize, usize);

/// Bits of the error of the false statement, where an element has as many.
const ERROR: u8 = 0b1001;

fn false_statements<const BITS: usize>((kind, statements, at): Case, freedom: Freedom) -> Strings {
    let mut strings = Strings::new(kind, statements, 1);
    if freedom.spread {
        let chosen: Vec<Block> = choices::<Tiny<BITS>>(SIDE).take(freedom.roots).collect();
        let roots = [chosen.clone(), chosen];
        for place in 0..POSITIONS {
            // The error of a block of bits is the element of these bits, times its weight.
            let error = grid_value::<Tiny<BITS>>(&roots, [place / SIDE, place % SIDE]).value();
            for lane in (0..BITS).filter(|lane| error >> lane & 1 == 1) {
                strings.verified[0][1][0].flip(at + place * GROUP_LANES + lane);
            }
        }
        return strings;
    }
    for k in (0..kind.field.degree()).filter(|k| ERROR >> k & 1 == 1) {
        strings.verified[0][1][k].flip(at);
    }
    strings
}

/// Runs one proof of the cheat; true if the verifiers accept it.
fn escapes<const BITS: usize>(
    (kind, _, at): Case,
    freedom: Freedom,
    strings: &Strings,
    trial: u64,
) -> bool {
    let shape = shape(std::slice::from_ref(strings));
    let context = Context {
        segment: trial,
        ..CONTEXT
    };
    let seed = Nonce::from_bytes(std::array::from_fn(|i| (trial >> (i % 2 * 8)) as u8));
    let weights = Weights::new::<Tiny<BITS>>(CPU(), &context, &shape, &seed);
    let by_key = || ByKey::new(&context, &key(2));
    // The error of the claim: the weight of the false statement times its error.
    let on_grid = shape.has_grid();
    let error = embed::<Tiny<BITS>>(ERROR & ((1 << kind.field.degree()) - 1));
    let weight = weights.of::<Tiny<BITS>>(CPU(), &shape, at);
    let cheat = RefCell::new(Cheat {
        freedom,
        wrong: Tiny::<BITS>::mul(CPU(), weight, error),
        position: if on_grid { at / GROUP_LANES } else { 0 },
        added: Added::Nothing,
        drawn: Vec::new(),
        ahead: freedom.ahead.then(by_key),
    });
    let left = || LeftKey::new(&context, &seed, &key(0));
    let right = || RightKey::new(&context, &seed, &key(1));
    let (key, draws) = (
        &mut CheatKey::<BITS>(right(), &cheat),
        &mut CheatDraws(by_key(), &cheat),
    );
    let verifiers = (left(), right(), [by_key(), by_key()]);
    let prover = (&mut left(), key, draws);
    let (_, [a, b]) = run::<Tiny<BITS>, _>(strings, &weights, prover, verifiers);
    level::accepts::<Tiny<BITS>>(CPU(), &a, &b)
}

/// Counts escapes and compares them with `1 - prod (1 - e_j)`: weights, grid, levels, last level.
/// Returns how far from that, in sigma, the nearest rate of another proof is: one in which some
/// challenge had one root more or less.
fn check<const BITS: usize>(case: Case, freedom: Freedom, trials: u64) -> f64 {
    let strings = false_statements::<BITS>(case, freedom);
    let size = (1 << BITS) as f64;
    let shape = shape(std::slice::from_ref(&strings));
    // Roots among all choices of each challenge.
    let mut chances = Vec::new();
    if shape.has_grid() {
        chances.extend([(freedom.roots as f64, size - 8.0); 2]);
    }
    if freedom.levels {
        chances.extend(vec![(2.0, size - 2.0); shape.levels()]);
        chances.push((4.0, size - 2.0));
    }
    let caught = |chances: &[(f64, f64)]| {
        let level = |caught, (roots, all): &(f64, f64)| caught * (1.0 - roots / all);
        chances.iter().fold(1.0 - 1.0 / size, level)
    };
    let predicted = 1.0 - caught(&chances);
    let sigma = (predicted * (1.0 - predicted) / trials as f64).sqrt();
    let escaped = (0..trials)
        .filter(|t| escapes::<BITS>(case, freedom, &strings, *t))
        .count();
    let rate = escaped as f64 / trials as f64;
    let off = (rate - predicted) / sigma;
    assert!(
        off.abs() < 3.0,
        "{rate:.4} of {predicted:.4} escape, which is {off:.1} sigma off"
    );
    let mut nearest = f64::INFINITY;
    for i in 0..chances.len() {
        for more in [-1.0, 1.0] {
            let mut other = chances.clone();
            other[i].0 += more;
            nearest = nearest.min((1.0 - caught(&other) - predicted).abs() / sigma);
        }
    }
    nearest
}

const AND: Kind = Kind::AND;
const PRODUCT: Kind = Kind::PRODUCT16;

#[test]
fn a_cheat_escapes_at_its_rate_where_statements_are_lifted() {
    check::<4>((AND, 1, 0), ALL, 4000);
    check::<4>((PRODUCT, 3, 1), ALL, 10_000);
    check::<8>((AND, 50, 49), ALL, 3000);
    check::<8>((Kind::OPENING16, 3, 0), ALL, 3000);
    // Six levels of two: one root more or less of any level would be seen.
    assert!(check::<4>((AND, 64, 9), ALL, 10_500) > 5.0);
}

#[test]
fn a_cheat_escapes_at_its_rate_on_the_grid() {
    check::<8>((AND, 5000, 4999), ALL, 1000);
    check::<8>((PRODUCT, 4096, 1234), ALL, 700);
}

/// Errors at all 64 positions leave the most roots to the prover: all 14 of either variable. A
/// block has eight lanes in this field, so an error at a position can be any element.
#[test]
fn a_cheat_with_errors_at_all_positions_escapes_at_its_rate() {
    let spread = Freedom {
        spread: true,
        roots: 2 * (SIDE - 1),
        ..ALL
    };
    check::<8>((AND, 32_768, 24), spread, 3000);
}

/// The field of 16 elements is all points of the grid and 8 others, so few roots make a rate that
/// one more or less would change.
#[test]
fn a_cheat_escapes_at_its_rate_on_a_grid_of_few_other_points() {
    let few = Freedom {
        roots: 3,
        levels: false,
        ..ALL
    };
    assert!(check::<4>((AND, 5000, 600), few, 1200) > 5.0);
    let spread = Freedom {
        spread: true,
        ..few
    };
    assert!(check::<4>((AND, 32_768, 24), spread, 1200) > 5.0);
}

#[test]
fn a_cheat_that_knows_challenges_ahead_always_escapes() {
    let ahead = Freedom { ahead: true, ..ALL };
    for case in [(PRODUCT, 3, 1), (AND, 5000, 77)] {
        let strings = false_statements::<8>(case, ahead);
        assert!((0..30).all(|trial| escapes::<8>(case, ahead, &strings, trial)));
    }
}

/// A prover that knows the seed of the weights before its messages chooses errors that cancel: of
/// two statements that are lifted, and of two blocks of lanes. Over GF(2^8) all such pairs are seen
/// to escape, and with weights of another seed they do not.
#[test]
fn errors_chosen_for_known_weights_always_escape() {
    for statements in [20, 5000] {
        let mut caught = 0;
        for trial in 0..20 {
            let mut strings = Strings::new(AND, statements, 1);
            let shape = shape(std::slice::from_ref(&strings));
            let seed = |other: u8| Nonce::from_bytes([trial + other; 32]);
            let weights = |seed| Weights::new::<Tiny<8>>(CPU(), &CONTEXT, &shape, &seed);
            let known = weights(seed(0));
            // Some set of at most nine weights of eight bits has the sum 0.
            let weight = |i| known.of::<Tiny<8>>(CPU(), &shape, i).value();
            let mut basis: Vec<(u128, u16)> = Vec::new();
            let errors = (0..9).find_map(|i| {
                let start = (weight(8 * i % statements + i / 3), 1 << i);
                let rest = basis.iter().fold(start, |v, b| {
                    if v.0 ^ b.0 < v.0 {
                        (v.0 ^ b.0, v.1 ^ b.1)
                    } else {
                        v
                    }
                });
                basis.push(rest);
                (rest.0 == 0).then_some(rest.1)
            });
            let errors = errors.expect("nine elements of eight bits");
            for i in (0..9).filter(|i| errors >> i & 1 == 1) {
                strings.verified[0][1][0].flip(8 * i % statements + i / 3);
            }
            assert!(honest(&strings, &known, trial), "{statements}");
            caught += usize::from(!honest(&strings, &weights(seed(100)), trial));
        }
        assert!(caught > 14, "{caught} of 20 caught under other weights");
    }
}

/// True if an honest proof of these statements passes under these weights and challenges.
fn honest(strings: &Strings, weights: &Weights, trial: u8) -> bool {
    let context = Context {
        segment: trial.into(),
        ..CONTEXT
    };
    let seed = Nonce::from_bytes([trial; 32]);
    let left = || LeftKey::new(&context, &seed, &key(0));
    let right = || RightKey::new(&context, &seed, &key(1));
    let by_key = || ByKey::new(&context, &key(2));
    let verifiers = (left(), right(), [by_key(), by_key()]);
    let prover = (&mut left(), &mut right(), &mut by_key());
    let (_, [a, b]) = run::<Tiny<8>, _>(strings, weights, prover, verifiers);
    level::accepts::<Tiny<8>>(CPU(), &a, &b)
}
