//! Results from which the whole of another party's input follows, up to the order of its rows:
//! the input itself, in another arrangement or order, or through steps that anybody can undo.
//!
//! Every element of a row of an input has a number, and every element of a value the number of that
//! which follows from it, if one does. What follows from a whole vector alone (its elements from
//! their running sums, the vector from itself in another order) is noted beside new numbers for the
//! elements of that vector. Work is bounded: what lies beyond is not followed, and not warned of.

mod arrange;

use super::undone;
use crate::call::of_field;
use crate::graph::{Binary, Graph, Op, Program, Reduction, Reveal, Value, ValueId, Visibility};
use crate::kind::Form;
use crate::types::{Data, Shape};
use sealane_diagnostic::{Code, Diagnostic};
use std::collections::HashMap;
use std::rc::Rc;

/// Elements and operations that are followed before this check gives up.
const MOST_WORK: usize = 1 << 22;
/// Vectors whose elements all follow from one value.
const MOST_LAYERS: usize = 8;
/// The number of an element from which nothing follows.
const NOTHING: u32 = 0;

/// Elements that follow from those of a value: of each row, in row-major order. There are several
/// where rows of several tables stand under one another.
type Determined = Vec<Rc<[u32]>>;

/// A vector whose elements have the numbers `first..first + count`, from all of which `determines`
/// follow.
struct Vector {
    first: u32,
    count: u32,
    determines: Vec<u32>,
}

/// The state of the check.
struct Follower<'a> {
    program: &'a Program,
    vectors: Vec<Vector>,
    /// By the number of an element, the input from which it comes; `None` of several.
    origins: Vec<Option<usize>>,
    work: usize,
}

/// The warnings about results of a program, one for each result and input.
pub(super) fn shown(program: &Program) -> Vec<Diagnostic> {
    let mut follower = Follower {
        program,
        vectors: Vec::new(),
        origins: vec![None],
        work: MOST_WORK,
    };
    let inputs = program.inputs.iter().enumerate();
    let determined: Vec<Determined> = inputs
        .map(|(index, input)| follower.number(&input.shape, Some(index)))
        .collect();
    let values = follower.graph(&program.main, &determined);
    let mut warnings = Vec::new();
    for reveal in &program.results {
        let follows = &values[reveal.value.0 as usize];
        if follows.is_empty() {
            continue;
        }
        let known = follower.known(follows);
        let whole = |index: usize| {
            let ids = determined[index].iter().flat_map(|layer| layer.iter());
            !determined[index].is_empty() && ids.copied().all(|id| known[id as usize])
        };
        for index in (0..program.inputs.len()).filter(|&index| whole(index)) {
            let owner = program.inputs[index].owner;
            if let Some(&other) = reveal.to.iter().find(|&&party| party != owner) {
                warnings.push((index, other, reveal));
            }
        }
    }
    let shown = |name: &str, to: u8| {
        let determined = |(index, other, _): &(usize, u8, _)| {
            program.inputs[*index].name == name && *other == to
        };
        warnings.iter().any(determined)
    };
    let new = warnings.iter().filter(|(index, other, reveal)| {
        // The mask of an input that is shown with it, or one that a nullable result has.
        let is_part = matches!(reveal.kind.form, Form::Missing(_));
        !matches!(&program.inputs[*index].kind.form, Form::Missing(of) if is_part || shown(of, *other))
    });
    new.map(|(index, other, reveal)| warning(program, *index, *other, reveal))
        .collect()
}

fn warning(program: &Program, index: usize, other: u8, reveal: &Reveal) -> Diagnostic {
    let input = &program.inputs[index];
    let party = |index: u8| &program.parties[usize::from(index)];
    let (name, to, owner) = (&reveal.name, party(other), party(input.owner));
    let message = match &input.kind.form {
        Form::Missing(of) => format!("`{name}` shows {to} which cells of `{of}` are missing"),
        _ => format!("`{name}` shows {to} the whole input `{}`", input.name),
    };
    let reason = if as_it_stands(program, reveal.value, index) {
        format!("it is the input of {owner} as it stands")
    } else {
        format!(
            "the input of {owner} follows from it: its elements stand in another order or shape, \
         or behind steps that anybody can undo"
        )
    };
    let span = &program.main[reveal.value].span;
    Diagnostic::new(Code::RevealsInput, message)
        .at(span.as_ref().or(input.span.as_ref()))
        .because(reason)
        .hint("reveal what was computed from it, or send it without Sealane")
}

/// Tells whether a value is an input, but for its type and for what stands below missing cells.
fn as_it_stands(program: &Program, value: ValueId, input: usize) -> bool {
    match program.main[value].op {
        Op::Param(index) => index as usize == input,
        Op::Cast(of) | Op::Share { of, .. } => as_it_stands(program, of, input),
        Op::Select(_, yes, no) => [yes, no]
            .into_iter()
            .any(|side| as_it_stands(program, side, input)),
        _ => false,
    }
}

