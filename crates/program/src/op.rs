//! Operands of each operation, and its names in the text form and in Python.

use crate::graph::{Binary, Graph, Op, Reduction, Unary, ValueId};

impl Op {
    /// Operands in the order of the text form, without those of a body.
    pub fn operands(&self) -> Vec<ValueId> {
        match self {
            Op::Param(_) | Op::Const(_) | Op::RowNumber(_) | Op::Random { .. } => Vec::new(),
            Op::Unary(_, a) | Op::Cast(a) | Op::Reduce(_, a, _) | Op::Part(a, _) => vec![*a],
            Op::Slice { of, .. } | Op::View { of, .. } | Op::Mean { of, .. } => vec![*of],
            Op::Accumulate(_, of, _) => vec![*of],
            Op::Roll { of, .. } | Op::Head { of, .. } => vec![*of],
            Op::Running { of, starts, .. } => [*of].into_iter().chain(*starts).collect(),
            Op::Compact { keep, over } => [&[*keep], &over[..]].concat(),
            Op::Binary(_, a, b) | Op::Dot(a, b) | Op::SumProduct { a, b, .. } => vec![*a, *b],
            Op::Select(condition, yes, no) => vec![*condition, *yes, *no],
            Op::Lookup { table, index } => vec![*table, *index],
            Op::Stack(values, _) | Op::Concat(values, _) | Op::Call(_, values) => values.clone(),
            Op::Append(values) => values.clone(),
            Op::Map { over, captured, .. }
            | Op::Sort { over, captured, .. }
            | Op::Prefix { over, captured, .. } => [&over[..], captured].concat(),
            Op::Scan {
                init,
                over,
                captured,
                ..
            } => [&init[..], over, captured].concat(),
        }
    }

    /// Replaces each operand.
    pub fn renumber(&mut self, new: impl Fn(ValueId) -> ValueId) {
        let each = |values: &mut [ValueId]| values.iter_mut().for_each(|id| *id = new(*id));
        match self {
            Op::Param(_) | Op::Const(_) | Op::RowNumber(_) | Op::Random { .. } => {}
            Op::Unary(_, a) | Op::Cast(a) | Op::Reduce(_, a, _) | Op::Part(a, _) => *a = new(*a),
            Op::Slice { of, .. } | Op::View { of, .. } | Op::Mean { of, .. } => *of = new(*of),
            Op::Accumulate(_, of, _) => *of = new(*of),
            Op::Roll { of, .. } | Op::Head { of, .. } => *of = new(*of),
            Op::Running { of, starts, .. } => {
                *of = new(*of);
                starts.iter_mut().for_each(|starts| *starts = new(*starts));
            }
            Op::Compact { keep, over } => {
                *keep = new(*keep);
                each(over);
            }
            Op::Binary(_, a, b) | Op::Dot(a, b) | Op::SumProduct { a, b, .. } => {
                (*a, *b) = (new(*a), new(*b));
            }
            Op::Select(c, yes, no) => (*c, *yes, *no) = (new(*c), new(*yes), new(*no)),
            Op::Lookup { table, index } => (*table, *index) = (new(*table), new(*index)),
            Op::Stack(values, _) | Op::Concat(values, _) | Op::Call(_, values) => each(values),
            Op::Append(values) => each(values),
            Op::Map { over, captured, .. }
            | Op::Sort { over, captured, .. }
            | Op::Prefix { over, captured, .. } => {
                each(over);
                each(captured);
            }
            Op::Scan {
                init,
                over,
                captured,
                ..
            } => {
                each(init);
                each(over);
                each(captured);
            }
        }
    }

    /// The body of a `map`, `scan`, `sort` or `prefix`.
    pub fn body(&self) -> Option<&Graph> {
        match self {
            Op::Map { body, .. }
            | Op::Scan { body, .. }
            | Op::Sort { body, .. }
            | Op::Prefix { body, .. } => Some(body),
            _ => None,
        }
    }

