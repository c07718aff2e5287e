//! Gates from the graph of one lane: data moves and bodies here, arithmetic in `ops`.
//!
//! A value is a row-major vector of words, all as wide as its range needs. Bodies of nested maps
//! and scans are unrolled; reductions are sums of many terms or trees.

use super::compare_exchange;
mod accumulate;

use super::numeric::Placed;
use super::ops;
use super::words::{Stacks, Words, around, broadcast, count, last, locate, widen};
use crate::fuse::combination;
use crate::network::Network;
use sealane_circuit::{Builder, Goal, Int, Lookups, Wire, Word, aes, sha256};
use sealane_program::call::{AES128_KEYS, AES128_ROUNDS};
use sealane_program::graph::{Graph, Loop, Op, Reduction, Value, ValueId};
use sealane_program::types::{Range, Type};
use std::rc::Rc;

/// Largest number of gates (and of words) of one circuit: about a gigabyte while it is made.
pub(crate) const MAX_GATES: usize = 10_000_000;

/// Least number of gates per byte of a function of bytes: SHA-256 takes more than 100,000 for a
/// block of 64.
const GATES_BY_BYTE: usize = 1500;

/// Error for a circuit with more than [`MAX_GATES`] gates.
pub(super) struct TooLarge;

/// Lowered form of a value of a graph.
enum Held {
    One(Rc<Words>),
    /// The parts of a map or scan.
    Parts(Vec<Rc<Words>>),
}

/// A circuit under construction.
pub(super) struct Lowering {
    pub builder: Builder,
    goal: Goal,
    placed: Placed,
    /// Words made so far, including those that took no gate.
    words: usize,
}

impl Lowering {
    /// Makes an empty circuit of gates alone.
    pub fn new(goal: Goal) -> Lowering {
        Lowering::with_functions(goal, Lookups::Gates, &[])
    }

    /// Makes an empty circuit, with lookups in a form, and products in GF(2^k) as a whole for these
    /// `k`.
    pub fn with_functions(goal: Goal, lookups: Lookups, products: &'static [usize]) -> Lowering {
        let builder = Builder::for_goal(goal).with_lookups(lookups);
        Lowering {
            builder: builder.with_products(products),
            goal,
            placed: Placed::default(),
            words: 0,
        }
    }

    /// Adds the next inputs of the circuit: elements of a range.
    pub fn input(&mut self, range: Range, elements: u64) -> Result<Rc<Words>, TooLarge> {
        let width = usize::from(range.bits());
        let elements = usize::try_from(elements).map_err(|_| TooLarge)?;
        let words = self.elements(elements, |l, _| l.builder.input(width))?;
        Ok(Rc::new(Words { range, words }))
    }

    /// Makes words one by one, as long as the circuit is within the limit.
    fn elements(
        &mut self,
        count: usize,
        mut element: impl FnMut(&mut Lowering, usize) -> Word,
    ) -> Result<Vec<Word>, TooLarge> {
        let mut words = Vec::new();
        for index in 0..count {
            words.push(element(self, index));
            self.words += 1;
            if self.builder.gates().max(self.words) > MAX_GATES {
                return Err(TooLarge);
            }
        }
        Ok(words)
    }

    /// Lowers a graph whose parameter `i` is `params[i]`; returns its results.
    pub fn graph(
        &mut self,
        graph: &Graph,
        params: &[Rc<Words>],
    ) -> Result<Vec<Rc<Words>>, TooLarge> {
        let mut held: Vec<Held> = Vec::with_capacity(graph.values.len());
        for value in &graph.values {
            let scope = Scope {
                graph,
                params,
                held: &held,
            };
            held.push(self.value(value, &scope)?);
        }
        let scope = Scope {
            graph,
            params,
            held: &held,
        };
        Ok(graph
            .returns
            .iter()
            .map(|id| Rc::clone(scope.words(*id)))
            .collect())
    }

