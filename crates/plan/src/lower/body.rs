//! The graph of one lane becomes gates: data moves and bodies here, arithmetic in `ops`.
//!
//! A value is a row-major vector of words, all as wide as its range needs. Bodies of nested maps
//! and scans are unrolled; reductions are sums of many terms or trees.

use super::ops;
use sealane_circuit::{Builder, Int, Wire, Word, aes};
use sealane_program::graph::{Graph, Op, Reduction, Value, ValueId};
use sealane_program::types::{Range, Type};
use std::rc::Rc;

/// Largest number of gates of one tape: some hundreds of megabytes while it is made.
pub(crate) const MAX_GATES: usize = 20_000_000;

/// A circuit has grown beyond [`MAX_GATES`].
pub(super) struct TooLarge;

/// Elements of a value: words of `range.bits()` wires.
pub(super) struct Words {
    pub range: Range,
    pub words: Vec<Word>,
}

impl Words {
    /// One element as an operand of arithmetic.
    pub fn int(&self, index: usize) -> Int<'_> {
        Int { bits: &self.words[index], signed: self.range.signed() }
    }
}

/// What a value of a graph is while it is lowered.
enum Held {
    One(Rc<Words>),
    /// The parts of a map or scan.
    Parts(Vec<Rc<Words>>),
}

/// A circuit under construction.
pub(super) struct Lowering {
    pub builder: Builder,
}

impl Lowering {
    pub fn new() -> Lowering {
        Lowering { builder: Builder::new() }
    }

    /// The next inputs of the circuit: so many elements of a range.
    pub fn input(&mut self, range: Range, elements: u64) -> Rc<Words> {
        let width = usize::from(range.bits());
        let words = (0..elements).map(|_| self.builder.input(width)).collect();
        Rc::new(Words { range, words })
    }

    /// Lowers a graph whose parameter `i` is `params[i]`; returns what it returns.
    pub fn graph(&mut self, graph: &Graph, params: &[Rc<Words>]) -> Result<Vec<Rc<Words>>, TooLarge> {
        let mut held: Vec<Held> = Vec::with_capacity(graph.values.len());
        for value in &graph.values {
            let scope = Scope { graph, params, held: &held };
            held.push(self.value(value, &scope)?);
            if self.builder.gates() > MAX_GATES {
                return Err(TooLarge);
            }
        }
        let scope = Scope { graph, params, held: &held };
        Ok(graph.returns.iter().map(|id| Rc::clone(scope.words(*id))).collect())
    }

    fn value(&mut self, value: &Value, scope: &Scope) -> Result<Held, TooLarge> {
        let words = match &value.op {
            Op::Param(index) => return Ok(Held::One(Rc::clone(&scope.params[*index as usize]))),
            Op::Const(data) => {
                let width = usize::from(value.range.bits());
                data.numbers().map(|number| self.builder.constant(number, width)).collect()
            }
            Op::Unary(..) | Op::Binary(..) | Op::Select(..) | Op::Cast(_) => {
                self.element_wise(value, scope)
            }
            Op::Reduce(reduction, of, axis) => {
                self.reduce(*reduction, value.range, scope, *of, *axis as usize)
            }
            Op::Dot(a, b) => self.dot(value.range, scope, *a, *b),
            Op::Slice { of, axis, start, len, .. } => {
                let (outer, length, inner) = around(scope.fixed(*of), *axis as usize);
                let words = &scope.words(*of).words;
                let run = |o: usize| {
                    let first = (o * length + *start as usize) * inner;
                    words[first..first + *len as usize * inner].iter().cloned()
                };
                return Ok(scope.moved(*of, (0..outer).flat_map(run).collect()));
            }
            Op::Stack(parts, axis) => {
                let (outer, length, inner) = around(&value.shape.fixed, *axis as usize);
                let place = |o: usize| (0..length).flat_map(move |l| (0..inner).map(move |i| (o, l, i)));
                let width = usize::from(value.range.bits());
                let word = |(o, l, i)| scope.words(parts[l]).int(o * inner + i).resize(width);
                (0..outer).flat_map(place).map(word).collect()
            }
            Op::Map { over, captured, body } => return self.map(scope, over, captured, body),
            Op::Scan { init, over, captured, body } => {
                return self.scan(scope, [init, over, captured], body);
            }
            Op::Part(of, part) => return Ok(Held::One(Rc::clone(scope.part(*of, *part as usize)))),
            Op::Call(name, operands) => self.call(name, value, scope, operands),
        };
        Ok(Held::One(Rc::new(Words { range: value.range, words })))
    }

