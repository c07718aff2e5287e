//! Operations for which a program asks for a sharing (`sl.share`).

use crate::draft::{Draft, Unit};
use sealane_diagnostic::{Code, Diagnostic};
use sealane_program::graph::{Binary, Graph, Op, Value, ValueId, Visibility};
use sealane_protocol::{Algebra, Protocol, Sharing};

/// The sharing that a program asks for by name.
fn sharing(name: &str) -> Option<Sharing> {
    match name {
        "additive" => Some(Sharing::Additive),
        "xor" => Some(Sharing::Xor),
        "yao" => Some(Sharing::YaoLabel),
        _ => None,
    }
}

/// The sharing of the operation of each value, where the program asks for one. What is only cast,
/// rounded by a shift, or a part of a result with several has that of the operation behind it.
pub(super) fn pins(graph: &Graph) -> Result<Vec<Option<Sharing>>, Diagnostic> {
    let mut pins = vec![None; graph.values.len()];
    let constant = |id: &ValueId| matches!(graph[id].op, Op::Const(_));
    for value in &graph.values {
        let Op::Share { of, sharing: name } = &value.op else {
            continue;
        };
        // What one party computes alone in this run has no shares.
        let shared = graph[*of].visibility == Visibility::Secret;
        let asked = sharing(name);
        let mut next = shared.then_some(*of);
        while let Some(id) = next {
            let pin = &mut pins[id.0 as usize];
            if pin.is_some() && *pin != asked {
                return Err(refused(value, "two sharings are asked for one operation"));
            }
            *pin = asked;
            next = match &graph[id].op {
                Op::Cast(of) | Op::Part(of, _) => Some(*of),
                Op::Binary(Binary::Shr, of, by) if constant(by) => Some(*of),
                op if moves(op) => {
                    return Err(refused(value, "no operation computes this on shares"));
                }
                _ => None,
            };
        }
    }
    Ok(pins)
}

/// Returns whether an operation makes, names or moves elements and computes nothing.
fn moves(op: &Op) -> bool {
    matches!(
        op,
        Op::Param(_)
            | Op::Const(_)
            | Op::RowNumber(_)
            | Op::Random { .. }
            | Op::Slice(_)
            | Op::View { .. }
            | Op::Concat(..)
            | Op::Append(_)
            | Op::Stack(..)
            | Op::Roll { .. }
            | Op::Head { .. }
            | Op::Share { .. }
    )
}

fn refused(value: &Value, what: &str) -> Diagnostic {
    Diagnostic::new(Code::NoSuchSharing, what)
        .at(value.span.as_ref())
        .because("`sl.share` says on what shares the operation that it stands around is computed")
        .hint("put one `sl.share` around the operation itself")
}

/// For each unit for which the program asks for one of several domains of tapes, its number.
///
/// # Errors
/// The protocol cannot compute a unit on the shares that the program asks for.
pub(crate) fn numbers<P: Protocol>(draft: &Draft) -> Result<Vec<Option<u8>>, Diagnostic> {
    let number = |unit: &Unit| {
        let domains = match draft.algebra(unit) {
            Algebra::Z2 => P::tape_domains(),
            ring => vec![P::domain(ring)],
        };
        // In the clear there is nothing to ask for.
        let open = domains.iter().any(|of| of.sharing == Sharing::Public);
        let Some(pin) = unit.pin.filter(|_| !open) else {
            return Ok(None);
        };
        let Some(at) = domains.iter().position(|of| of.sharing == pin) else {
            let [what, by] = [unit.ops.join(", "), P::profile().name.to_string()];
            let options = domains.iter().map(|of| of.sharing.to_string());
            let options = options.collect::<Vec<_>>().join(" and ");
            let message = format!("`{by}` does not compute `{what}` on {pin}");
            return Err(Diagnostic::new(Code::NoSuchSharing, message)
                .at(unit.span.as_ref())
                .because(format!("it computes this on {options}"))
                .hint("leave out `sl.share`, or name another sharing or protocol"));
        };
        Ok((domains.len() > 1).then_some(at as u8))
    };
    draft.units.iter().map(number).collect()
}