    fn value(&mut self, value: &Value, scope: &Scope) -> Result<Held, TooLarge> {
        let words = match &value.op {
            Op::Param(index) => return Ok(Held::One(Rc::clone(&scope.params[*index as usize]))),
            Op::Const(data) => {
                let width = usize::from(value.range.bits());
                let numbers = data.numbers().collect::<Vec<_>>();
                self.elements(numbers.len(), |l, at| {
                    l.builder.constant(numbers[at], width)
                })?
            }
            op if op.is_element_wise() => self.element_wise(value, scope)?,
            Op::Reduce(reduction, of, axis) => {
                self.reduce(*reduction, value.range, scope, *of, *axis as usize)?
            }
            Op::Dot(a, b) => self.dot(value.range, scope, *a, *b)?,
            Op::Slice(slice) => {
                let of = scope.words(slice.of);
                let axis = slice.axis as usize;
                let (outer, length, inner) = around(scope.fixed(slice.of), axis);
                let (run, start) = (slice.len as usize * inner, slice.start as usize);
                let moved = self.elements(outer * run, |_, at| {
                    of.words[(at / run * length + start) * inner + at % run].clone()
                })?;
                return Ok(Held::One(Rc::new(Words::new(of.range, moved))));
            }
            Op::View { of, start, dims } => {
                let (from, of) = (*start as i64, scope.words(*of));
                let lengths = dims.iter().map(|(length, _)| *length).collect::<Vec<_>>();
                let words = self.elements(count(&lengths), |_, mut index| {
                    let mut at = from;
                    for (length, step) in dims.iter().rev() {
                        at += (index % *length as usize) as i64 * step;
                        index /= *length as usize;
                    }
                    of.words[at as usize].clone()
                })?;
                return Ok(Held::One(Rc::new(Words::new(of.range, words))));
            }
            Op::Concat(parts, axis) => self.concat(value, scope, parts, *axis as usize)?,
            Op::Accumulate(reduction, of, axis) => {
                self.accumulate(*reduction, value.range, scope, *of, *axis as usize)?
            }
            Op::Lookup { table, index } => self.lookup(value.range, scope, *table, *index)?,
            Op::Stack(parts, axis) => {
                let (outer, length, inner) = around(&value.shape.fixed, *axis as usize);
                let width = usize::from(value.range.bits());
                self.elements(outer * length * inner, |_, at| {
                    let (block, part) = (at / (length * inner), at / inner % length);
                    scope
                        .words(parts[part])
                        .int(block * inner + at % inner)
                        .resize(width)
                })?
            }
            Op::Map(of) => return self.map(scope, of),
            Op::Scan(of) => return self.scan(scope, of),
            Op::Sort(of, _) => return self.network(scope, Network::Sort, of),
            Op::Prefix(of) => return self.network(scope, Network::Prefix, of),
            Op::Running(reduction, of, starts) => {
                let body = combination(value, *reduction, starts.is_some());
                let of = [*of].into_iter().chain(*starts).collect::<Vec<_>>();
                let mut elements = scope.elements(&of);
                for element in &mut elements {
                    element[0] = widen(&element[0], value.range);
                }
                let after = compare_exchange::network(self, Network::Prefix, &body, elements, &[])?;
                let mut stacks = Stacks::new(of.len());
                after.iter().for_each(|element| stacks.push(element));
                return Ok(Held::One(stacks.finish().swap_remove(0)));
            }
            Op::Compact { keep, over } => return self.compact(scope, *keep, over),
            Op::Part(of, part) => return Ok(Held::One(Rc::clone(scope.part(*of, *part as usize)))),
            Op::Call(name, operands) => self.call(name, value, scope, operands)?,
            // Earlier passes write them out, or a body has no rows and draws nothing.
            op => unreachable!("`{}` stands in no body behind the passes before", op.word()),
        };
        Ok(Held::One(Rc::new(Words::new(value.range, words))))
    }

    fn element_wise(&mut self, value: &Value, scope: &Scope) -> Result<Vec<Word>, TooLarge> {
        let operands = value.op.operands();
        let dims = &value.shape.fixed;
        let strides = operands.iter().map(|id| broadcast(scope.fixed(*id), dims));
        let strides = strides.collect::<Vec<_>>();
        let first = operands.first().map(|id| scope.ty(*id)).unwrap_or(value.ty);
        self.elements(count(dims), |l, index| {
            let at = |(id, strides): (&ValueId, &Vec<usize>)| {
                let words = scope.words(*id);
                (words.int(locate(index, dims, strides)), words.range)
            };
            let operands = operands.iter().zip(&strides).map(at).collect::<Vec<_>>();
            let b = &mut l.builder;
            ops::scalar(b, &mut l.placed, &value.op, &operands, first, value.range)
        })
    }

    fn reduce(
        &mut self,
        reduction: Reduction,
        range: Range,
        scope: &Scope,
        of: ValueId,
        axis: usize,
    ) -> Result<Vec<Word>, TooLarge> {
        let (outer, length, inner) = around(scope.fixed(of), axis);
        let words = scope.words(of);
        self.elements(outer * inner, |l, index| {
            let first = index / inner * length * inner + index % inner;
            let terms = (0..length).map(|along| words.int(first + along * inner));
            ops::reduce(&mut l.builder, reduction, &terms.collect::<Vec<_>>(), range)
        })
    }

