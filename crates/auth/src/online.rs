//! The online walk: values are masked values under labels, with their masks.
//!
//! * An input is its masked value, one bit, from its owner to the other party. Both draw an active
//!   label that does not depend on it, and set its bit 0 to it.
//! * A tape is a table from the garbler.
//! * Settlements and openings are in [`settle`](crate::settle) and [`open`](crate::open).

use crate::AuthParty;
use crate::bits::{Mask, TapePorts, Wire, Wires, bit, bytes_of, gathered, pack, planes, whole};
use crate::masks::{Material, TapeMaterial, no_step};
use crate::open::Opening;
use crate::products::Products;
use crate::settle::{Check, Settling, Unsettled};
use sealane_block::{Block, terms};
use sealane_circuit::Tape;
use sealane_garble::authenticated::{EvaluatorPlanes, GarblerPlanes, Run, table_bytes};
use sealane_garble::{ChunkReader, ChunkWriter};
use sealane_net::{Mesh, NetError};
use sealane_party::{Fault, Outcome, Planes, Progress, Result, Step, Steps, Words, to_planes};
use sealane_protocol::{Checks, Domain};
use std::sync::Arc;
use zeroize::Zeroizing;

/// A step that has begun.
pub enum Pending<'a> {
    /// The owner of an input has its wires.
    Given(Wires),
    /// The other party waits for masked values: it has labels, masks and bits of an element.
    Input(Zeroizing<Vec<Block>>, Zeroizing<Vec<Mask>>, usize),
    /// The garbler has sent its table.
    Sent(Wires, Check),
    /// The evaluator waits for a table.
    Table(Box<Waiting<'a>>),
    /// Both compare digests, and what has been computed.
    Settle(Box<Settling>),
    /// Both wait for shares of results.
    Open(Box<Opening>),
}

/// A tape that waits for its table.
pub struct Waiting<'a> {
    call: u64,
    tape: &'a Tape,
    lanes: usize,
    operands: Vec<Arc<Wires>>,
    material: TapeMaterial,
}

impl<P: Products> Steps for AuthParty<P> {
    type Share = Wires;
    type Pending<'a> = Pending<'a>;
    type Material = Material;
    type Output = ();
    type Check = Check;

    fn count(checks: &[Check]) -> Checks {
        crate::settle::count(checks)
    }

    fn constant(&mut self, _: Domain, bits: usize, values: &[u64]) -> Wires {
        let wires = [0, 1].map(|bit| self.offline.0.constant(bit));
        let planes = to_planes(values, bits);
        let wires = planes.iter().map(|bit| wires[usize::from(*bit)]);
        Planes::new(bits, values.len(), wires.collect())
    }

    fn begin<'a>(
        &mut self,
        step: Step<'a, Self>,
        material: Option<Material>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        match (step, material) {
            (
                Step::Input {
                    elements,
                    bits,
                    values,
                    ..
                },
                Some(Material::Input(masks)),
            ) => self.input([bits, elements], values, masks, mesh),
            (
                Step::Tape {
                    tape,
                    lanes,
                    operands,
                    ..
                },
                Some(Material::Tape(material)),
            ) => self.tape((tape, lanes), operands, *material, mesh),
            (Step::Settle { checks }, _) => {
                let settling = Settling::begin(&mut self.offline.0, checks, mesh)?;
                Ok(Progress::More(Pending::Settle(Box::new(settling))))
            }
            (Step::Open { results }, _) => {
                let opening = Opening::begin(&mut self.offline.0, results, mesh)?;
                Ok(Progress::More(Pending::Open(Box::new(opening))))
            }
            (Step::Input { .. } | Step::Tape { .. }, _) => {
                Err(Fault::internal("a step without its offline part"))
            }
            _ => Err(no_step()),
        }
    }

    fn advance<'a>(
        &mut self,
        pending: Self::Pending<'a>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        let common = &mut *self.offline.0;
        Ok(match pending {
            Pending::Given(wires) => Progress::share(wires),
            Pending::Input(labels, masks, planes) => {
                let mut bits = vec![0; bytes_of(masks.len() as u64) as usize];
                mesh.recv(common.peer, &mut bits)?;
                whole(&bits, masks.len(), common.peer)?;
                let wires = labels.iter().zip(masks.iter()).enumerate();
                let wires = wires.map(|(at, (label, mask))| Wire {
                    label: common.input_label(*label, bit(&bits, at)),
                    mask: *mask,
                });
                let elements = masks.len() / planes.max(1);
                Progress::share(Planes::new(planes, elements, wires.collect()))
            }
            Pending::Sent(wires, check) => Progress::Done(Outcome::Share(wires, vec![check], ())),
            Pending::Table(waiting) => {
                let (wires, check) = self.evaluate(*waiting, mesh)?;
                Progress::Done(Outcome::Share(wires, vec![check], ()))
            }
            Pending::Settle(settling) => match settling.advance(common, mesh)? {
                Some(settling) => Progress::More(Pending::Settle(settling)),
                None => Progress::Done(Outcome::Settled(())),
            },
            Pending::Open(opening) => {
                Progress::Done(Outcome::Opened(opening.finish(common, mesh)?, ()))
            }
        })
    }
}