    /// The body of a `map`, `scan`, `sort` or `prefix`, to be changed.
    pub fn body_mut(&mut self) -> Option<&mut Graph> {
        match self {
            Op::Map { body, .. }
            | Op::Scan { body, .. }
            | Op::Sort { body, .. }
            | Op::Prefix { body, .. } => Some(body),
            _ => None,
        }
    }

    /// Returns whether it has several results, each of which is an [`Op::Part`].
    pub fn has_parts(&self) -> bool {
        self.body().is_some() || matches!(self, Op::Compact { .. })
    }

    /// Returns whether it needs all rows of a table at once, if axis 0 is symbolic.
    pub fn needs_all_rows(&self) -> bool {
        matches!(
            self,
            Op::Append(_)
                | Op::Roll { .. }
                | Op::Head { .. }
                | Op::Sort { .. }
                | Op::Prefix { .. }
                | Op::Running { .. }
                | Op::Compact { .. }
        )
    }
}

impl Unary {
    /// All of them.
    pub const ALL: [Unary; 4] = [Unary::Neg, Unary::Not, Unary::Abs, Unary::Popcount];

    /// Name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Unary::Neg => "neg",
            Unary::Not => "not",
            Unary::Abs => "abs",
            Unary::Popcount => "popcount",
        }
    }

    /// Python expression of the operation.
    pub fn python(self, a: &str) -> String {
        match self {
            Unary::Neg => format!("-{a}"),
            Unary::Not => format!("~{a}"),
            Unary::Abs => format!("sl.abs({a})"),
            Unary::Popcount => format!("sl.popcount({a})"),
        }
    }
}

impl Binary {
    /// All of them.
    pub const ALL: [Binary; 19] = {
        use Binary::*;
        [
            Add, Sub, Mul, Div, FloorDiv, Mod, And, Or, Xor, Shl, Shr, Eq, Ne, Lt, Le, Gt, Ge, Min,
            Max,
        ]
    };

    /// Name in the text form.
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// Python operator, or Python function if there is none.
    pub fn symbol(self) -> &'static str {
        self.words().1
    }

    /// Python expression of the operation.
    pub fn python(self, a: &str, b: &str) -> String {
        let symbol = self.symbol();
        if symbol.starts_with("sl.") {
            format!("{symbol}({a}, {b})")
        } else {
            format!("{a} {symbol} {b}")
        }
    }

    /// Returns whether it compares two numbers and gives a `bool`.
    pub fn is_comparison(self) -> bool {
        use Binary::*;
        matches!(self, Eq | Ne | Lt | Le | Gt | Ge)
    }

    fn words(self) -> (&'static str, &'static str) {
        match self {
            Binary::Add => ("add", "+"),
            Binary::Sub => ("sub", "-"),
            Binary::Mul => ("mul", "*"),
            Binary::Div => ("div", "/"),
            Binary::FloorDiv => ("floordiv", "//"),
            Binary::Mod => ("mod", "%"),
            Binary::And => ("and", "&"),
            Binary::Or => ("or", "|"),
            Binary::Xor => ("xor", "^"),
            Binary::Shl => ("shl", "<<"),
            Binary::Shr => ("shr", ">>"),
            Binary::Eq => ("eq", "=="),
            Binary::Ne => ("ne", "!="),
            Binary::Lt => ("lt", "<"),
            Binary::Le => ("le", "<="),
            Binary::Gt => ("gt", ">"),
            Binary::Ge => ("ge", ">="),
            Binary::Min => ("min", "sl.minimum"),
            Binary::Max => ("max", "sl.maximum"),
        }
    }
}

impl Reduction {
    /// All of them.
    pub const ALL: [Reduction; 5] = [
        Reduction::Sum,
        Reduction::Min,
        Reduction::Max,
        Reduction::Any,
        Reduction::All,
    ];

    /// Name in the text form, and in Python after `sl.`.
    pub fn name(self) -> &'static str {
        match self {
            Reduction::Sum => "sum",
            Reduction::Min => "min",
            Reduction::Max => "max",
            Reduction::Any => "any",
            Reduction::All => "all",
        }
    }
}
