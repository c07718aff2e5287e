//! The online walk: values are masked values under labels, with their masks.
//!
//! * An input is its masked value, one bit, from its owner to each other party. All draw active
//!   labels that do not depend on it, one for each garbler, and set their bits 0 to it. Several
//!   garblers compare what they got, with the evaluator, before a table leaves any.
//! * A tape is a table from each garbler to the evaluator.
//! * Settlements and openings are in [`settle`](crate::settle) and [`open`](crate::open).

use crate::AuthParty;
use crate::bits::{Bits, bit, bytes_of, pack, whole};
use crate::common::Common;
use crate::masks::{Material, TapeMaterial, no_step};
use crate::open::Opening;
use crate::products::Products;
use crate::settle::{Check, Settling, Unsettled};
use crate::wires::{Stack, TapePorts, Wires, part_of};
use sealane_block::{Block, terms};
use sealane_circuit::Tape;
use sealane_garble::authenticated::{EvaluatorPlanes, GarblerPlanes, MaskPlanes, Run, table_bytes};
use sealane_garble::{ChunkReader, ChunkWriter};
use sealane_net::{Mesh, NetError};
use sealane_parties::PartyId;
use sealane_party::{ECHO_BYTES, Fault, Outcome, Progress, Result, Step, Steps, Words, to_planes};
use sealane_protocol::{Checks, Domain};
use std::cell::RefCell;
use std::sync::Arc;
use zeroize::Zeroizing;

/// A step that has begun.
pub enum Pending<'a> {
    /// Masked values of an input cross.
    Input(Box<Given>),
    /// All compare what has been broadcast: an input has been read.
    Echo(Box<Given>, [u8; ECHO_BYTES as usize]),
    /// A garbler has sent its table.
    Sent(Wires, Check),
    /// The evaluator waits for tables.
    Table(Box<Waiting<'a>>),
    /// All compare digests, and what has been computed.
    Settle(Box<Settling>),
    /// All wait for shares of results.
    Open(Box<Opening>),
}

/// An input under way.
pub struct Given {
    owner: PartyId,
    planes: usize,
    elements: usize,
    /// Active labels, for each that this party holds.
    labels: Vec<Vec<Block>>,
    masks: Vec<Bits>,
    /// Masked values, packed: at the owner those that it has sent.
    masked: Zeroizing<Vec<u8>>,
}

