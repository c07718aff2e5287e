//! Networks: elements that meet in pairs, stage by stage.
//!
//! A protocol that can writes the elements of a stage over those that met
//! ([`Step::CompareExchange`]), so that a network takes the memory of its columns once. For others
//! both elements of all pairs are copied to the operands of a tape, and its result is copied back.

use super::{Next, Started, Task, in_elements};
use crate::execute::walker::Walker;
use crate::execute::{Result, ShareRef, internal};
use sealane_party::{Pairs, Selected, Shares, Step, Steps};
use sealane_plan::network::{Network, Stage};
use sealane_plan::steps::{self, StepOp};
use sealane_protocol::View;
use std::sync::Arc;

/// Network over the elements of values; see [`StepOp::CompareExchange`].
pub(in crate::execute) struct CompareExchange<W: Steps> {
    network: Network,
    /// The stages that are left, the next one last.
    stages: Vec<Stage>,
    /// The elements of each value, with the planes of an element.
    columns: Vec<W::Share>,
    captured: Vec<ShareRef<W>>,
}

impl<'a, W: Steps + 'a> Walker<'_, 'a, '_, '_, W> {
    pub(super) fn begin_network(&mut self, planned: &steps::CompareExchange) -> Started<'a, W> {
        let all = planned.over.iter();
        let all = all.map(|operand| self.selected_of_all(operand, planned.rows));
        let all = all.collect::<Result<Vec<_>>>()?;
        let captured = self.captured(&planned.captured)?;
        // Nothing else of the step reads its operands, so that those which no other step reads
        // become its columns.
        self.state.values.release(self.run, &self.op.reads())?;
        let length = match planned.rows {
            Some(table) => self.rows[usize::from(table.0)],
            None => planned.length.at(self.run.rows),
        };
        let mut stages = planned.network.stages(length as usize);
        stages.reverse();
        let mut network_step = CompareExchange {
            network: planned.network,
            stages,
            columns: all.into_iter().map(owned).collect(),
            captured,
        };
        let step = self.stage(&mut network_step)?;
        Ok(step.map(|step| (Task::CompareExchange(network_step), step)))
    }

    /// Returns the next stage of a network; after the last one, writes the elements.
    pub(super) fn stage(&mut self, network_step: &mut CompareExchange<W>) -> Next<'a, W> {
        let StepOp::CompareExchange(planned) = self.op else {
            return Err(internal("not a network"));
        };
        let Some(stage) = network_step.stages.last() else {
            let columns = network_step.columns.drain(..);
            let outs = planned.outs.iter().zip(&planned.over);
            for ((out, operand), column) in outs.zip(columns) {
                let inner = operand.inner.count(self.run.rows) as usize;
                self.write(*out, in_elements(column, inner))?;
            }
            return Ok(None);
        };
        let lanes = stage.pairs();
        let sides = [stage.firsts(), stage.seconds()];
        if W::IN_PLACE {
            let places = sides.map(|views| places(&views, lanes));
            let pairs = Pairs {
                columns: std::mem::take(&mut network_step.columns),
                places,
                writes: network_step.network.writes(),
                captured: network_step.captured.clone(),
            };
            let (tape, domain) = (
                self.counted(planned.tape, lanes),
                self.domain(planned.outs[0]),
            );
            return Ok(Some(Step::CompareExchange {
                tape,
                domain,
                pairs,
            }));
        }
        let sides = sides.iter().flat_map(|views| {
            let columns = network_step.columns.iter();
            columns.map(|column| Arc::new(elements(column, views, lanes)))
        });
        let repeated = View::new(0, vec![(lanes, 0)]);
        let captured = network_step.captured.iter();
        let captured = captured.map(|share| Arc::new(share.gather(&repeated, &View::whole(1))));
        let operands = sides.chain(captured).collect();
        Ok(Some(self.run_tape(
            planned.tape,
            planned.outs[0],
            lanes,
            operands,
        )))
    }
}

impl<W: Steps> CompareExchange<W> {
    /// Consumes the columns of a stage that was run in place.
    pub(super) fn end_in_place(&mut self, columns: Vec<W::Share>) -> Result<()> {
        self.end_of_stage()?;
        self.columns = columns;
        Ok(())
    }

    /// Consumes the result of a stage: puts the elements that it wrote into their places.
    pub(super) fn end_stage(&mut self, result: &W::Share) -> Result<()> {
        let stage = self.end_of_stage()?;
        let mut first = 0;
        let sides = [stage.firsts(), stage.seconds()];
        let sides = sides.iter().zip(self.network.writes());
        for (views, _) in sides.filter(|(_, writes)| *writes) {
            for column in &mut self.columns {
                let after = result.resize(first, column.planes(), false);
                first += column.planes();
                let mut done = 0;
                for view in views {
                    column.put(view, &after, done);
                    done += view.count();
                }
            }
        }
        Ok(())
    }

    fn end_of_stage(&mut self) -> Result<Stage> {
        let stage = self.stages.pop();
        stage.ok_or_else(|| internal("a stage too many"))
    }
}

/// The elements that an operand selects, copied unless they are all of a value that nothing else
/// holds.
fn owned<S: Shares>(selected: Selected<S>) -> S {
    let gathered = selected.gathered();
    drop(selected);
    let copied = |shared: Arc<S>| {
        let all = View::whole(shared.elements());
        shared.gather(&all, &View::whole(1))
    };
    Arc::try_unwrap(gathered).unwrap_or_else(copied)
}

/// The places that some views name, and one behind all elements for each that is missing to
/// `pairs`.
fn places(views: &[View], pairs: usize) -> Vec<usize> {
    let mut places = views.iter().flat_map(View::indices).collect::<Vec<_>>();
    places.resize(pairs, usize::MAX);
    places
}

/// The elements that some views name, and zeros for those that are missing to `pairs`.
fn elements<S: Shares>(column: &S, views: &[View], pairs: usize) -> S {
    let parts = views.iter();
    let parts = parts.map(|view| column.gather(view, &View::whole(1)));
    let mut parts: Vec<_> = parts.collect();
    let found = parts.iter().map(Shares::elements).sum::<usize>();
    if found < pairs {
        parts.push(S::zeros(column.planes(), pairs - found));
    }
    match parts.len() {
        1 => parts.remove(0),
        _ => S::concat(&parts.iter().collect::<Vec<_>>()),
    }
}
