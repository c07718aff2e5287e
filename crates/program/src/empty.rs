//! Runs in which tables have no rows: what is left of a program to compute.
//!
//! The number of rows is public, so everything that is made of none is public too: a sum is 0, a
//! mean NaN, the first rows are zeros, a scan ends as it began, and what there is by rows is not
//! there. The rest is a program in which every table has a row, so that neither plans nor protocols
//! know of empty ones. What has no meaning is refused where a result needs it.

use crate::graph::{Graph, Op, Program, Reduction, Reveal, RowSymbol, Value, ValueId, Visibility};
use crate::infer::{Meta, Scope, body_operands, infer, invalid, params};
use crate::kind::Kind;
use crate::types::{Data, Range, RowId, Shape, Type};
use sealane_diagnostic::{Code, Diagnostic};

/// What is left of a program where some tables have no rows.
pub struct Rest {
    /// The program; it has the parties of the whole one.
    pub program: Program,
    /// Places in the whole program of the row counts that are left.
    pub rows: Vec<usize>,
    /// Places in the whole program of the inputs that are left.
    pub inputs: Vec<usize>,
    /// Places in the whole program of the results that are left. Where none is, the rest has one
    /// that says nothing.
    pub results: Vec<usize>,
}

impl Rest {
    /// Of the row counts of the whole program, those that are left.
    pub fn counts(&self, rows: &[u64]) -> Vec<u64> {
        self.rows.iter().map(|place| rows[*place]).collect()
    }
}

/// Returns the rest of a program in a run with these numbers of rows; none if no table is known to
/// be empty.
///
/// # Errors
/// A result has no meaning without those rows.
pub fn without_empty(program: &Program, rows: &[Option<u64>]) -> Result<Option<Rest>, Diagnostic> {
    let names = program.rows.iter().zip(rows);
    let names = names.filter(|(_, count)| **count == Some(0));
    let names = names.map(|(table, _)| format!("`{}`", table.name));
    let names = names.collect::<Vec<_>>().join(" and ");
    if names.is_empty() {
        return Ok(None);
    }
    let mut left = Rest {
        program: program.clone(),
        rows: Vec::new(),
        inputs: Vec::new(),
        results: Vec::new(),
    };
    let walk = Walk::new(program, rows, &mut left, names);
    let mut params = Vec::new();
    left.program.inputs.clear();
    for (place, input) in program.inputs.iter().enumerate() {
        params.push(walk.shape(&input.shape).map(|shape| {
            let mut input = input.clone();
            input.shape = shape;
            let meta = crate::check::parameter(&input);
            left.inputs.push(place);
            left.program.inputs.push(input);
            meta
        }));
    }
    let (main, values) = walk.graph(&program.main, params);
    left.program.main = main;
    left.program.results.clear();
    for (place, reveal) in program.results.iter().enumerate() {
        let value = &values[reveal.value.0 as usize];
        undefined([value])?;
        if let Left::Value(value) = *value {
            left.results.push(place);
            let reveal = reveal.clone();
            left.program.results.push(Reveal { value, ..reveal });
        }
    }
    if left.results.is_empty() {
        let nothing = constant(Type::Bool, &[], 0);
        let values = &mut left.program.main.values;
        values.push(Value {
            op: nothing,
            ty: Type::Bool,
            shape: Shape::scalar(),
            range: Range::of(0),
            visibility: Visibility::Public,
            span: None,
        });
        left.program.results.push(Reveal {
            name: "nothing".into(),
            value: ValueId(left.program.main.values.len() as u32 - 1),
            to: vec![0],
            ty: Type::Bool,
            kind: Kind::default(),
            note: String::new(),
        });
    }
    Ok(Some(left))
}

/// What is left of a value.
#[derive(Clone)]
enum Left {
    /// It has a row for each of a table that has none.
    Gone,
    /// It is this value.
    Value(ValueId),
    /// It has no meaning, for this reason.
    Undefined(Diagnostic),
}

impl Left {
    /// The value; none that exists where it is none.
    fn id(&self) -> ValueId {
        match self {
            Left::Value(id) => *id,
            _ => ValueId(u32::MAX),
        }
    }
}

/// Returns why one of these has no meaning, if so.
fn undefined<'a>(values: impl IntoIterator<Item = &'a Left>) -> Result<(), Diagnostic> {
    values.into_iter().try_for_each(|value| match value {
        Left::Undefined(finding) => Err(finding.clone()),
        _ => Ok(()),
    })
}

/// A constant of one number.
fn constant(ty: Type, dims: &[u64], number: i128) -> Op {
    Op::Const(Data {
        ty,
        shape: dims.to_vec(),
        elements: vec![number as u64; dims.iter().product::<u64>() as usize],
    })
}