    fn concat(
        &mut self,
        value: &Value,
        scope: &Scope,
        parts: &[ValueId],
        axis: usize,
    ) -> Result<Vec<Word>, TooLarge> {
        let (outer, _, _) = around(&value.shape.fixed, axis);
        let width = usize::from(value.range.bits());
        let mut words = Vec::new();
        for block in 0..outer {
            for part in parts {
                let run = count(&scope.fixed(*part)[axis..]);
                words.extend(self.elements(run, |_, at| {
                    scope.words(*part).int(block * run + at).resize(width)
                })?);
            }
        }
        Ok(words)
    }

    fn dot(
        &mut self,
        range: Range,
        scope: &Scope,
        a: ValueId,
        b: ValueId,
    ) -> Result<Vec<Word>, TooLarge> {
        let (left, right) = (scope.words(a), scope.words(b));
        let length = scope.fixed(b)[0] as usize;
        let columns = scope.fixed(b).get(1).map_or(1, |&n| n as usize);
        let width = usize::from(range.bits());
        let rows = left.words.len() / length;
        self.elements(rows * columns, |l, index| {
            let (row, column) = (index / columns, index % columns);
            let product = |k: usize| {
                let (x, y) = (left.int(row * length + k), right.int(k * columns + column));
                l.builder.mul(x, y, width)
            };
            let products = (0..length).map(product).collect::<Vec<_>>();
            // Each is as wide as the sum, whose form makes them right for either sign.
            let terms = products.iter().map(|bits| Int::new(bits, range.signed()));
            l.builder.sum(&terms.collect::<Vec<_>>(), width)
        })
    }

    /// Lowers a lookup. Entries of several elements are one long word each.
    fn lookup(
        &mut self,
        range: Range,
        scope: &Scope,
        table: ValueId,
        index: ValueId,
    ) -> Result<Vec<Word>, TooLarge> {
        let (entries, places) = (scope.words(table), scope.words(index));
        let inner = count(&scope.fixed(table)[1..]);
        let width = usize::from(range.bits());
        // One lookup can exceed the limit of a circuit: each reads the whole table.
        if entries.words.len() * width > MAX_GATES {
            return Err(TooLarge);
        }
        // No index is beyond its range, and unread entries take no gate.
        let reached = entries
            .words
            .chunks(inner)
            .take(places.range.hi as usize + 1);
        let entries = reached.map(<[Word]>::concat).collect::<Vec<_>>();
        let found = self.elements(places.words.len(), |l, at| {
            l.words += inner - 1;
            l.builder.lookup(&places.words[at], &entries)
        })?;
        let elements = found.iter().flat_map(|entry| entry.chunks(width));
        Ok(elements.map(<[Wire]>::to_vec).collect())
    }

