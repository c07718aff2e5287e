//! Bodies of `map`, `scan` and `sort`: traced once, between a begin and an end.

use super::{Builder, Found, Handle, Open, Operand, Sides};
use crate::decimal;
use crate::graph::{Graph, Loop, Op, Value, ValueId, Visibility};
use crate::infer::{self, Meta, Scope};
use crate::types::Type;
use sealane_diagnostic::{At, Code, Diagnostic, Placed, Result};

impl Builder {
    /// Opens the body of a map along axis 0 of every `over`; returns the slices for the body.
    pub fn begin_map(&mut self, over: &[Handle], at: At<'_>) -> Result<Vec<Handle>> {
        let over = self.all_found(over, at)?;
        self.open_body(Op::Map(Loop::over(over)), at)
    }

    /// Closes the body of a map, which returns `returns`; returns the mapped results.
    pub fn end_map(&mut self, returns: &[Operand], at: At<'_>) -> Result<Vec<Handle>> {
        if !matches!(self.top().body, Some(Op::Map(_))) || returns.is_empty() {
            let message = "a map ends where none began, or its body returns nothing";
            return Err(misplaced(message, at));
        }
        let (returns, parts) = (self.outputs(returns, at)?, returns.len());
        self.close_body(returns, parts, at)
    }

    /// Opens the body of a sort of all `over` along axis 0: the elements of one place, then those
    /// of a place behind it.
    pub fn begin_sort(&mut self, over: &[Handle], at: At<'_>) -> Result<Sides> {
        let over = self.all_found(over, at)?;
        let mut before = self.open_body(Op::Sort(Loop::over(over), false), at)?;
        let behind = before.split_off(before.len() / 2);
        Ok((before, behind))
    }

    /// Closes the body of a sort with a `bool` that is true if the element behind belongs before
    /// the other; returns the sorted tensors. With `any_order`, no result of the program may depend
    /// on the order of elements of which neither belongs before the other.
    pub fn end_sort(
        &mut self,
        exchange: Operand,
        any_order: bool,
        at: At<'_>,
    ) -> Result<Vec<Handle>> {
        let top = self.open.last_mut().and_then(|open| open.body.as_mut());
        let Some(Op::Sort(of, free)) = top else {
            return Err(misplaced("a sort ends where none began", at));
        };
        *free = any_order;
        let parts = of.over.len();
        let exchange = self.outputs(&[exchange], at)?;
        self.close_body(exchange, parts, at)
    }

    /// Opens the body that combines elements along axis 0 of all `over`: those up to a place, and
    /// those behind it.
    pub fn begin_prefix(&mut self, over: &[Handle], at: At<'_>) -> Result<Sides> {
        let over = self.all_found(over, at)?;
        let mut before = self.open_body(Op::Prefix(Loop::over(over)), at)?;
        let behind = before.split_off(before.len() / 2);
        Ok((before, behind))
    }

    /// Closes such a body with the combination of each of `over`; returns the combinations so far.
    pub fn end_prefix(&mut self, returns: &[Operand], at: At<'_>) -> Result<Vec<Handle>> {
        let Some(Op::Prefix(of)) = &self.top().body else {
            return Err(misplaced("a combination ends where none began", at));
        };
        let parts = of.over.len();
        let returns = self.outputs(returns, at)?;
        self.close_body(returns, parts, at)
    }

    /// Opens the body of a scan along axis 0 of every `over`; returns the carries and the slices. A
    /// carry has the type of its `init`, and any value of it.
    pub fn begin_scan(&mut self, init: &[Operand], over: &[Handle], at: At<'_>) -> Result<Sides> {
        let over = self.all_found(over, at)?;
        let init = self.outputs(init, at)?;
        let carries = init.len();
        let of = Loop {
            init,
            ..Loop::over(over)
        };
        let mut params = self.open_body(Op::Scan(of), at)?;
        let slices = params.split_off(carries);
        Ok((params, slices))
    }

    /// Closes the body of a scan with the next carries and the outputs for each element; returns
    /// the last carries and the stacked outputs.
    pub fn end_scan(
        &mut self,
        carries: &[Operand],
        outputs: &[Operand],
        at: At<'_>,
    ) -> Result<Sides> {
        let Some(Op::Scan(of)) = &self.top().body else {
            return Err(misplaced("a scan ends where none began", at));
        };
        let wanted = of.init.len();
        if carries.len() != wanted {
            let message = format!("the body returns {} carries of {wanted}", carries.len());
            return Err(Diagnostic::new(Code::Body, message)
                .hint("return as many states as the scan starts with, in their order")
                .at(at));
        }
        let mut returns = Vec::with_capacity(wanted + outputs.len());
        for (index, next) in carries.iter().enumerate() {
            returns.push(self.next_carry(index, *next, at)?);
        }
        returns.extend(self.outputs(outputs, at)?);
        let count = returns.len();
        let mut parts = self.close_body(returns, count, at)?;
        let outputs = parts.split_off(wanted);
        Ok((parts, outputs))
    }