fn push(values: &mut Vec<Value>, op: Op, meta: Meta, old: &Value) -> ValueId {
    let Meta {
        ty,
        shape,
        range,
        visibility,
    } = meta;
    let span = old.span.clone();
    values.push(Value {
        op,
        ty,
        shape,
        range,
        visibility,
        span,
    });
    ValueId(values.len() as u32 - 1)
}

struct Walk {
    /// The row counts that are left.
    rows: Vec<RowSymbol>,
    /// Each row count of the whole program; none if it is 0.
    ids: Vec<Option<RowId>>,
    /// Names of the empty tables.
    names: String,
}

impl Walk {
    fn new(program: &Program, rows: &[Option<u64>], left: &mut Rest, names: String) -> Walk {
        let (mut kept, mut ids) = (Vec::<RowSymbol>::new(), Vec::<Option<RowId>>::new());
        for (place, table) in program.rows.iter().enumerate() {
            let parts = table.sum.iter();
            let sum = parts
                .filter_map(|id| ids[usize::from(id.0)])
                .collect::<Vec<_>>();
            let known = kept
                .iter()
                .position(|other| !sum.is_empty() && other.sum == sum);
            ids.push(match (table.sum.is_empty(), &sum[..], known) {
                (true, ..) if rows[place] == Some(0) => None,
                (false, [], _) => None,
                (false, [one], _) => Some(*one),
                (false, _, Some(known)) => Some(RowId(known as u16)),
                _ => {
                    let parts = sum.iter().map(|id| kept[usize::from(id.0)].bound);
                    let bound = if sum.is_empty() {
                        table.bound
                    } else {
                        parts.sum()
                    };
                    left.rows.push(place);
                    kept.push(RowSymbol {
                        name: table.name.clone(),
                        bound,
                        sum,
                    });
                    Some(RowId(kept.len() as u16 - 1))
                }
            });
        }
        left.program.rows.clone_from(&kept);
        Walk {
            rows: kept,
            ids,
            names,
        }
    }

    /// The shape with the rows that are left; none if it has rows that are not there.
    fn shape(&self, shape: &Shape) -> Option<Shape> {
        let rows = match shape.rows {
            Some(id) => Some(self.ids[usize::from(id.0)]?),
            None => None,
        };
        Some(Shape {
            rows,
            fixed: shape.fixed.clone(),
        })
    }

    /// What is left of a graph with these parameters, and of each of its values.
    fn graph(&self, old: &Graph, params: Vec<Option<Meta>>) -> (Graph, Vec<Left>) {
        let (mut values, mut left) = (Vec::new(), Vec::new());
        for (param, value) in params.into_iter().zip(&old.values) {
            let op = Op::Param(values.len() as u32);
            left.push(match param {
                Some(meta) => Left::Value(push(&mut values, op, meta, value)),
                None => Left::Gone,
            });
        }
        let params = values.len() as u32;
        for value in &old.values[left.len()..] {
            let made = match self.shape(&value.shape) {
                Some(_) => self.value(&mut values, old, value, &left),
                None => Ok(Left::Gone),
            };
            left.push(made.unwrap_or_else(Left::Undefined));
        }
        let returns = old.returns.iter().map(|id| left[id.0 as usize].id());
        let returns = returns.collect();
        let graph = Graph {
            params,
            values,
            returns,
        };
        (graph, left)
    }

