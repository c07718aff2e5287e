//! Elements that are moved: chosen, repeated, joined, and walked by a body.

use super::{Determined, Follower, NOTHING};
use crate::graph::{Graph, Loop, Op, ValueId};
use crate::types::Shape;
use std::rc::Rc;

impl Follower<'_> {
    /// Elements at places of a value, by their order within a row.
    pub(super) fn gather(
        &mut self,
        determined: &Determined,
        places: impl Iterator<Item = u64>,
    ) -> Determined {
        if determined.is_empty() {
            return Determined::new();
        }
        let places: Vec<u64> = places.collect();
        if self
            .spend((places.len() * determined.len()) as u64)
            .is_none()
        {
            return Determined::new();
        }
        let layer = |layer: &Rc<[u32]>| places.iter().map(|&at| layer[at as usize]).collect();
        determined.iter().map(layer).collect()
    }

    /// The elements in the shape to which an operand broadcasts.
    pub(super) fn spread(&mut self, known: &Determined, from: &Shape, to: &Shape) -> Determined {
        if known.is_empty() || from.fixed == to.fixed {
            return known.clone();
        }
        // An axis of one element may stand where the other has its rows.
        let fixed = &from.fixed[from.fixed.len().saturating_sub(to.fixed.len())..];
        let missing = to.fixed.len() - fixed.len();
        let mut steps = vec![0; to.fixed.len()];
        let mut step = 1;
        for (axis, &len) in fixed.iter().enumerate().rev() {
            steps[missing + axis] = if len == 1 { 0 } else { step };
            step *= len;
        }
        let mut places = vec![0];
        for (&len, &step) in to.fixed.iter().zip(&steps) {
            if self.spend(places.len() as u64 * len).is_none() {
                return Determined::new();
            }
            places = places
                .iter()
                .flat_map(|&at| (0..len).map(move |i| at + i * step))
                .collect();
        }
        self.gather(known, places.into_iter())
    }

    /// Values one behind the other along a fixed axis, which a stack makes.
    pub(super) fn join(
        &mut self,
        graph: &Graph,
        items: &[ValueId],
        axis: usize,
        determined: &[Determined],
    ) -> Determined {
        let layers = items.iter().map(|id| determined[id.0 as usize].len()).max();
        let shape = |id: &ValueId| &graph[id].shape.fixed;
        let outer: u64 = items
            .first()
            .map_or(0, |id| shape(id)[..axis].iter().product());
        let total: u64 = items
            .iter()
            .map(|id| shape(id).iter().product::<u64>())
            .sum();
        let layers = layers.unwrap_or(0);
        if layers == 0 || self.spend(total * layers as u64).is_none() {
            return Determined::new();
        }
        let mut joined = vec![Vec::with_capacity(total as usize); layers];
        for i in 0..outer as usize {
            for id in items {
                let inner = shape(id)[axis..].iter().product::<u64>() as usize;
                for (at, layer) in joined.iter_mut().enumerate() {
                    match determined[id.0 as usize].get(at) {
                        Some(own) => layer.extend_from_slice(&own[i * inner..(i + 1) * inner]),
                        None => layer.resize(layer.len() + inner, NOTHING),
                    }
                }
            }
        }
        joined.into_iter().map(Rc::from).collect()
    }

    /// The elements that follow from each result of an operation that has several.
    pub(super) fn parts(
        &mut self,
        graph: &Graph,
        op: &Op,
        determined: &[Determined],
    ) -> Vec<Determined> {
        let shape = |id: &ValueId| &graph[id].shape;
        let known = |id: &ValueId| determined[id.0 as usize].clone();
        match op {
            // In another order: what follows from all elements together, if they are of one input.
            Op::Sort(sort, _) => sort
                .over
                .iter()
                .map(|id| match (self.origin(&known(id)), &known(id)[..]) {
                    (Some(_), [_]) => self.vector(&known(id), shape(id)),
                    _ => Determined::new(),
                })
                .collect(),
            Op::Map(of) | Op::Scan(of) => self.walk(graph, of, determined),
            _ => Vec::new(),
        }
    }

    /// The elements that follow from the results of a body that is applied to each element of
    /// axis 0; none from the states of a scan.
    fn walk(&mut self, graph: &Graph, of: &Loop, determined: &[Determined]) -> Vec<Determined> {
        let (states, over, body) = (of.init.len(), &of.over, &of.body);
        let known: Vec<&Determined> = over.iter().map(|id| &determined[id.0 as usize]).collect();
        let first = &graph[over[0]].shape;
        let turns = match first.rows {
            Some(_) => 1,
            None => first.fixed[0] as usize,
        };
        let most = known
            .iter()
            .map(|determined| determined.len())
            .max()
            .unwrap_or(0);
        let room = (turns * body.values.len()) as u64 <= self.work as u64;
        if most == 0 || !room {
            return Vec::new();
        }
        let mut parts: Vec<Vec<Vec<u32>>> = vec![Vec::new(); body.returns.len()];
        for turn in 0..turns {
            let slices = known.iter().map(|determined| {
                let slice = |layer: &Rc<[u32]>| {
                    let len = layer.len() / turns;
                    Rc::from(&layer[turn * len..(turn + 1) * len])
                };
                determined.iter().map(slice).collect()
            });
            let params: Vec<Determined> = vec![Determined::new(); states]
                .into_iter()
                .chain(slices)
                .collect();
            let values = self.graph(body, &params);
            for (part, id) in parts.iter_mut().zip(&body.returns).skip(states) {
                let made = &values[id.0 as usize];
                let elements = body[id].shape.row_elements().unwrap_or(0);
                let before = turn * elements as usize;
                while part.len() < made.len() {
                    part.push(vec![NOTHING; before]);
                }
                for (at, layer) in part.iter_mut().enumerate() {
                    match made.get(at) {
                        Some(own) => layer.extend_from_slice(own),
                        None => layer.resize(before + elements as usize, NOTHING),
                    }
                }
            }
        }
        let layers = |part: Vec<Vec<u32>>| part.into_iter().map(Rc::from).collect();
        parts.into_iter().map(layers).collect()
    }
}