/// A tape that waits for its tables.
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
        let planes = to_planes(values, bits);
        self.offline.0.constant(bits, values.len(), &planes)
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
                    owner,
                    elements,
                    bits,
                    values,
                    ..
                },
                Some(Material::Input(masks)),
            ) => self.input(owner, [bits, elements], values, masks, mesh),
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
            Pending::Input(mut given) => {
                let owner = given.owner;
                common.broadcast.recv(owner, &mut given.masked, mesh)?;
                if owner != common.me {
                    whole(&given.masked, given.planes * given.elements, owner)?;
                }
                if common.roles.are_many() {
                    let sent = common.broadcast.send_echo(mesh)?;
                    return Ok(Progress::More(Pending::Echo(given, sent)));
                }
                Progress::share(given.wires(common))
            }
            Pending::Echo(given, sent) => {
                common.broadcast.check_echo(&sent, mesh)?;
                Progress::share(given.wires(common))
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
        owner: PartyId,
        [planes, elements]: [usize; 2],
        values: Option<Words>,
        masks: Vec<Bits>,
        mesh: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        let count = planes * elements;
        if masks.iter().any(|masks| masks.mac.len() != count) {
            return Err(Fault::internal("an input of another size than its masks"));
        }
        let common = &mut *self.offline.0;
        let labels = common.input_labels(count);
        let mut masked = Zeroizing::new(vec![0; bytes_of(count as u64) as usize]);
        if let Some(values) = values {
            // The share is bit 0 of the MAC towards any other party.
            let bits = to_planes(&values, planes);
            let bits = bits.iter().zip(&masks[0].mac);
            masked = pack(bits.map(|(bit, mac)| bit ^ mac.lsb()));
            common.broadcast.send(&masked, mesh)?;
        }
        Ok(Progress::More(Pending::Input(Box::new(Given {
            owner,
            planes,
            elements,
            labels,
            masks,
            masked,
        }))))
    }

    /// Begins a tape: a garbler sends its table. Without an AND there is none.
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
        // This garbler's part of the masks' product times its offset: the keys of all others.
        let mut share = Zeroizing::new(std::mem::take(&mut product[0].key));
        for other in &product[1..] {
            terms::add(common.cpu, &mut share, &other.key);
        }
        terms::add_one_where(common.cpu, &mut share, offset, &product[0].mac);
        let operands = whole_of(operands, common.wire_parts());
        let mut ports = TapePorts::new((tape, lanes), &operands, 0..common.wire_parts());
        let evaluator = common.roles.evaluator();
        let mut table = ChunkWriter::new(|bytes: &[u8]| mesh.send(evaluator, bytes));
        let planes = GarblerPlanes {
            masks: fresh.iter_mut().map(planes_of).collect(),
            share: &mut share,
            others: product[1..].iter_mut().map(|of| &mut of.mac[..]).collect(),
        };
        let seat = common.roles.seat(common.me);
        let walks = &mut common.walks;
        walks.garble((call, run), (offset, seat), &mut ports, planes, &mut table)?;
        table.flush()?;
        drop(table);
        let outputs = ports.outputs();
        // The MACs of both operands that the evaluator is to be shown.
        let Bits { mac, key } = &mut fresh[0];
        let check = Check {
            inputs: vec![std::mem::take(&mut *part_of(&operands, 0))],
            labels: vec![std::mem::take(&mut *share)],
            of: Unsettled::Garbler {
                tape: common.kept(tape),
                lanes,
                macs: [mac, key, &mut product[0].mac].map(std::mem::take),
            },
        };
        Ok((outputs, check))
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
        let operands = whole_of(&operands, common.wire_parts());
        let mut ports = TapePorts::new((tape, lanes), &operands, 0..common.wire_parts());
        let total = table_bytes(run.pairs() as u64, common.peers.len());
        // Garblers' tables arrive side by side, a chunk of each at a time.
        let mesh = RefCell::new(mesh);
        let tables = common.peers.iter().map(|peer| {
            let receive =
                |bytes: &mut [u8]| -> Result<(), NetError> { mesh.borrow_mut().recv(*peer, bytes) };
            ChunkReader::new(total, receive)
        });
        let mut tables = tables.collect::<Vec<_>>();
        let mut product_key = Zeroizing::new(std::mem::take(&mut product[0].key));
        for other in &product[1..] {
            terms::add(common.cpu, &mut product_key, &other.key);
        }
        let planes = EvaluatorPlanes {
            masks: fresh.iter_mut().map(planes_of).collect(),
            product_macs: product.iter_mut().map(|of| &mut of.mac[..]).collect(),
            product_key: &mut product_key,
        };
        let walks = &mut common.walks;
        walks.evaluate((call, run), offset, &mut ports, planes, &mut tables)?;
        drop(tables);
        let outputs = ports.outputs();
        let macs = product.iter_mut().map(|of| &mut of.mac);
        for planes in macs.chain([&mut *product_key]) {
            common.products.give_back(std::mem::take(planes));
        }
        let labels = 0..common.held_labels();
        let labels = labels.map(|label| std::mem::take(&mut *part_of(&operands, label)));
        let check = Check {
            inputs: labels.collect(),
            labels: fresh
                .iter_mut()
                .map(|of| std::mem::take(&mut of.mac))
                .collect(),
            of: Unsettled::Evaluator {
                expected: std::mem::take(&mut fresh[0].key),
            },
        };
        Ok((outputs, check))
    }
}

impl Given {
    /// The wires of the input.
    fn wires<P: Products>(self, common: &Common<P>) -> Wires {
        let mut labels = self.labels;
        for labels in &mut labels {
            for (at, label) in labels.iter_mut().enumerate() {
                *label = common.input_label(*label, bit(&self.masked, at));
            }
        }
        let masks = self
            .masks
            .into_iter()
            .flat_map(|mut of| [&mut of.mac, &mut of.key].map(std::mem::take));
        let parts = labels.into_iter().chain(masks);
        Stack::new(self.planes, self.elements, parts.collect())
    }
}

/// MACs and keys of masks.
fn planes_of(masks: &mut Bits) -> MaskPlanes<'_> {
    [&mut masks.mac, &mut masks.key]
}

/// Operands with all their parts.
fn whole_of(operands: &[Arc<Wires>], parts: usize) -> Vec<Arc<Wires>> {
    operands
        .iter()
        .map(|operand| operand.whole(parts))
        .collect()
}
