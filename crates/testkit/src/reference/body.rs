//! Bodies: a graph that is run for the elements of axis 0.

use super::{Context, Tensor, pick, run, stack, stacked};
use sealane_program::graph::{Graph, Loop, ValueId};

/// A body, with the tensors over which it runs and those that it captures.
pub struct Body<'a> {
    done: &'a [Vec<Tensor>],
    over: Vec<&'a Tensor>,
    captured: Vec<Tensor>,
    body: &'a Graph,
    context: Context<'a>,
}

impl<'a> Body<'a> {
    pub fn new(done: &'a [Vec<Tensor>], loops: &'a Loop, context: Context<'a>) -> Body<'a> {
        let of = |id: &ValueId| &done[id.0 as usize][0];
        Body {
            done,
            over: loops.over.iter().map(of).collect(),
            captured: loops.captured.iter().map(|id| of(id).clone()).collect(),
            body: &loops.body,
            context,
        }
    }

    fn length(&self) -> u64 {
        self.over[0].shape[0]
    }

    /// The elements of axis 0 at a place.
    fn slices(&self, turn: u64) -> Vec<Tensor> {
        let over = self.over.iter();
        over.map(|of| pick(of, 0, turn, 1, true)).collect()
    }

    /// Runs the body on these parameters and on those that it captures.
    fn returned(&self, params: [Vec<Tensor>; 2]) -> Vec<Tensor> {
        let params = params.into_iter().flatten();
        let params = params.chain(self.captured.iter().cloned()).collect();
        let values = run(self.body, params, self.context);
        let returns = self.body.returns.iter();
        returns.map(|id| values[id.0 as usize][0].clone()).collect()
    }

    /// Runs the body once for each element of axis 0, in order, and passes the carries on.
    pub fn walk(&self, init: &[ValueId]) -> Vec<Tensor> {
        let init = init.iter().map(|id| self.done[id.0 as usize][0].clone());
        let mut carries: Vec<Tensor> = init.collect();
        let carried = carries.len();
        let mut outputs = vec![Vec::new(); self.body.returns.len() - carried];
        for turn in 0..self.length() {
            let mut returned = self.returned([carries, self.slices(turn)]).into_iter();
            carries = returned.by_ref().take(carried).collect();
            let outputs = outputs.iter_mut().zip(returned);
            outputs.for_each(|(all, one)| all.push(one));
        }
        let stacked = outputs.iter().map(|all| stacked(all));
        carries.into_iter().chain(stacked).collect()
    }

    /// Sorts the elements of axis 0 by Rust's own sort. Elements of which neither belongs before
    /// the other may stand in any order, so a program has to name all that it shows of them in its
    /// body.
    pub fn sort(&self) -> Vec<Tensor> {
        let belongs_before = |one: u64, other: u64| {
            let returned = self.returned([self.slices(other), self.slices(one)]);
            returned[0].numbers[0] != 0
        };
        let mut order = (0..self.length()).collect::<Vec<_>>();
        order.sort_by(|one, other| {
            let before = [belongs_before(*one, *other), belongs_before(*other, *one)];
            match before {
                [true, _] => std::cmp::Ordering::Less,
                [_, true] => std::cmp::Ordering::Greater,
                _ => std::cmp::Ordering::Equal,
            }
        });
        let sorted = |of: &&Tensor| {
            let parts = order.iter().map(|turn| pick(of, 0, *turn, 1, true));
            stacked(&parts.collect::<Vec<_>>())
        };
        self.over.iter().map(sorted).collect()
    }

    /// Combines elements in order, which is any order where the combination is associative.
    pub fn prefix(&self) -> Vec<Tensor> {
        let mut sofar = vec![self.slices(0)];
        for turn in 1..self.length() {
            let before = sofar[turn as usize - 1].clone();
            sofar.push(self.returned([before, self.slices(turn)]));
        }
        let part = |part| {
            let all = sofar.iter().map(|values| &values[part]);
            stack(&all.collect::<Vec<_>>(), 0)
        };
        (0..self.over.len()).map(part).collect()
    }
}
