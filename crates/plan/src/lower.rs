//! Pass `lower`: steps with tapes from units.
//!
//! A body becomes one circuit for one lane. Values are stored in as many bits as their *ranges*
//! need, not their declared types; every operation computes modulo two to the width of its result,
//! which is exact because the result is known to lie in its range. Folds become one small tape for
//! each width of their tree. Equal tapes are one. Sums and products of a ring need no circuit.
//!
//! The goal of the domain in which a circuit runs decides how circuits are built and ordered. For
//! size: small adders; an order that fills the lanes of a CPU with the circuit's own gates, since a
//! unit may run on few rows (with many rows, the rows fill the lanes in any order, and the live set
//! stays small); and marks where an input's owner knows an operand of an AND, which halves its
//! garbled table. For depth: prefix adders, and one batch for each level of ANDs, which is one
//! round where every AND costs a message.

mod body;
mod compare_exchange;
mod fold;
mod numeric;
mod ops;
mod words;

use crate::cross::LANES;
use crate::domains::Domains;
use crate::draft::{Body, CompareExchange, Cross, Draft, Scan, Unit, UnitWork, Write};
use crate::floats;
use crate::order::Prices;
use crate::scale;
use crate::steps::{self, Crossed, Len, Operand, PlanValue, Produced, Sort, Step, StepOp, TapeId};
use body::{Lowering, MAX_GATES, TooLarge};
use fold::Tree;
use sealane_circuit::tape::NOBODY;
use sealane_circuit::{Circuit, Goal, KnownTo, Lookups, Machine, Tape, compile, compile_known};
use sealane_diagnostic::{Code, Diagnostic};
use sealane_numeric::Subnormals;
use sealane_parties::PartyId;
use sealane_program::graph::{Graph, Op, Reduction, Value, ValueId, digest};
use sealane_program::types::{Data, Range, Shape};
use sealane_protocol::known_to;
use std::collections::HashMap;
use std::convert::Infallible;
use std::hash::Hash;
use std::iter::repeat_n;
use std::rc::Rc;
use std::sync::Arc;
use words::{Words, widen};

/// Tapes and, for each domain in which tapes can run, the step of each unit of the draft.
pub(crate) struct Lowered {
    pub tapes: Vec<Arc<Tape>>,
    pub forms: Vec<Vec<Step>>,
}

/// Tapes made so far with their hashes, by digests of all that decides them: equal turns of a loop
/// that a program unrolls, equal levels of trees, and plans for other tiles share them.
#[derive(Default)]
pub(crate) struct Bodies(pub(crate) HashMap<blake3::Hash, Made>);

/// A tape and its hash.
type Made = (Arc<Tape>, blake3::Hash);

/// Properties of the protocol that decide how units are lowered.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub domains: &'a Domains,
    /// Prices of sorts without a network, if it has them.
    pub prices: Option<&'a Prices>,
    /// Form of lookups.
    pub lookups: Lookups,
}

/// Lowers every unit. `owners` holds the party of each input, `tiles` the rows of a full tile,
/// `bounds` the bound of each row count; plan values are numbered as tensors.
pub(crate) fn lower(
    draft: &Draft,
    owners: &[PartyId],
    tiles: &[u64],
    bounds: &[u64],
    target: Target<'_>,
    bodies: &mut Bodies,
) -> Result<Lowered, Diagnostic> {
    let mut lowerer = Lowerer {
        draft,
        bounds,
        goal: Goal::Size,
        products: target.domains.products,
        prices: target.prices,
        lookups: target.lookups,
        bodies,
        known_to: tensors_known_to(draft, owners),
        tapes: Tapes::default(),
    };
    let mut forms = Vec::new();
    for (_, goal) in &target.domains.tapes {
        lowerer.goal = *goal;
        let step = |unit: &Unit| {
            let rows = unit.phase.rows.map(|rows| usize::from(rows.0));
            let rows = rows.map(|rows| (tiles[rows], bounds[rows]));
            Ok::<_, Diagnostic>(Step {
                op: lowerer.unit(unit, rows)?,
                label: label(&unit.ops),
                span: unit.span.clone(),
            })
        };
        forms.push(draft.units.iter().map(step).collect::<Result<_, _>>()?);
    }
    Ok(Lowered {
        tapes: lowerer.tapes.list,
        forms,
    })
}