    /// Converts the next carry to the type of carry `index`, which must hold its whole range.
    fn next_carry(&mut self, index: usize, next: Operand, at: At<'_>) -> Found {
        let ty = self.top().values[index].ty;
        let id = self.operand(next, Some(ty), at)?;
        let (from, range) = self.known(id);
        if from.fraction() > ty.fraction() || from.is_float() || ty.is_float() {
            return self.fit(id, ty, &format!("carry {index}"), at);
        }
        if range
            .converted(from, ty)
            .is_some_and(|range| ty.holds(range))
        {
            return self.cast_to(id, ty, at);
        }
        if ty == Type::Bool {
            let message = format!("carry {index} starts as bool and continues in {range}");
            return Err(Diagnostic::new(Code::Body, message)
                .hint("start it as a number")
                .at(at));
        }
        let (all, text) = (ty.range(), decimal::text);
        let (lo, hi) = (text(all.lo, ty.fraction()), text(all.hi, ty.fraction()));
        let range = decimal::range_text(range, from);
        let message = format!("carry {index} can leave {ty}");
        Err(Diagnostic::new(Code::RangeOverflow, message)
        .because(format!(
            "from any value in {lo}..{hi} the body makes one in {range}, and nothing bounds how \
                 often it runs"
        ))
        .hint(format!(
            "clamp it with `sl.clip(…, {lo}, {hi})`, or start the scan with a wider or a \
                 wrapping type"
        ))
        .at(at))
    }

    pub(super) fn all_found(&mut self, handles: &[Handle], at: At<'_>) -> Result<Vec<ValueId>> {
        handles
            .iter()
            .map(|handle| self.found(*handle, at))
            .collect()
    }

    fn outputs(&mut self, operands: &[Operand], at: At<'_>) -> Result<Vec<ValueId>> {
        operands
            .iter()
            .map(|operand| self.operand(*operand, None, at))
            .collect()
    }

    /// Opens a body with the parameters of `op`.
    fn open_body(&mut self, op: Op, at: At<'_>) -> Result<Vec<Handle>> {
        let params = infer::params(&self.scope(), &op).at(at)?;
        self.enter(Some(op)).at(at)?;
        let mut handles = Vec::with_capacity(params.len());
        for (index, meta) in params.into_iter().enumerate() {
            let id = self.append(Op::Param(index as u32), meta, at)?;
            handles.push(self.handle(id));
        }
        let top = self.open.len() - 1;
        self.open[top].leading = handles.len();
        Ok(handles)
    }

    /// Closes the current body and appends the operation with its parts.
    fn close_body(&mut self, made: Vec<ValueId>, parts: usize, at: At<'_>) -> Result<Vec<Handle>> {
        let Some(Open {
            body: Some(mut op),
            leading,
            values,
            captured,
            ..
        }) = self.open.pop()
        else {
            return Err(Diagnostic::new(Code::Body, "no body is open").at(at));
        };
        let parameter = |id: ValueId| matches!(values[id.0 as usize].op, Op::Param(_));
        let captures = captured.into_iter().filter(|(_, inner)| parameter(*inner));
        let (outer, inner): (Vec<_>, Vec<_>) = captures.unzip();
        let mut graph = params_first(values, leading, &inner, made);
        if let Some(of) = op.looped_mut() {
            of.captured = outer;
        }
        // All captured values are known only now, and the visibility of carries depends on them.
        let params = infer::params(&self.scope(), &op).at(at)?;
        see(&self.scope(), &mut graph.values, &params)?;
        if let Some(body) = op.body_mut() {
            *body = graph;
        }
        self.parts_of(op, parts, at)
    }

    /// Appends an operation with its parts.
    pub(super) fn parts_of(&mut self, op: Op, parts: usize, at: At<'_>) -> Result<Vec<Handle>> {
        let whole = self.push(op, Type::Bool, at)?;
        let part = |index| Op::Part(whole, index as u32);
        (0..parts)
            .map(|index| self.operate(part(index), at))
            .collect()
    }
}

/// Makes the refusal of an end without its beginning.
fn misplaced(message: &str, at: At<'_>) -> Diagnostic {
    let refused = Diagnostic::new(Code::Body, message);
    refused
        .hint("end each body in the order of beginning")
        .at(at)
}

/// Moves the captured parameters behind the leading ones and renumbers the graph.
fn params_first(
    values: Vec<Value>,
    leading: usize,
    captured: &[ValueId],
    returns: Vec<ValueId>,
) -> Graph {
    let mut order: Vec<usize> = (0..leading).collect();
    order.extend(captured.iter().map(|id| id.0 as usize));
    let mut new = vec![ValueId(u32::MAX); values.len()];
    let params = order.len();
    order
        .iter()
        .enumerate()
        .for_each(|(to, &from)| new[from] = ValueId(to as u32));
    for (from, place) in new.iter_mut().enumerate() {
        if place.0 == u32::MAX {
            *place = ValueId(order.len() as u32);
            order.push(from);
        }
    }
    let mut slots: Vec<Option<Value>> = values.into_iter().map(Some).collect();
    let moved = order.iter().filter_map(|&from| slots[from].take());
    let values = moved.enumerate().map(|(to, mut value)| {
        match &mut value.op {
            Op::Param(index) => *index = to as u32,
            op => op.renumber(|id| new[id.0 as usize]),
        }
        value
    });
    let values = values.collect();
    let returns = returns.into_iter().map(|id| new[id.0 as usize]).collect();
    Graph {
        params: params as u32,
        values,
        returns,
    }
}

/// Recomputes the visibility of each value of a body, given its parameters.
fn see(header: &Scope, values: &mut [Value], params: &[Meta]) -> Result<()> {
    for index in 0..values.len() {
        let (before, rest) = values.split_at_mut(index);
        let value = &mut rest[0];
        let operands = value.op.operands().into_iter();
        let joint = operands.map(|id| before[id.0 as usize].visibility);
        value.visibility = match params.get(index) {
            Some(param) => param.visibility,
            None => joint.fold(Visibility::Public, Visibility::join),
        };
        let scope = Scope {
            values: before,
            inputs: &[],
            ..*header
        };
        let inner = if value.op.body().is_some() {
            infer::params(&scope, &value.op)?
        } else {
            continue;
        };
        if let Some(body) = value.op.body_mut() {
            see(&scope, &mut body.values, &inner)?;
        }
    }
    Ok(())
}
