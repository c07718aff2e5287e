//! Frame of the passes that rewrite a graph value by value: `floats` and `scale`.

use sealane_program::graph::{Graph, Op, Program, RowSymbol, Value, ValueId, Visibility};
use sealane_program::infer::Meta;
use sealane_program::types::{Data, Range, Shape, Type};

/// How often each value of the main graph is read.
pub(crate) fn readers(program: &Program) -> Vec<usize> {
    let mut readers = vec![0; program.main.values.len()];
    let read = program
        .main
        .values
        .iter()
        .flat_map(|value| value.op.operands());
    let results = program.results.iter().map(|result| result.value);
    read.chain(results)
        .for_each(|id| readers[id.0 as usize] += 1);
    readers
}

/// A graph that a pass with this setting rewrites.
pub(crate) struct Rewriter<'a, S> {
    /// The graph as it was.
    pub of: &'a Graph,
    pub rows: &'a [RowSymbol],
    pub setting: S,
    /// The new graph so far.
    pub new: Graph,
    /// The new number of each value so far.
    pub renamed: Vec<ValueId>,
}

impl<'a, S> Rewriter<'a, S> {
    /// Rewrites all values of a graph with `value`; also returns the new number of each.
    pub fn graph(
        (of, rows, setting): (&'a Graph, &'a [RowSymbol], S),
        value: fn(&mut Self, &Value) -> ValueId,
    ) -> (Graph, Vec<ValueId>) {
        let mut rewriter = Rewriter {
            of,
            rows,
            setting,
            new: Graph {
                params: of.params,
                ..Graph::default()
            },
            renamed: Vec::with_capacity(of.values.len()),
        };
        for old in &of.values {
            let id = value(&mut rewriter, old);
            rewriter.renamed.push(id);
        }
        let returns = of.returns.iter().map(|id| rewriter.renamed[id.0 as usize]);
        rewriter.new.returns = returns.collect();
        (rewriter.new, rewriter.renamed)
    }

    /// A value as it was.
    pub fn old(&self, id: ValueId) -> &'a Value {
        &self.of[id]
    }

    /// A new value.
    pub fn made(&self, id: ValueId) -> &Value {
        &self.new[id]
    }

    /// Adds a value as it is.
    pub fn add(&mut self, value: Value) -> ValueId {
        self.new.push(value)
    }

    /// Makes a constant of one number.
    pub fn number(&mut self, ty: Type, number: u64) -> ValueId {
        let data = Data {
            ty,
            shape: Vec::new(),
            elements: vec![number],
        };
        let range = Range::of(number.into());
        let meta = Meta::new(ty, Shape::scalar(), range, Visibility::Public);
        self.add(Value::new(Op::Const(data), meta, None))
    }
}