impl<P: Products> AuthParty<P> {
    /// Begins an input: its owner tells the masked values.
    fn input<'a>(
        &mut self,
        [planes, elements]: [usize; 2],
        values: Option<Words>,
        masks: Zeroizing<Vec<Mask>>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        if masks.len() != planes * elements {
            return Err(Fault::internal("an input of another size than its masks"));
        }
        let common = &mut *self.offline.0;
        let labels = Zeroizing::new(common.input_labels(masks.len()));
        let Some(values) = values else {
            return Ok(Progress::More(Pending::Input(labels, masks, planes)));
        };
        let bits = to_planes(&values, planes);
        let masked = bits.iter().zip(masks.iter());
        let masked = masked.map(|(bit, mask)| bit ^ mask.mac.lsb());
        let masked = Zeroizing::new(masked.collect::<Vec<_>>());
        mesh.send(common.peer, &pack(masked.iter().copied()))?;
        let wires = labels.iter().zip(masked.iter()).zip(masks.iter());
        let wires = wires.map(|((label, masked), mask)| Wire {
            label: common.input_label(*label, *masked),
            mask: *mask,
        });
        let wires = Planes::new(planes, elements, wires.collect());
        Ok(Progress::More(Pending::Given(wires)))
    }

    /// Begins a tape: the garbler sends its table. Without an AND there is none.
    fn tape<'a>(
        &mut self,
        (tape, lanes): (&'a Tape, usize),
        operands: Vec<Arc<Wires>>,
        material: TapeMaterial,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        let call = self.offline.0.walks.call();
        if self.offline.0.garbles {
            let (wires, check) = self.garble(call, (tape, lanes), &operands, material, mesh)?;
            return Ok(match tape.ands.len() {
                0 => Progress::share(wires),
                _ => Progress::More(Pending::Sent(wires, check)),
            });
        }
        let waiting = Waiting {
            call,
            tape,
            lanes,
            operands,
            material,
        };
        if tape.ands.is_empty() {
            return Ok(Progress::share(self.evaluate(waiting, mesh)?.0));
        }
        Ok(Progress::More(Pending::Table(Box::new(waiting))))
    }

    fn garble(
        &mut self,
        call: u64,
        (tape, lanes): (&Tape, usize),
        operands: &[Arc<Wires>],
        material: TapeMaterial,
        mesh: &mut Mesh,
    ) -> Result<(Wires, Check)> {
        let run = Run { tape, lanes };
        let common = &mut *self.offline.0;
        let offset = common.products.offset();
        let TapeMaterial {
            mut fresh,
            mut product,
        } = material;
        // A's part of the masks' product times its offset.
        let mut labels = Zeroizing::new(std::mem::take(&mut product.key));
        terms::add_one_where(common.cpu, &mut labels, offset, &product.mac);
        let mut ports = ports(run, operands);
        let peer = common.peer;
        let mut table = ChunkWriter::new(|bytes: &[u8]| mesh.send(peer, bytes));
        let planes = GarblerPlanes {
            mac: &mut fresh.mac,
            key: &mut fresh.key,
            share: &mut labels,
        };
        let walks = &mut common.walks;
        walks.garble((call, run), offset, &mut ports, planes, &mut table)?;
        table.flush()?;
        drop(table);
        let check = Check {
            inputs: labels_of(operands),
            labels: std::mem::take(&mut *labels),
            of: Unsettled::Garbler {
                tape: common.kept(tape),
                lanes,
                macs: [&mut fresh.mac, &mut fresh.key, &mut product.mac].map(std::mem::take),
            },
        };
        Ok((ports.outputs(), check))
    }

    fn evaluate(&mut self, waiting: Waiting<'_>, mesh: &mut Mesh) -> Result<(Wires, Check)> {
        let Waiting {
            call,
            tape,
            lanes,
            operands,
            material:
                TapeMaterial {
                    mut fresh,
                    mut product,
                },
        } = waiting;
        let run = Run { tape, lanes };
        let common = &mut *self.offline.0;
        let offset = common.products.offset();
        let mut ports = ports(run, &operands);
        let peer = common.peer;
        let total = table_bytes(run.pairs() as u64);
        let receive = |bytes: &mut [u8]| -> Result<(), NetError> { mesh.recv(peer, bytes) };
        let mut table = ChunkReader::new(total, receive);
        let planes = EvaluatorPlanes {
            mac: &mut fresh.mac,
            key: &mut fresh.key,
            product_mac: &mut product.mac,
            product_key: &mut product.key,
        };
        let walks = &mut common.walks;
        walks.evaluate((call, run), offset, &mut ports, planes, &mut table)?;
        drop(table);
        for planes in [&mut product.mac, &mut product.key] {
            common.products.give_back(std::mem::take(planes));
        }
        let check = Check {
            inputs: labels_of(&operands),
            labels: std::mem::take(&mut fresh.mac),
            of: Unsettled::Evaluator {
                expected: std::mem::take(&mut fresh.key),
            },
        };
        Ok((ports.outputs(), check))
    }
}

/// Ports of a tape whose operands are wires.
fn ports<'a>(run: Run<'_>, operands: &'a [Arc<Wires>]) -> TapePorts<'a, Wire, 3> {
    let inputs = planes(operands.iter().map(|operand| &**operand));
    TapePorts::new(run.tape, run.lanes, inputs)
}

/// Labels of all inputs of a tape.
fn labels_of(operands: &[Arc<Wires>]) -> Vec<Block> {
    let count = operands.iter().map(|operand| operand.data().len()).sum();
    let all = operands.iter().flat_map(|operand| operand.data());
    std::mem::take(&mut *gathered(count, all.map(|wire| wire.label)))
}
