//! Runs in which tables have no rows: what is left of a program to compute.
//!
//! The number of rows is public, so everything that is made of none is public too: a sum is 0, a
//! mean NaN, the first rows are zeros, a scan ends as it began, and what there is by rows is not
//! there. What has no meaning is refused where a result needs it. In the program that is left every
//! table has a row, so that neither plans nor protocols know of empty ones.

use crate::check::parameter;
use crate::graph::{Graph, Op, Program, RowSymbol, Value, ValueId};
use crate::infer::{Meta, Scope, infer, invalid, params};
use crate::kind::Kind;
use crate::types::{Data, RowId, Shape, Type};
use sealane_diagnostic::{Code, Diagnostic, Result};

/// Rest of a value: nothing, if it has rows that are not there; an error, if it has no
/// meaning.
type Left = Result<Option<ValueId>>;

/// Returns what is left of a program in a run with these numbers of rows; none if no table is known
/// to be empty. Its inputs, results and first row counts are those of the whole program. It reads
/// no input by rows that are not there, and such a result is a constant in place of nothing.
///
/// # Errors
/// A result has no meaning without those rows.
pub fn without_empty(program: &Program, rows: &[Option<u64>]) -> Result<Option<Program>> {
    let mut walk = Walk {
        rows: program.rows.clone(),
        empty: rows.iter().map(|count| *count == Some(0)).collect(),
    };
    if !walk.empty.contains(&true) {
        return Ok(None);
    }
    let given = program.inputs.iter().map(|input| Some(parameter(input)));
    let (main, left) = walk.graph(&program.main, given.collect());
    let mut rest = Program {
        rows: walk.rows.clone(),
        main,
        ..program.clone()
    };
    for reveal in &mut rest.results {
        let of = reveal.value.0 as usize;
        reveal.value = match left[of].clone()? {
            Some(value) => value,
            None => {
                (reveal.ty, reveal.kind) = (Type::Bool, Kind::default());
                reveal.note.clear();
                let nothing = constant(Type::Bool, &[], 0);
                walk.push(
                    &mut rest.main.values,
                    nothing,
                    &program.main.values[of],
                    Type::Bool,
                )?
            }
        };
    }
    Ok(Some(rest))
}

/// A constant of one number.
fn constant(ty: Type, dims: &[u64], number: i128) -> Op {
    Op::Const(Data {
        ty,
        shape: dims.to_vec(),
        elements: vec![number as u64; dims.iter().product::<u64>() as usize],
    })
}

struct Walk {
    /// The row counts of the whole program, and behind them sums that are left of others.
    rows: Vec<RowSymbol>,
    /// For each row count of the whole program, whether it is known to be 0.
    empty: Vec<bool>,
}

impl Walk {
    /// The tables with rows of which a row count is the sum.
    fn tables(&self, rows: RowId) -> Vec<RowId> {
        let sum = &self.rows[usize::from(rows.0)].sum;
        let mut tables = if sum.is_empty() {
            vec![rows]
        } else {
            sum.clone()
        };
        tables.retain(|table| !self.empty[usize::from(table.0)]);
        tables
    }

    fn is_gone(&self, shape: &Shape) -> bool {
        shape.rows.is_some_and(|rows| self.tables(rows).is_empty())
    }

    /// Rest of a row count that is not 0.
    fn left(&mut self, rows: RowId) -> RowId {
        let sum = self.tables(rows);
        if let [table] = sum[..] {
            return table;
        }
        let known = self.rows.iter().position(|other| other.sum == sum);
        let place = known.unwrap_or_else(|| {
            let bounds = sum.iter().map(|id| self.rows[usize::from(id.0)].bound);
            let bound = bounds.sum();
            let mut names = (self.rows.len()..).map(|number| format!("rows_{number}"));
            let new = |name: &String| self.rows.iter().all(|other| other.name != *name);
            let name = names.find(new).unwrap_or_default();
            self.rows.push(RowSymbol { name, bound, sum });
            self.rows.len() - 1
        });
        RowId(place as u16)
    }

    /// Rest of a graph with these parameters, and of each of its values.
    fn graph(&mut self, old: &Graph, given: Vec<Option<Meta>>) -> (Graph, Vec<Left>) {
        let (mut values, mut left) = (Vec::new(), Vec::<Left>::new());
        for (param, value) in given.into_iter().zip(&old.values) {
            let id = ValueId(values.len() as u32);
            values.extend(param.map(|meta| Value::new(Op::Param(id.0), meta, value.span.clone())));
            left.push(Ok((!self.is_gone(&value.shape)).then_some(id)));
        }
        let params = values.len() as u32;
        for value in &old.values[left.len()..] {
            left.push(if self.is_gone(&value.shape) {
                Ok(None)
            } else {
                self.value(&mut values, old, value, &left)
            });
        }
        let returns = old.returns.iter().map(|id| id_of(&left[id.0 as usize]));
        let returns = returns.collect();
        let graph = Graph {
            params,
            values,
            returns,
        };
        (graph, left)
    }