    fn map(&mut self, scope: &Scope, of: &Loop) -> Result<Held, TooLarge> {
        let (over, captured, body) = (&of.over, &of.captured, &of.body);
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

    fn scan(&mut self, scope: &Scope, of: &Loop) -> Result<Held, TooLarge> {
        let (init, over, captured, body) = (&of.init, &of.over, &of.captured, &of.body);
        let length = scope.fixed(over[0])[0] as usize;
        let ranges = body.values[..init.len()].iter().map(|param| param.range);
        let ranges = ranges.collect::<Vec<_>>();
        let first = init
            .iter()
            .zip(&ranges)
            .map(|(id, range)| widen(scope.words(*id), *range));
        let mut carries = first.collect::<Vec<_>>();
        let mut parts = Stacks::new(body.returns.len() - init.len());
        for index in 0..length {
            let slices = over.iter().map(|id| scope.element(*id, index));
            let whole = captured.iter().map(|id| Rc::clone(scope.words(*id)));
            let params = carries
                .iter()
                .cloned()
                .chain(slices)
                .chain(whole)
                .collect::<Vec<_>>();
            let results = self.graph(body, &params)?;
            let (next, outs) = results.split_at(init.len());
            carries = next
                .iter()
                .zip(&ranges)
                .map(|(words, range)| widen(words, *range))
                .collect();
            parts.push(outs);
        }
        carries.extend(parts.finish());
        Ok(Held::Parts(carries))
    }

    fn network(&mut self, scope: &Scope, network: Network, of: &Loop) -> Result<Held, TooLarge> {
        let (over, captured, body) = (&of.over, &of.captured, &of.body);
        let captured = captured.iter().map(|id| Rc::clone(scope.words(*id)));
        let captured = captured.collect::<Vec<_>>();
        let mut elements = scope.elements(over);
        if network == Network::Prefix {
            // Combinations may be any values of the type.
            for element in &mut elements {
                for (words, param) in element.iter_mut().zip(&body.values) {
                    *words = widen(words, param.range);
                }
            }
        }
        let after = compare_exchange::network(self, network, body, elements, &captured)?;
        let mut parts = Stacks::new(over.len());
        after.iter().for_each(|element| parts.push(element));
        Ok(Held::Parts(parts.finish()))
    }

    /// Lowers what is kept of elements: each moves by the number of those before it that are not
    /// kept; zeros fill the rest.
    fn compact(
        &mut self,
        scope: &Scope,
        keep: ValueId,
        over: &[ValueId],
    ) -> Result<Held, TooLarge> {
        let flags = Rc::clone(scope.words(keep));
        let counts = Range {
            lo: 0,
            hi: flags.words.len() as i128,
        };
        let width = usize::from(counts.bits());
        let mut elements = scope.elements(&[&[keep], over].concat());
        let mut skipped = vec![Wire::ZERO; width];
        for (element, flag) in elements.iter_mut().zip(&flags.words) {
            let counted = vec![!flag[0]];
            let (before, counted) = (Int::unsigned(&skipped), Int::unsigned(&counted));
            skipped = self.builder.add(before, counted, width);
            let places = Words::new(counts, [skipped.clone()]);
            element.insert(1, Rc::new(places));
        }
        let none = Graph::default();
        let all = Network::Compact { most: usize::MAX };
        let moved = compare_exchange::network(self, all, &none, elements, &[])?;
        let mut parts = Stacks::new(over.len());
        for element in &moved {
            let there = element[0].words[0][0];
            let kept = element[2..].iter().map(|words| {
                let zeroed = words.words.iter().map(|word| {
                    let bits = word.iter().map(|bit| self.builder.and(there, *bit));
                    bits.collect()
                });
                Rc::new(Words::new(words.range.hull(Range::of(0)), zeroed))
            });
            parts.push(&kept.collect::<Vec<_>>());
        }
        Ok(Held::Parts(parts.finish()))
    }

    /// Lowers a function of bytes along the last axis.
    fn call(
        &mut self,
        name: &str,
        value: &Value,
        scope: &Scope,
        operands: &[ValueId],
    ) -> Result<Vec<Word>, TooLarge> {
        let (_, leading) = last(&value.shape.fixed);
        let messages = |index: usize| -> Vec<Word> {
            let message = |id: &ValueId| {
                let (length, outer) = last(scope.fixed(*id));
                let first = locate(index, leading, &broadcast(outer, leading)) * length;
                let of = scope.words(*id);
                (first..first + length)
                    .flat_map(|at| of.int(at).resize(8))
                    .collect()
            };
            operands.iter().map(message).collect()
        };
        // One call can exceed the limit of a circuit: a hash of a long message.
        let bytes = operands
            .iter()
            .map(|id| last(scope.fixed(*id)).0)
            .sum::<usize>();
        if bytes * GATES_BY_BYTE > MAX_GATES {
            return Err(TooLarge);
        }
        let results = self.elements(count(leading), |l, index| {
            let messages = messages(index);
            match name {
                "aes128" => aes::encrypt(&mut l.builder, &messages[0], &messages[1]),
                AES128_KEYS => aes::round_keys(&mut l.builder, &messages[0]),
                AES128_ROUNDS => aes::encrypt_under(&mut l.builder, &messages[0], &messages[1]),
                "sha256" => sha256::hash(&mut l.builder, &messages[0]),
                other => unreachable!("check refuses a function `{other}`"),
            }
        })?;
        Ok(results
            .iter()
            .flat_map(|word| word.chunks(8).map(<[Wire]>::to_vec))
            .collect())
    }
}

/// Values that a value of a graph may refer to.
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
        &self.graph[id].shape.fixed
    }

    fn ty(&self, id: ValueId) -> Type {
        self.graph[id].ty
    }

    /// Takes all elements of axis 0 of several tensors.
    fn elements(&self, ids: &[ValueId]) -> Vec<Vec<Rc<Words>>> {
        let element = |at| ids.iter().map(|id| self.element(*id, at)).collect();
        (0..self.fixed(ids[0])[0] as usize).map(element).collect()
    }

    /// Takes element `index` of axis 0.
    fn element(&self, id: ValueId, index: usize) -> Rc<Words> {
        let of = self.words(id);
        let size = of.words.len() / self.fixed(id)[0] as usize;
        let words = &of.words[index * size..][..size];
        Rc::new(Words::new(of.range, words.iter().cloned()))
    }
}
