//! The steps of a party of either role, and of one without.

use crate::evaluator_side::{self, Choice};
use crate::ports::PairPorts;
use crate::{Chosen, Garbling, Labels, Side, YaoParty, YaoPending, cost, outside};
use sealane_block::Block;
use sealane_net::Mesh;
use sealane_party::{
    Fault, Outcome, Planes, Progress, Result, Step, Steps, check_digests, send_digests, to_planes,
};
use sealane_protocol::Domain;
use std::sync::Arc;

impl<G: Garbling> Steps for YaoParty<G> {
    type Share = Labels;
    type Pending<'a> = YaoPending<'a>;
    type Material = ();
    type Output = ();
    type Check = ();
    const IN_PLACE: bool = true;

    fn constant(&mut self, _: Domain, bits: usize, values: &[u64]) -> Labels {
        // As in the tape: the active label of a constant is zero for both values.
        let delta = match &self.side {
            Side::Garbler(side) => side.labels.delta(),
            Side::Evaluator(_) => Block::ZERO,
            Side::Outside(_) => return Planes::shape(bits, values.len()),
        };
        let label = |bit: &u8| if *bit == 1 { delta } else { Block::ZERO };
        let planes = to_planes(values, bits);
        Planes::new(bits, values.len(), planes.iter().map(label).collect())
    }