impl Follower<'_> {
    /// New numbers for the elements of a vector.
    fn number(&mut self, shape: &Shape, origin: Option<usize>) -> Determined {
        let count = shape.row_elements().unwrap_or(u64::MAX);
        let Some(count) = self.spend(count) else {
            return Determined::new();
        };
        let first = self.origins.len() as u32;
        self.origins.extend((0..count).map(|_| origin));
        vec![(first..first + count as u32).collect()]
    }

    /// New numbers for a vector from all of which the elements of another follow.
    fn vector(&mut self, of: &Determined, shape: &Shape) -> Determined {
        let determines: Vec<u32> = of.iter().flat_map(|layer| layer.iter().copied()).collect();
        if determines.iter().all(|&id| id == NOTHING) {
            return Determined::new();
        }
        let origin = self.origin(of);
        let made = self.number(shape, origin);
        if let Some(ids) = made.first() {
            self.vectors.push(Vector {
                first: ids[0],
                count: ids.len() as u32,
                determines: determines.into_iter().filter(|&id| id != NOTHING).collect(),
            });
        }
        made
    }

    /// The one input from which all elements come.
    fn origin(&self, determined: &Determined) -> Option<usize> {
        let mut ids = determined.iter().flat_map(|layer| layer.iter());
        let first = self.origins[*ids.next()? as usize]?;
        ids.all(|&id| self.origins[id as usize] == Some(first))
            .then_some(first)
    }

    /// Takes from the work that is left; `None` if there is too little.
    fn spend(&mut self, count: u64) -> Option<usize> {
        let count = usize::try_from(count).ok()?;
        self.work = self.work.checked_sub(count)?;
        Some(count)
    }

    /// By the number of an element, whether it follows from elements.
    fn known(&self, determined: &Determined) -> Vec<bool> {
        let mut known = vec![false; self.origins.len()];
        for &id in determined.iter().flat_map(|layer| layer.iter()) {
            known[id as usize] = true;
        }
        known[NOTHING as usize] = false;
        // A vector tells elements of earlier ones alone.
        for vector in self.vectors.iter().rev() {
            let ids = vector.first as usize..(vector.first + vector.count) as usize;
            if known[ids].iter().all(|&known| known) {
                vector
                    .determines
                    .iter()
                    .for_each(|&id| known[id as usize] = true);
            }
        }
        known
    }

    /// The elements that follow from each value of a graph.
    fn graph(&mut self, graph: &Graph, params: &[Determined]) -> Vec<Determined> {
        let mut determined: Vec<Determined> = Vec::with_capacity(graph.values.len());
        let mut parts: HashMap<u32, Vec<Determined>> = HashMap::new();
        for (index, value) in graph.values.iter().enumerate() {
            let found = match self.spend(1) {
                None => Determined::new(),
                Some(_) => match &value.op {
                    Op::Part(of, part) => parts
                        .get(&of.0)
                        .and_then(|parts| parts.get(*part as usize).cloned())
                        .unwrap_or_default(),
                    op if op.has_parts() => {
                        let made = self.parts(graph, &value.op, &determined);
                        parts.insert(index as u32, made);
                        Determined::new()
                    }
                    _ => self.value(graph, value, &determined, params),
                },
            };
            determined.push(found);
        }
        determined
    }

    fn value(
        &mut self,
        graph: &Graph,
        value: &Value,
        determined: &[Determined],
        params: &[Determined],
    ) -> Determined {
        let of = |id: ValueId| &graph[id];
        let known = |id: ValueId| determined[id.0 as usize].clone();
        match &value.op {
            Op::Param(index) => params.get(*index as usize).cloned().unwrap_or_default(),
            Op::Cast(x) if undone::cast(of(*x), value.ty) => known(*x),
            Op::Unary(op, x) if (op.row().undone)(of(*x)) => known(*x),
            Op::Binary(op, a, b) => self.binary(graph, *op, [*a, *b], value, determined),
            Op::Select(condition, yes, no) => {
                let side = if yes == no {
                    Some(*yes)
                } else {
                    self.unmasked(graph, *condition, [*yes, *no], determined)
                };
                side.map_or_else(Determined::new, |side| {
                    self.spread(&known(side), &of(side).shape, &value.shape)
                })
            }
            Op::Call(name, factors) if of_field(name).is_some() => {
                self.field_product(graph, factors, value, determined)
            }
            Op::Reduce(_, x, axis) if is_one(&of(*x).shape, *axis) => known(*x),
            Op::Slice(slice) => {
                let shape = &of(slice.of).shape;
                let axis = slice.axis as usize - usize::from(shape.rows.is_some());
                let inner: u64 = shape.fixed[axis + 1..].iter().product();
                let (whole, piece) = (shape.fixed[axis] * inner, slice.len * inner);
                let outer: u64 = shape.fixed[..axis].iter().product();
                let places = (0..outer).flat_map(|i| {
                    let first = i * whole + slice.start * inner;
                    first..first + piece
                });
                self.gather(&known(slice.of), places)
            }
            Op::View { of: x, start, dims } => {
                let mut places = vec![*start as i64];
                for (len, step) in dims {
                    if self.spend(places.len() as u64 * len).is_none() {
                        return Determined::new();
                    }
                    places = places
                        .iter()
                        .flat_map(|&at| (0..*len as i64).map(move |i| at + i * step))
                        .collect();
                }
                self.gather(&known(*x), places.into_iter().map(|at| at as u64))
            }
            Op::Concat(items, axis) | Op::Stack(items, axis) => {
                let axis = *axis as usize - usize::from(value.shape.rows.is_some());
                self.join(graph, items, axis, determined)
            }
            Op::Append(tables) => {
                let layers = tables.iter().flat_map(|&table| known(table));
                layers.take(MOST_LAYERS).collect()
            }
            Op::Accumulate(Reduction::Sum, x, _) if !value.ty.is_float() => {
                self.vector(&known(*x), &value.shape)
            }
            Op::Running(Reduction::Sum, x, None) => self.vector(&known(*x), &value.shape),
            Op::Roll { of: x, .. } | Op::Share { of: x, .. } => known(*x),
            Op::Head { of: x, len } => {
                let rows = of(*x).shape.rows;
                let bound = rows.map_or(u64::MAX, |rows| {
                    self.program.rows[usize::from(rows.0)].bound
                });
                if *len >= bound {
                    self.vector(&known(*x), &value.shape)
                } else {
                    Determined::new()
                }
            }
            Op::Lookup { table, index } => match (&of(*table).op, &of(*index).op) {
                (_, Op::Const(index)) => {
                    let entry = of(*table).shape.fixed.iter().skip(1).product::<u64>();
                    let places = index.numbers().flat_map(|at| {
                        let first = at as u64 * entry;
                        first..first + entry
                    });
                    self.gather(&known(*table), places)
                }
                (Op::Const(entries), _) if is_one_to_one(entries) => known(*index),
                _ => Determined::new(),
            },
            _ => Determined::new(),
        }
    }

    fn binary(
        &mut self,
        graph: &Graph,
        op: Binary,
        operands: [ValueId; 2],
        value: &Value,
        determined: &[Determined],
    ) -> Determined {
        for (left, x, other) in [
            (true, operands[0], operands[1]),
            (false, operands[1], operands[0]),
        ] {
            let (of, public) = (&graph[x], &graph[other]);
            let known = &determined[x.0 as usize];
            if known.is_empty() || public.visibility != Visibility::Public {
                continue;
            }
            let constant = match &public.op {
                Op::Const(data) => Some(data),
                _ => None,
            };
            if undone::binary(op, left, of, constant, value.ty) {
                return self.spread(known, &of.shape, &value.shape);
            }
        }
        Determined::new()
    }

    /// Squares and multiples by numbers other than 0 of elements of a field.
    fn field_product(
        &mut self,
        graph: &Graph,
        factors: &[ValueId],
        value: &Value,
        determined: &[Determined],
    ) -> Determined {
        let &[a, b] = factors else {
            return Determined::new();
        };
        if a == b {
            return determined[a.0 as usize].clone();
        }
        for (x, other) in [(a, b), (b, a)] {
            let known = &determined[x.0 as usize];
            if let Op::Const(data) = &graph[other].op
                && !known.is_empty()
                && data.numbers().all(|number| number != 0)
            {
                return self.spread(known, &graph[x].shape, &value.shape);
            }
        }
        Determined::new()
    }

    /// The side of a choice that stands where a mask does not say that a cell of it is missing,
    /// beside something public.
    fn unmasked(
        &self,
        graph: &Graph,
        condition: ValueId,
        sides: [ValueId; 2],
        determined: &[Determined],
    ) -> Option<ValueId> {
        let mask = self.origin(&determined[condition.0 as usize])?;
        let Form::Missing(of) = &self.program.inputs[mask].kind.form else {
            return None;
        };
        let cells = |side: &&ValueId| {
            let origin = self.origin(&determined[side.0 as usize]);
            origin.is_some_and(|index| self.program.inputs[index].name == *of)
        };
        let side = sides.iter().find(cells)?;
        let other = sides.iter().find(|other| *other != side)?;
        let public = graph[other].visibility == Visibility::Public;
        public.then_some(*side)
    }
}

/// Tells whether an axis has one element.
fn is_one(shape: &Shape, axis: u32) -> bool {
    let rows = usize::from(shape.rows.is_some());
    let axis = axis as usize;
    axis >= rows && shape.fixed.get(axis - rows) == Some(&1)
}

/// Tells whether every entry of a vector is another number.
fn is_one_to_one(entries: &Data) -> bool {
    let mut sorted = entries.elements.clone();
    sorted.sort_unstable();
    entries.shape.len() == 1 && sorted.windows(2).all(|pair| pair[0] != pair[1])
}