    fn element_wise(&mut self, value: &Value, scope: &Scope) -> Vec<Word> {
        let operands = value.op.operands();
        let dims = &value.shape.fixed;
        let strides = operands.iter().map(|id| broadcast(scope.fixed(*id), dims));
        let strides = strides.collect::<Vec<_>>();
        let first = operands.first().map(|id| scope.ty(*id)).unwrap_or(value.ty);
        let mut element = |index: usize| {
            let at = |(id, strides): (&ValueId, &Vec<usize>)| {
                let words = scope.words(*id);
                (words.int(locate(index, dims, strides)), words.range)
            };
            let operands = operands.iter().zip(&strides).map(at).collect::<Vec<_>>();
            ops::scalar(&mut self.builder, &value.op, &operands, first, value.range)
        };
        (0..count(dims)).map(&mut element).collect()
    }

    fn reduce(
        &mut self,
        reduction: Reduction,
        range: Range,
        scope: &Scope,
        of: ValueId,
        axis: usize,
    ) -> Vec<Word> {
        let (outer, length, inner) = around(scope.fixed(of), axis);
        let words = scope.words(of);
        let mut element = |index: usize| {
            let (o, i) = (index / inner, index % inner);
            let terms = (0..length).map(|l| words.int((o * length + l) * inner + i));
            let terms = terms.collect::<Vec<_>>();
            ops::reduce(&mut self.builder, reduction, &terms, range)
        };
        (0..outer * inner).map(&mut element).collect()
    }

    fn dot(&mut self, range: Range, scope: &Scope, a: ValueId, b: ValueId) -> Vec<Word> {
        let (left, right) = (scope.words(a), scope.words(b));
        let length = scope.fixed(b)[0] as usize;
        let columns = scope.fixed(b).get(1).map_or(1, |&n| n as usize);
        let width = usize::from(range.bits());
        let mut element = |index: usize| {
            let (row, column) = (index / columns, index % columns);
            let product = |k: usize| {
                let (x, y) = (left.int(row * length + k), right.int(k * columns + column));
                self.builder.mul(x, y, width)
            };
            let products = (0..length).map(product).collect::<Vec<_>>();
            let terms = products.iter().map(|bits| Int { bits, signed: range.signed() });
            let terms = terms.collect::<Vec<_>>();
            self.builder.sum(&terms, width)
        };
        let rows = left.words.len() / length;
        (0..rows * columns).map(&mut element).collect()
    }

    fn map(
        &mut self,
        scope: &Scope,
        over: &[ValueId],
        captured: &[ValueId],
        body: &Graph,
    ) -> Result<Held, TooLarge> {
        let length = scope.fixed(over[0])[0] as usize;
        let mut parts = Stacks::new(body.returns.len());
        for index in 0..length {
            let slices = over.iter().map(|id| scope.element(*id, index));
            let whole = captured.iter().map(|id| Rc::clone(scope.words(*id)));
            let params = slices.chain(whole).collect::<Vec<_>>();
            parts.push(&self.graph(body, &params)?);
        }
        Ok(Held::Parts(parts.finish()))
    }

    fn scan(
        &mut self,
        scope: &Scope,
        [init, over, captured]: [&[ValueId]; 3],
        body: &Graph,
    ) -> Result<Held, TooLarge> {
        let length = scope.fixed(over[0])[0] as usize;
        let ranges = body.values[..init.len()].iter().map(|param| param.range);
        let ranges = ranges.collect::<Vec<_>>();
        let first = init.iter().zip(&ranges).map(|(id, range)| widen(scope.words(*id), *range));
        let mut carries = first.collect::<Vec<_>>();
        let mut parts = Stacks::new(body.returns.len() - init.len());
        for index in 0..length {
            let slices = over.iter().map(|id| scope.element(*id, index));
            let whole = captured.iter().map(|id| Rc::clone(scope.words(*id)));
            let params = carries.iter().cloned().chain(slices).chain(whole).collect::<Vec<_>>();
            let results = self.graph(body, &params)?;
            let (next, outs) = results.split_at(init.len());
            carries = next.iter().zip(&ranges).map(|(words, range)| widen(words, *range)).collect();
            parts.push(outs);
        }
        carries.extend(parts.finish());
        Ok(Held::Parts(carries))
    }