    /// What is left of a value that does not have rows that are not there.
    fn value(
        &self,
        values: &mut Vec<Value>,
        old: &Graph,
        value: &Value,
        left: &[Left],
    ) -> Result<Left, Diagnostic> {
        let of = |id: &ValueId| &left[id.0 as usize];
        let gone = |id: &ValueId| matches!(of(id), Left::Gone);
        let operands = value.op.operands();
        undefined(operands.iter().map(of))?;
        let refused = |reason: String| self.refused(reason, value);
        let mut op = value.op.clone();
        match &mut op {
            Op::Append(parts) => {
                parts.retain(|id| !gone(id));
                if let [one] = parts[..] {
                    return Ok(of(&one).clone());
                }
            }
            Op::Scan { over, .. } if over.iter().any(gone) => return Ok(Left::Gone),
            Op::Part(whole, index) if gone(whole) => {
                return match &old.values[whole.0 as usize].op {
                    Op::Scan { init, .. } => Ok(of(&init[*index as usize]).clone()),
                    _ => Ok(Left::Gone),
                };
            }
            Op::Map { captured, .. }
            | Op::Scan { captured, .. }
            | Op::Sort { captured, .. }
            | Op::Prefix { captured, .. } => captured.retain(|id| !gone(id)),
            Op::RowNumber(rows) => *rows = self.ids[usize::from(rows.0)].unwrap_or(*rows),
            op if operands.iter().any(gone) => {
                let number = match (&*op, value.ty) {
                    (Op::Reduce(Reduction::Sum | Reduction::Any, ..), _) => 0,
                    (Op::SumProduct { .. } | Op::Head { .. }, _) => 0,
                    (Op::Reduce(Reduction::All, ..), _) => 1,
                    (Op::Mean { .. }, Type::Float(format)) => format.nan() as i128,
                    (Op::Reduce(reduction, ..), _) => {
                        return Err(refused(format!(
                            "`{}` of no rows is no number",
                            reduction.name()
                        )));
                    }
                    _ => return Err(invalid("an operation needs rows that are not there")),
                };
                *op = constant(value.ty, &value.shape.fixed, number);
            }
            _ => {}
        }
        op.renumber(|id| of(&id).id());
        let scope = Scope {
            rows: &self.rows,
            inputs: &[],
            values,
            called: &[],
        };
        let unfit = |finding: Diagnostic| refused(finding.message);
        if let Some(whole) = value.op.body() {
            let mut metas = params(&scope, &op).map_err(unfit)?.into_iter();
            let captured = body_operands(&value.op).2.iter().map(|id| !gone(id));
            let others = whole.params as usize - captured.len();
            let there = std::iter::repeat_n(true, others).chain(captured);
            let given = there.map(|there| if there { metas.next() } else { None });
            let (body, inside) = self.graph(whole, given.collect());
            undefined(whole.returns.iter().map(|id| &inside[id.0 as usize]))?;
            op.body_mut()
                .into_iter()
                .for_each(|old| *old = body.clone());
        }
        let meta = infer(&scope, &op, value.ty).map_err(unfit)?;
        match meta.ty == value.ty {
            true => Ok(Left::Value(push(values, op, meta, value))),
            false => Err(invalid("a value has another type without some rows")),
        }
    }

    fn refused(&self, reason: String, value: &Value) -> Diagnostic {
        let message = format!("a result has no meaning where {} has no rows", self.names);
        Diagnostic::new(Code::DataRows, message)
            .at(value.span.as_ref())
            .because(reason)
            .hint("give at least one row; sums, counts and means have a value without any")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::{Builder, Handle, Operand};
    use crate::graph::{Binary, Input};
    use crate::types::Range;

    #[test]
    fn what_is_left_is_sound_whichever_tables_are_empty() -> Result<(), Diagnostic> {
        let mut build = Builder::new("p")?;
        build.party("ann")?;
        let mut tables = Vec::<Handle>::new();
        for name in ["x", "y", "z"] {
            let rows = build.rows(&format!("{name}s"), 4)?;
            tables.push(build.input(Input {
                name: name.into(),
                owner: 0,
                ty: Type::U8,
                shape: Shape::with_rows(rows, vec![]),
                range: Range { lo: 1, hi: 9 },
                columns: vec![],
                kind: Kind::default(),
                span: None,
            })?);
        }
        let operands = tables.iter().map(|table| (*table).into());
        let operands = operands.collect::<Vec<Operand>>();
        let two = build.concatenate(&operands[..2], 0, None)?;
        let three = build.concatenate(&operands, 0, None)?;
        let wide = Some(Type::unsigned(16));
        let total = build.reduce(Reduction::Sum, three, None, wide, None)?;
        let item = build.begin_map(&[tables[2]], None)?[0];
        let same = build.binary(Binary::Eq, two.into(), item.into(), None)?;
        let found = build.reduce(Reduction::Any, same, None, None, None)?;
        let found = build.end_map(&[found.into()], None)?[0];
        let most = build.reduce(Reduction::Max, three, None, None, None)?;
        let above = build.binary(Binary::Gt, three.into(), most.into(), None)?;
        build.reveal("total", total.into(), &[0], Type::unsigned(16), None)?;
        build.reveal("two", two.into(), &[0], Type::U8, None)?;
        build.reveal("found", found.into(), &[0], Type::Bool, None)?;
        build.reveal("above", above.into(), &[0], Type::Bool, None)?;
        let (program, _) = build.finish()?;
        for there in 0..7u8 {
            let has = |table: u8| there >> table & 1 == 1;
            let rows = [0, 1, 2].map(|table| Some(u64::from(has(table))));
            let rest = without_empty(&program, &[&rows[..], &[None, None]].concat())?.unwrap();
            crate::check(&rest.program)?;
            let shown = [true, has(0) || has(1), has(2), there > 0];
            let shown = (0..4).filter(|result| shown[*result]);
            assert_eq!(rest.results, shown.collect::<Vec<_>>(), "{there}");
            assert_eq!(rest.inputs.len(), there.count_ones() as usize);
        }
        assert!(without_empty(&program, &[Some(1), None, None, None, None])?.is_none());
        Ok(())
    }
}