/// Returns the party that knows each tensor in the clear: the owner of an input, also after a move.
fn tensors_known_to(draft: &Draft, owners: &[PartyId]) -> Vec<KnownTo> {
    let mut marks = vec![NOBODY; draft.tensors.len()];
    for unit in &draft.units {
        match &unit.work {
            UnitWork::Step(StepOp::Input { input, out }) => {
                marks[out.0 as usize] = known_to(owners[*input as usize]);
            }
            UnitWork::Step(op @ (StepOp::Move { out, .. } | StepOp::Concat { out, .. })) => {
                let reads = op.reads();
                let mut of = reads.iter().map(|from| marks[from.0 as usize]);
                let first = of.next().unwrap_or(NOBODY);
                let same = of.all(|mark| mark == first);
                marks[out.0 as usize] = if same { first } else { NOBODY };
            }
            _ => {}
        }
    }
    marks
}

/// Describes the operations of a step in a few words.
fn label(ops: &[String]) -> String {
    const SHOWN: usize = 3;
    let mut names: Vec<&str> = Vec::new();
    for op in ops {
        if !names.contains(&op.as_str()) {
            names.push(op);
        }
    }
    let more = names.len().saturating_sub(SHOWN);
    names.truncate(SHOWN);
    let shown = names.join(", ");
    if more > 0 {
        format!("{shown} +{more}")
    } else {
        shown
    }
}

struct Lowerer<'a> {
    draft: &'a Draft,
    bounds: &'a [u64],
    /// Goal of the circuits of the domain for which units are lowered.
    goal: Goal,
    /// Tapes multiply elements of GF(2^k) as a whole.
    products: &'static [usize],
    prices: Option<&'a Prices>,
    lookups: Lookups,
    bodies: &'a mut Bodies,
    /// Marks by tensor.
    known_to: Vec<KnownTo>,
    tapes: Tapes,
}