    /// A function of bytes along the last axis.
    fn call(&mut self, name: &str, value: &Value, scope: &Scope, operands: &[ValueId]) -> Vec<Word> {
        let dims = &value.shape.fixed;
        let (bytes, leading) = dims.split_last().map_or((1, &dims[..]), |(n, rest)| (*n, rest));
        let mut words = Vec::with_capacity(count(dims));
        for index in 0..count(leading) {
            let message = |id: &ValueId| -> Word {
                let fixed = scope.fixed(*id);
                let (length, outer) = fixed.split_last().map_or((1, fixed), |(n, o)| (*n as usize, o));
                let first = locate(index, leading, &broadcast(outer, leading)) * length;
                let of = scope.words(*id);
                (first..first + length).flat_map(|at| of.int(at).resize(8)).collect()
            };
            let messages = operands.iter().map(message).collect::<Vec<_>>();
            let result = match name {
                "aes128" => aes::encrypt(&mut self.builder, &messages[0], &messages[1]),
                other => unreachable!("check refuses a function `{other}`"),
            };
            debug_assert_eq!(result.len() as u64, 8 * bytes);
            words.extend(result.chunks(8).map(<[Wire]>::to_vec));
        }
        words
    }
}

/// What a value of a graph may refer to.
struct Scope<'a> {
    graph: &'a Graph,
    params: &'a [Rc<Words>],
    held: &'a [Held],
}

impl<'a> Scope<'a> {
    fn words(&self, id: ValueId) -> &'a Rc<Words> {
        match &self.held[id.0 as usize] {
            Held::One(words) => words,
            Held::Parts(_) => unreachable!("a map or scan is read through its parts"),
        }
    }

    fn part(&self, id: ValueId, part: usize) -> &'a Rc<Words> {
        match &self.held[id.0 as usize] {
            Held::Parts(parts) => &parts[part],
            Held::One(_) => unreachable!("a part is taken of a map or scan"),
        }
    }

    fn fixed(&self, id: ValueId) -> &'a [u64] {
        &self.graph.values[id.0 as usize].shape.fixed
    }

    fn ty(&self, id: ValueId) -> Type {
        self.graph.values[id.0 as usize].ty
    }

    /// Other elements, in the form of `of`.
    fn moved(&self, of: ValueId, words: Vec<Word>) -> Held {
        Held::One(Rc::new(Words { range: self.words(of).range, words }))
    }

    /// Element `index` of axis 0.
    fn element(&self, id: ValueId, index: usize) -> Rc<Words> {
        let of = self.words(id);
        let size = of.words.len() / self.fixed(id)[0] as usize;
        let words = of.words[index * size..][..size].to_vec();
        Rc::new(Words { range: of.range, words })
    }
}

/// The results of a body's calls, one after the other.
struct Stacks(Vec<Option<Words>>);

impl Stacks {
    fn new(parts: usize) -> Stacks {
        Stacks((0..parts).map(|_| None).collect())
    }

    fn push(&mut self, results: &[Rc<Words>]) {
        for (stack, result) in self.0.iter_mut().zip(results) {
            let stack = stack.get_or_insert_with(|| Words { range: result.range, words: vec![] });
            stack.words.extend(result.words.iter().cloned());
        }
    }

    fn finish(self) -> Vec<Rc<Words>> {
        self.0.into_iter().flatten().map(Rc::new).collect()
    }
}

/// The same elements in the form of another range that holds them.
pub(super) fn widen(words: &Rc<Words>, range: Range) -> Rc<Words> {
    if words.range == range {
        return Rc::clone(words);
    }
    let width = usize::from(range.bits());
    let resized = (0..words.words.len()).map(|index| words.int(index).resize(width));
    Rc::new(Words { range, words: resized.collect() })
}

fn count(dims: &[u64]) -> usize {
    dims.iter().product::<u64>() as usize
}

/// Elements before, along and after an axis.
fn around(dims: &[u64], axis: usize) -> (usize, usize, usize) {
    (count(&dims[..axis]), dims[axis] as usize, count(&dims[axis + 1..]))
}

/// Row-major strides of a tensor of `dims` stretched to `to`; 0 where it repeats.
fn broadcast(dims: &[u64], to: &[u64]) -> Vec<usize> {
    let missing = to.len() - dims.len();
    let stride = |axis: usize| match axis.checked_sub(missing) {
        Some(at) if dims[at] == to[axis] => count(&dims[at + 1..]),
        _ => 0,
    };
    (0..to.len()).map(stride).collect()
}

/// The place of element `index` of a tensor of `dims` under other strides.
fn locate(mut index: usize, dims: &[u64], strides: &[usize]) -> usize {
    let mut place = 0;
    for (dim, stride) in dims.iter().zip(strides).rev() {
        place += index % *dim as usize * stride;
        index /= *dim as usize;
    }
    place
}