    /// Rest of a value without rows, or with rows that are there.
    fn value(&mut self, new: &mut Vec<Value>, old: &Graph, value: &Value, left: &[Left]) -> Left {
        let of = |id: &ValueId| &left[id.0 as usize];
        let gone = |id: &ValueId| matches!(of(id), Ok(None));
        let operands = value.op.operands();
        operands
            .iter()
            .try_for_each(|id| of(id).clone().map(drop))?;
        let mut op = value.op.clone();
        match &mut op {
            Op::Append(parts) => {
                parts.retain(|id| !gone(id));
                if let [one] = parts[..] {
                    return of(&one).clone();
                }
                value.shape.rows.map(|rows| self.left(rows));
            }
            Op::Scan(scan) if scan.over.iter().any(gone) => return Ok(None),
            Op::Part(whole, index) if gone(whole) => {
                return match &old[whole].op {
                    Op::Scan(scan) => of(&scan.init[*index as usize]).clone(),
                    _ => Ok(None),
                };
            }
            Op::Map(of) | Op::Scan(of) | Op::Sort(of, _) | Op::Prefix(of) => {
                of.captured.retain(|id| !gone(id))
            }
            Op::RowNumber(rows) => *rows = self.left(*rows),
            op if operands.iter().any(gone) => {
                let number = match (&*op, value.ty) {
                    (Op::SumProduct { .. } | Op::Head { .. }, _) => 0,
                    (Op::Mean { .. }, Type::Float(format)) => format.nan() as i128,
                    (Op::Reduce(reduction, ..), _) => reduction.row().of_none.ok_or_else(|| {
                        let reason = format!("`{}` of no rows is no number", reduction.name());
                        self.refused(reason, value)
                    })?,
                    _ => return Err(invalid("an operation needs rows that are not there")),
                };
                *op = constant(value.ty, &value.shape.fixed, number);
            }
            _ => {}
        }
        op.renumber(|id| id_of(of(&id)));
        if let Some(looped) = value.op.looped() {
            let mut metas = params(&self.scope(new), &op)?.into_iter();
            let whole = &looped.body;
            let captured = looped.captured.iter().map(|id| !gone(id));
            let others = whole.params as usize - captured.len();
            let there = std::iter::repeat_n(true, others).chain(captured);
            let given = there.map(|there| if there { metas.next() } else { None });
            let (body, inside) = self.graph(whole, given.collect());
            for id in &whole.returns {
                inside[id.0 as usize].clone()?;
            }
            op.body_mut()
                .into_iter()
                .for_each(|old| *old = body.clone());
        }
        self.push(new, op, value, value.ty).map(Some)
    }

    fn scope<'a>(&'a self, values: &'a [Value]) -> Scope<'a> {
        Scope::of(&self.rows, &[], values)
    }

    /// Adds an operation of this type in place of an old value.
    fn push(&self, values: &mut Vec<Value>, op: Op, old: &Value, ty: Type) -> Result<ValueId> {
        let meta = infer(&self.scope(values), &op, ty);
        let meta = meta.map_err(|finding| self.refused(finding.message, old))?;
        // The numbers of fewer rows are of a smaller type.
        let wider = meta.ty != ty && !op.has_parts();
        values.push(Value::new(op, meta, old.span.clone()));
        let id = ValueId(values.len() as u32 - 1);
        if wider {
            self.push(values, Op::Cast(id), old, ty)
        } else {
            Ok(id)
        }
    }

    fn refused(&self, reason: String, value: &Value) -> Diagnostic {
        let tables = self.rows.iter().zip(&self.empty);
        let tables = tables.filter(|(table, empty)| **empty && table.sum.is_empty());
        let names = tables.map(|(table, _)| format!("`{}`", table.name));
        let names = names.collect::<Vec<_>>().join(" and ");
        let message = format!("a result has no meaning without rows of {names}");
        Diagnostic::new(Code::DataRows, message)
            .at(value.span.as_ref())
            .because(reason)
            .hint("give at least one row; sums, counts and means have a value without any")
    }
}

/// The value; none that exists where nothing is left.
fn id_of(left: &Left) -> ValueId {
    left.as_ref()
        .ok()
        .copied()
        .flatten()
        .unwrap_or(ValueId(u32::MAX))
}