impl Lowerer<'_> {
    /// Lowers one unit; `rows` are the rows of a full tile and the bound, if it walks rows.
    fn unit(&mut self, unit: &Unit, rows: Option<(u64, u64)>) -> Result<StepOp, Diagnostic> {
        Ok(match &unit.work {
            UnitWork::Step(op) => op.clone(),
            UnitWork::Body(body) => self.body(body, unit)?,
            UnitWork::CompareExchange(network_step) => self.compare_exchange(network_step, unit)?,
            UnitWork::Cross(cross) => self.cross(cross, unit)?,
            UnitWork::Scan(scan) => self.scan(scan, unit)?,
            UnitWork::Fold(fold) => {
                let [from, to] = [fold.from.value, fold.out].map(|id| self.draft.tensor(id));
                let (longest, carried) = match (fold.length, rows) {
                    (Len::Fixed(length), _) => (length, false),
                    (Len::Rows, Some((tile, bound))) => (tile.min(bound), bound > tile),
                    (Len::Rows, None) => (1, false),
                };
                let longest = longest.div_ceil(fold.to);
                let tree = Tree::new(fold.reduction, from.range, to.range, longest);
                let mut combine = |widths| self.level(fold.reduction, tree.signed, widths);
                StepOp::Fold(steps::Fold {
                    operand: fold.from.clone(),
                    length: fold.length,
                    lanes: fold.lanes.clone(),
                    levels: tree.levels().map(&mut combine).collect(),
                    to: fold.to,
                    carry: carried.then(|| combine([tree.last(); 3])),
                    signed: tree.signed,
                    bits: tree.bits,
                    out: fold.out,
                })
            }
        })
    }

    fn body(&mut self, body: &Body, unit: &Unit) -> Result<StepOp, Diagnostic> {
        let reads = body.operands.iter().map(|read| self.param(read));
        let params = reads.collect::<Vec<_>>();
        let outs = body
            .outs
            .iter()
            .map(|out| self.draft.tensor(out.value).range);
        let outs = outs.collect::<Vec<_>>();
        let tape = self.tape(&body.graph, &params, &outs, unit)?;
        Ok(StepOp::Tape {
            tape,
            lanes: body.lanes.clone(),
            operands: body.operands.clone(),
            outs: self.produced(&body.outs, 0),
        })
    }

    fn compare_exchange(
        &mut self,
        network_step: &CompareExchange,
        unit: &Unit,
    ) -> Result<StepOp, Diagnostic> {
        let over = network_step.over.iter().map(|read| self.param(read));
        let captured = network_step.captured.iter().map(|id| self.whole(id));
        let (over, captured) = (over.collect::<Vec<_>>(), captured.collect::<Vec<_>>());
        let key = (
            "pair",
            self.goal,
            network_step.network,
            &network_step.graph,
            &over,
            &captured,
        );
        let made = self.made(&key, |lowerer| lowerer.pair(network_step, &over, &captured));
        let made = made.map_err(|TooLarge| too_large(unit))?;
        if let Some(sort) = self.sorts(network_step, &made.0) {
            return Ok(StepOp::Sort(sort));
        }
        Ok(StepOp::CompareExchange(steps::CompareExchange {
            network: network_step.network,
            tape: self.tapes.intern(&made),
            rows: network_step.rows,
            length: network_step.length,
            over: network_step.over.clone(),
            captured: network_step.captured.clone(),
            outs: network_step.outs.clone(),
        }))
    }

    /// The sort that takes less time than its network of `pair`, at the bound of rows.
    fn sorts(&self, network_step: &CompareExchange, pair: &Tape) -> Option<Sort> {
        let (prices, keys) = (self.prices?, network_step.keys.clone()?);
        let sort = Sort {
            keys,
            rows: network_step.rows,
            length: network_step.length,
            over: network_step.over.clone(),
            outs: network_step.outs.clone(),
        };
        let bound = sort.rows.map_or(1, |rows| self.bounds[usize::from(rows.0)]);
        let [planes, key_bits] = sort.bits(|of| self.draft.tensor(of.value).range.bits());
        let pays = prices.pays(sort.length.at(bound), planes, key_bits, pair);
        pays.then_some(sort)
    }

    /// Makes the tape of one pair of a network. No party knows an operand for sure after a stage.
    fn pair(
        &self,
        network_step: &CompareExchange,
        over: &[Param],
        captured: &[Param],
    ) -> Result<Tape, TooLarge> {
        let mut lowering = Lowering::with_functions(self.goal, self.lookups, self.products);
        let mut inputs = |of| inputs(&mut lowering, of);
        let (x, y, captured) = (inputs(over)?, inputs(over)?, inputs(captured)?);
        let pair = [&x[..], &y[..]];
        let after = compare_exchange::pair(
            &mut lowering,
            network_step.network,
            &network_step.graph,
            pair,
            &captured,
        )?;
        let written = after.iter().zip(network_step.network.writes());
        let written = written.filter(|(_, writes)| *writes);
        let words = written.flat_map(|(element, _)| element.iter().zip(over));
        let outputs = words.flat_map(|(words, of)| widen(words, of.range).words.clone());
        let circuit = lowering.builder.finish(outputs.collect());
        Ok(self::tape(&circuit, self.goal))
    }

    fn cross(&mut self, cross: &Cross, unit: &Unit) -> Result<StepOp, Diagnostic> {
        let reads = cross.over.iter().chain(&cross.across);
        let mut params = reads.map(|read| self.param(read)).collect::<Vec<_>>();
        params.extend(cross.captured.iter().map(|id| self.whole(id)));
        let ranges = cross.outs.iter().map(|out| out.from).collect::<Vec<_>>();
        let tape = self.tape(&cross.graph, &params, &ranges, unit)?;
        let mut first = 0;
        let outs = cross.outs.iter().map(|out| {
            let to = self.draft.tensor(out.value).range;
            let tree = Tree::new(out.reduction, out.from, to, LANES);
            let mut combine = |widths| self.level(out.reduction, tree.signed, widths);
            let made = Crossed {
                value: out.value,
                first,
                inner: out.inner,
                levels: tree.levels().map(&mut combine).collect(),
                carry: combine([tree.last(); 3]),
                signed: tree.signed,
                bits: tree.bits.clone(),
            };
            first += out.inner * u32::from(out.from.bits());
            made
        });
        Ok(StepOp::Cross(steps::Cross {
            outs: outs.collect(),
            rows: cross.rows,
            length: cross.length,
            tape,
            over: cross.over.clone(),
            across: cross.across.clone(),
            captured: cross.captured.clone(),
        }))
    }

    fn scan(&mut self, scan: &Scan, unit: &Unit) -> Result<StepOp, Diagnostic> {
        // A carry is its owner's input in the first iteration alone.
        let init = scan.init.iter().map(|id| Param {
            known_to: NOBODY,
            ..self.whole(id)
        });
        let mut params = init.collect::<Vec<_>>();
        params.extend(scan.over.iter().map(|read| self.param(read)));
        params.extend(scan.captured.iter().map(|id| self.whole(id)));
        let outs = scan.outs.iter().map(|out| out.value);
        let outs = scan.carries.iter().copied().chain(outs);
        let outs = outs
            .map(|id| self.draft.tensor(id).range)
            .collect::<Vec<_>>();
        let tape = self.tape(&scan.graph, &params, &outs, unit)?;
        let bits = |id: &PlanValue| {
            let tensor = self.draft.tensor(*id);
            tensor.elements as u32 * u32::from(tensor.range.bits())
        };
        let carried = scan.carries.iter().map(bits).sum::<u32>();
        Ok(StepOp::Scan(steps::Scan {
            tape,
            length: scan.length,
            init: scan.init.clone(),
            over: scan.over.clone(),
            captured: scan.captured.clone(),
            carries: scan.carries.clone(),
            outs: self.produced(&scan.outs, carried),
        }))
    }

    /// Assigns the outputs of a tape, from output `first` on, to plan values.
    fn produced(&self, outs: &[Write], mut first: u32) -> Vec<Produced> {
        let produced = |out: &Write| {
            let made = Produced {
                value: out.value,
                first,
                inner: out.inner,
            };
            first += out.inner * u32::from(self.draft.tensor(out.value).range.bits());
            made
        };
        outs.iter().map(produced).collect()
    }

    /// Makes the parameter for an operand of a lane.
    fn param(&self, read: &Operand) -> Param {
        Param {
            elements: read.inner.count(1),
            ..self.whole(&read.value)
        }
    }

    /// Makes the parameter for all elements of a tensor.
    fn whole(&self, id: &PlanValue) -> Param {
        let tensor = self.draft.tensor(*id);
        Param {
            range: tensor.range,
            elements: tensor.elements,
            known_to: self.known_to[id.0 as usize],
        }
    }

    /// Returns the tape that `from` decides, with the form of functions; `make` makes it at first.
    fn made<E>(
        &mut self,
        from: &impl Hash,
        make: impl FnOnce(&Self) -> Result<Tape, E>,
    ) -> Result<Made, E> {
        let key = digest(&(from, self.lookups, self.products));
        if let Some(made) = self.bodies.0.get(&key) {
            return Ok(made.clone());
        }
        let tape = make(self)?;
        let hash = crate::text::tape_hash(&tape);
        let made = (Arc::new(tape), hash);
        self.bodies.0.insert(key, made.clone());
        Ok(made)
    }

    /// Makes the tape of a level of a tree, with the widths of both operands and of the result.
    fn level(&mut self, reduction: Reduction, signed: bool, widths: [usize; 3]) -> TapeId {
        let goal = self.goal;
        let circuit = || fold::combine(reduction, signed, widths, goal);
        let key = ("level", goal, reduction, signed, widths);
        let Ok(made) = self.made(&key, |_| Ok::<_, Infallible>(tape(&circuit(), goal)));
        self.tapes.intern(&made)
    }

    /// Makes the tape of a graph: parameter `i` has the elements of a lane of `params[i]`, the
    /// results have the form of the ranges `outs`. The number of elements in a lane does not depend
    /// on the number of rows.
    fn tape(
        &mut self,
        graph: &Graph,
        params: &[Param],
        outs: &[Range],
        unit: &Unit,
    ) -> Result<TapeId, Diagnostic> {
        let goal = self.goal;
        let make = |lowerer: &Self| {
            let (lookups, products) = (lowerer.lookups, lowerer.products);
            let mut lowering = Lowering::with_functions(goal, lookups, products);
            let bits = |param: &Param| param.elements as usize * usize::from(param.range.bits());
            let known = params.iter();
            let known = known.flat_map(|param| repeat_n(param.known_to, bits(param)));
            let inputs = inputs(&mut lowering, params)?;
            let values = lowering.graph(graph, &inputs)?;
            let stored = |(result, out): (&Rc<Words>, &Range)| widen(result, *out);
            let outputs = values.iter().zip(outs).map(stored);
            let outputs = outputs.flat_map(|result| result.words.clone());
            let circuit = lowering.builder.finish(outputs.collect());
            Ok(match goal {
                Goal::Size => compile_known(&circuit, &Machine::CPU, &known.collect::<Vec<_>>()),
                Goal::Depth => tape(&circuit, goal),
            })
        };
        let made = self.made(&("body", goal, graph, params, outs), make);
        let made = made.map_err(|TooLarge| too_large(unit))?;
        Ok(self.tapes.intern(&made))
    }
}