    fn begin<'a>(
        &mut self,
        step: Step<'a, Self>,
        _: Option<()>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        let me = self.me;
        let done = |labels| Ok(Progress::share(labels));
        let more = |pending| Ok(Progress::More(pending));
        match (step, &mut self.side) {
            // Step 5.
            (Step::Settle { .. }, _) => {
                send_digests(mesh, cost::peers(&self.setting, me))?;
                more(YaoPending::Settle)
            }
            // Step 6.
            (Step::Open { results }, Side::Garbler(side)) => {
                let calls = side.open(&results, mesh)?;
                more(YaoPending::Hashes(results, calls))
            }
            (Step::Open { results }, Side::Evaluator(side)) => {
                let calls = side.open(&results, mesh)?;
                more(YaoPending::Hashes(results, calls))
            }
            (Step::Open { results }, Side::Outside(_)) => more(YaoPending::Outside(results)),
            (step, Side::Outside(side)) => side.begin(step, mesh),
            (
                Step::Input {
                    owner,
                    elements,
                    bits,
                    values,
                    ..
                },
                side,
            ) => {
                let count = bits * elements;
                let all = |labels| Planes::new(bits, elements, labels);
                let chosen = |others| Chosen {
                    planes: bits,
                    elements,
                    others,
                };
                if self.setting.role_of(owner).is_none() {
                    let labels = match side {
                        Side::Garbler(side) => side.garblers_share(owner, count)?,
                        Side::Evaluator(side) => side.labels.garblers_input(count),
                        Side::Outside(_) => return Err(other_role()),
                    };
                    return more(YaoPending::Shared(owner, chosen(Some(all(labels)))));
                }
                let own = values.filter(|_| owner == me);
                let own = own.map(|values| to_planes(&values, bits));
                match (own, side) {
                    // Step 2.
                    (Some(own), Side::Garbler(side)) => done(all(side.labels.own_input(&own))),
                    (None, Side::Evaluator(side)) => done(all(side.labels.garblers_input(count))),
                    // Step 3.
                    (Some(own), Side::Evaluator(side)) => {
                        more(asked(chosen(None), side.own_input(&own, mesh)?))
                    }
                    (None, Side::Garbler(_)) => more(YaoPending::Choices(chosen(None))),
                    (_, Side::Outside(_)) => Err(other_role()),
                }
            }
            // Step 4. Without an AND there is nothing to send.
            (
                Step::Tape {
                    tape,
                    lanes,
                    operands,
                    ..
                },
                side,
            ) => match side {
                Side::Garbler(side) => {
                    let labels = side
                        .labels
                        .garble(tape, lanes, &borrowed(&operands), mesh)?;
                    if tape.ands.is_empty() {
                        done(labels)
                    } else {
                        more(YaoPending::Done(labels))
                    }
                }
                Side::Evaluator(side) => {
                    let call = side.labels.call_of(tape);
                    if tape.ands.is_empty() {
                        done(side.labels.evaluate(
                            call,
                            (tape, lanes),
                            &borrowed(&operands),
                            mesh,
                        )?)
                    } else {
                        more(YaoPending::Tables(call, tape, lanes, operands))
                    }
                }
                Side::Outside(_) => Err(other_role()),
            },
            (Step::CompareExchange { tape, pairs, .. }, side) => {
                let mut ports = PairPorts::new(pairs);
                match side {
                    Side::Garbler(side) => {
                        side.labels.run(tape, ports.lanes(), &mut ports, mesh)?
                    }
                    Side::Evaluator(side) => {
                        let call = side.labels.call_of(tape);
                        if !tape.ands.is_empty() {
                            return more(YaoPending::Pairs(call, tape, ports));
                        }
                        side.labels
                            .run(call, (tape, ports.lanes()), &mut ports, mesh)?;
                    }
                    Side::Outside(_) => return Err(other_role()),
                }
                if tape.ands.is_empty() {
                    Ok(Progress::Done(Outcome::Columns(ports.columns(), ())))
                } else {
                    more(YaoPending::Met(ports.columns()))
                }
            }
            (Step::Convert { .. } | Step::Product { .. } | Step::Ring { .. }, _) => {
                Err(Fault::internal("yao has one domain, of labels"))
            }
            (Step::Shuffle { .. } | Step::Sort { .. }, _) => {
                Err(Fault::internal("yao sorts by networks"))
            }
        }
    }

    fn advance<'a>(
        &mut self,
        state: Self::Pending<'a>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        let opened = |values| Progress::Done(Outcome::Opened(values, ()));
        Ok(match (state, &mut self.side) {
            (YaoPending::Done(labels), _) => Progress::share(labels),
            (YaoPending::Watch(flights, shapes, met), _) => {
                outside::watch(flights - 1, shapes, met)
            }
            (YaoPending::Shared(_, chosen), Side::Garbler(_)) => {
                Progress::More(YaoPending::Choices(chosen))
            }
            (YaoPending::Shared(owner, chosen), Side::Evaluator(side)) => {
                let share = outside::receive_share(owner, chosen.count(), mesh)?;
                Progress::More(asked(chosen, side.own_input(&share, mesh)?))
            }
            (YaoPending::Choices(chosen), Side::Garbler(side)) => {
                let labels = side.evaluators_input(chosen.count(), mesh)?;
                let labels = chosen.labels(labels);
                if side.answers() {
                    Progress::More(YaoPending::Done(labels))
                } else {
                    Progress::share(labels)
                }
            }
            (YaoPending::Chosen(chosen, request), _) => {
                Progress::More(YaoPending::Answer(chosen, request))
            }
            (YaoPending::Answer(chosen, request), _) => {
                let labels = evaluator_side::answered(request, mesh)?;
                Progress::share(chosen.labels(labels))
            }
            (YaoPending::Tables(call, tape, lanes, operands), Side::Evaluator(side)) => {
                Progress::share(side.labels.evaluate(
                    call,
                    (tape, lanes),
                    &borrowed(&operands),
                    mesh,
                )?)
            }
            (YaoPending::Pairs(call, tape, mut ports), Side::Evaluator(side)) => {
                side.labels
                    .run(call, (tape, ports.lanes()), &mut ports, mesh)?;
                Progress::Done(Outcome::Columns(ports.columns(), ()))
            }
            (YaoPending::Met(columns), _) => Progress::Done(Outcome::Columns(columns, ())),
            (YaoPending::Settle, _) => {
                check_digests(mesh, cost::peers(&self.setting, self.me))?;
                Progress::Done(Outcome::Settled(()))
            }
            (YaoPending::Hashes(results, calls), Side::Garbler(side)) => {
                opened(side.learn(&results, &calls, mesh)?)
            }
            (YaoPending::Hashes(results, calls), Side::Evaluator(side)) => {
                opened(side.learn(&results, &calls, mesh)?)
            }
            (YaoPending::Outside(results), Side::Outside(side)) => {
                opened(side.learn(&results, mesh)?)
            }
            _ => return Err(other_role()),
        })
    }
}

/// The state of the evaluator after its choices.
fn asked<'a>(chosen: Chosen, choice: Choice) -> YaoPending<'a> {
    match choice {
        Choice::Made(labels) => YaoPending::Done(chosen.labels(labels)),
        Choice::Sent(request) => YaoPending::Chosen(chosen, request),
    }
}

fn borrowed(operands: &[Arc<Labels>]) -> Vec<&Labels> {
    operands.iter().map(|labels| &**labels).collect()
}

fn other_role() -> Fault {
    Fault::internal("a step of another role")
}