/// Adds the parameters as inputs.
fn inputs(lowering: &mut Lowering, of: &[Param]) -> Result<Vec<Rc<Words>>, TooLarge> {
    let inputs = of.iter();
    let inputs = inputs.map(|param| lowering.input(param.range, param.elements));
    inputs.collect()
}

/// Parameter of a tape: elements of a tensor per lane, their range, and the party that knows them.
#[derive(Hash)]
struct Param {
    range: Range,
    elements: u64,
    known_to: KnownTo,
}

/// Evaluates the first result of a graph without parameters: the builder folds it to constant
/// wires. Returns none if it is larger than a circuit may be. `of` has its type and shape.
pub(crate) fn constant(graph: &Graph, of: &Value) -> Option<Data> {
    let results = Lowering::new(Goal::Size).graph(graph, &[]).ok()?;
    let words = results.first()?;
    let numbers = (0..words.words.len()).map(|index| words.int(index).as_constant());
    let numbers = numbers.collect::<Option<Vec<_>>>()?;
    Data::from_numbers(of.ty, of.shape.fixed.clone(), &numbers)
}

/// Counts the AND gates of one element of an element-wise operation, given its ranges and
/// constants. The elements of an operand that is a table of constants, or computed from one, count
/// as unknown.
pub(crate) fn ands_by_element(graph: &Graph, value: &Value) -> usize {
    let element = |of: &Value, op| of.clone().with_shape(Shape::scalar()).with_op(op);
    let (mut lowering, mut single, mut params) =
        (Lowering::new(Goal::Size), Graph::default(), Vec::new());
    let operands = value.op.operands();
    for id in &operands {
        let mut source = *id;
        let of = &graph[id];
        let ty = |id: ValueId| graph[id].ty;
        while let Op::Cast(of) = graph[source].op {
            let moved = ty(of).fraction() != ty(source).fraction();
            if moved || ty(of).is_float() || ty(source).is_float() {
                break;
            }
            source = of;
        }
        let op = match &graph[source].op {
            Op::Const(data) if data.elements.len() == 1 => Op::Const(data.clone()),
            _ => {
                params.extend(lowering.input(of.range, 1).ok());
                Op::Param(params.len() as u32 - 1)
            }
        };
        single.values.push(element(of, op));
    }
    let mut op = value.op.clone();
    let at = |id: ValueId| operands.iter().position(|operand| *operand == id);
    op.renumber(|id| at(id).map_or(id, |at| ValueId(at as u32)));
    single.values.push(element(value, op));
    single.returns.push(ValueId(operands.len() as u32));
    // What takes gates of floating point has none of these operations.
    let plain = floats::graph(&single, &[], Subnormals::Kept).0;
    let Ok(results) = lowering.graph(&scale::graph(&plain, &[]).0, &params) else {
        return usize::MAX;
    };
    let outputs = results.iter().flat_map(|words| words.words.concat());
    let circuit = lowering.builder.finish(vec![outputs.collect()]);
    compile(&circuit, &Machine::CPU).ands.len()
}

/// Makes the tape of a circuit, in the order that suits its goal.
fn tape(circuit: &Circuit, goal: Goal) -> Tape {
    let machine = match goal {
        Goal::Size => Machine::CPU,
        Goal::Depth => Machine::ROUNDS,
    };
    compile(circuit, &machine)
}

/// Refuses a body that would make too large a circuit.
fn too_large(unit: &Unit) -> Diagnostic {
    let millions = MAX_GATES / 1_000_000;
    let message =
        format!("this computation becomes a circuit of more than {millions} million gates");
    Diagnostic::new(Code::CircuitTooLarge, message)
        .because(
            "what a `map` or `scan` body does, and what a plain loop does, is unrolled into one \
             circuit",
        )
        .hint(
            "write the loop with `scan`, or work on whole tensors, so that one small circuit \
             serves all elements",
        )
        .at(unit.span.as_ref())
}

/// Set of distinct tapes.
#[derive(Default)]
struct Tapes {
    list: Vec<Arc<Tape>>,
    known: HashMap<blake3::Hash, TapeId>,
}

impl Tapes {
    fn intern(&mut self, (tape, hash): &Made) -> TapeId {
        let next = TapeId(self.list.len() as u32);
        let id = *self.known.entry(*hash).or_insert(next);
        if id == next {
            self.list.push(Arc::clone(tape));
        }
        id
    }
}
