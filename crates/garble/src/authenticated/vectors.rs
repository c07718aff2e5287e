//! Vectors of the wire: all walks of both parties over a tape.

use super::{EvaluatorPlanes, GarblerPlanes, Run, Seat, Walks, table_bytes};
use crate::vectors::tape;
use crate::{ChunkReader, ChunkWriter, Labels};
use sealane_block::{Block, Cpu};
use sealane_testkit::vectors::{
    Value, block, bytes, check_in, dealt, json, number, on_tiers, stated,
};
use std::convert::Infallible;

/// Garbler and evaluator.
const PARTIES: [usize; 2] = [0, 1];

fn hex(blocks: &[Block]) -> Value {
    stated(Block::as_bytes(blocks))
}

/// Labels of wires at both parties: of 0 at the garbler, of the masked value at the evaluator.
fn labels(of: &Value, wires: usize, offset: Block) -> [Vec<Block>; 2] {
    let mut hasher = blake3::Hasher::new_derive_key("sealane vectors auth labels");
    let mut drawn = vec![Block::ZERO; 2 * wires];
    let mut output = hasher.update(&bytes(&of["dealt"])).finalize_xof();
    output.fill(Block::as_bytes_mut(&mut drawn));
    let pairs = drawn.as_chunks::<2>().0;
    let zeros = pairs.iter().map(|[label, _]| *label & Block::new(!1));
    let zeros = zeros.collect::<Vec<_>>();
    let active = zeros.iter().zip(pairs);
    let active = active.map(|(zero, [_, m])| *zero ^ offset.masked(m.lsb()));
    let active = active.collect();
    [zeros, active]
}

/// Blocks of some parts of wires, part after part.
fn ports(run: Run<'_>, parts: &[&[Block]]) -> Labels {
    let mut ports = Labels::new(run.tape, run.lanes, parts.len());
    ports.inputs = parts.concat().into();
    ports
}

/// Bits 0 of labels, as blocks.
fn values(labels: &[Block]) -> Vec<Block> {
    let bits = labels.iter().map(|label| Block::new(label.lsb().into()));
    bits.collect()
}

fn walks(cpu: Cpu, of: &Value) -> Value {
    let (tape, lanes) = (tape(&bytes(&of["tape"])), number(&of["lanes"]) as usize);
    let (run, call) = (Run { tape: &tape, lanes }, number(&of["call"]));
    let (wires, pairs) = (tape.inputs as usize * lanes, run.pairs());
    let (offsets, bits) = dealt(&bytes(&of["dealt"]), wires + 4 * pairs);
    let labels = labels(of, wires, offsets[0]);
    let mut parties = PARTIES.map(|_| Walks::new(cpu, block(&of["seed"])));
    // Masks of inputs; of outputs; products with these added; factors.
    let part = |party: usize, which: usize, key: usize| {
        let at = [0, 1, 2, 3, 4].map(|of| if of == 0 { 0 } else { wires + (of - 1) * pairs });
        let count = if which == 0 { wires } else { pairs };
        bits[party][key][at[which]..][..count].to_vec()
    };
    let masks = PARTIES.map(|party| {
        let [mut mac, mut key] = [0, 1].map(|of| part(party, 1, of));
        let mut factors = [(3, 0), (3, 1), (4, 0), (4, 1)].map(|(at, of)| part(party, at, of));
        let [x, x_key, y, y_key] = &mut factors;
        let own = [0, 1].map(|of| part(party, 0, of));
        let mut ports = ports(run, &[&own[0], &own[1]]);
        let planes: [&mut [Block]; 6] = [&mut mac, &mut key, x, x_key, y, y_key];
        parties[party].masks(run, &mut ports, planes);
        hex(&factors.concat())
    });
    let wire = |party: usize| {
        let own = [0, 1].map(|of| part(party, 0, of));
        ports(run, &[&labels[party], &own[0], &own[1]])
    };
    let [mut first, mut second] = [0, 1].map(|of| part(0, 1, of));
    let product = [0, 1].map(|of| part(0, 2, of));
    let share = product[0].iter().zip(&product[1]);
    let share = share.map(|(mac, key)| *key ^ offsets[0].masked(mac.lsb()));
    let (mut share, mut table) = (share.collect::<Vec<_>>(), Vec::new());
    let mut write = ChunkWriter::new(|bytes: &[u8]| -> Result<(), Infallible> {
        table.extend_from_slice(bytes);
        Ok(())
    });
    let planes = GarblerPlanes {
        masks: vec![[&mut first[..], &mut second]],
        share: &mut share,
        others: vec![],
    };
    let mut outputs = wire(0);
    let under = (offsets[0], Seat::ALONE);
    let Ok(()) = parties[0].garble((call, run), under, &mut outputs, planes, &mut write);
    let Ok(()) = write.flush();
    drop(write);
    let garbler = [&share[..], &first, &second, &outputs.outputs].map(hex);
    let mut rest = &table[..];
    let read = |bytes: &mut [u8]| -> Result<(), Infallible> {
        let (now, after) = rest.split_at(bytes.len());
        bytes.copy_from_slice(now);
        rest = after;
        Ok(())
    };
    let reader = ChunkReader::new(table_bytes(pairs as u64, 1), read);
    let [mut mac, mut key] = [0, 1].map(|of| part(1, 1, of));
    let [mut product_mac, mut product_key] = [0, 1].map(|of| part(1, 2, of));
    let planes = EvaluatorPlanes {
        masks: vec![[&mut mac[..], &mut key]],
        product_macs: vec![&mut product_mac[..]],
        product_key: &mut product_key,
    };
    let mut outputs = wire(1);
    let tables = &mut [reader];
    let Ok(()) = parties[1].evaluate((call, run), offsets[1], &mut outputs, planes, tables);
    let evaluator = [&mac[..], &key, &outputs.outputs].map(hex);
    let mut shown = first.clone();
    let mut masked = values(&mac);
    let planes: [&mut [Block]; 4] = [
        &mut shown,
        &mut second,
        &mut masked,
        &mut product[0].clone(),
    ];
    let mut of_values = ports(run, &[&values(&labels[1])]);
    parties[0].answer(run, &mut of_values, planes);
    json!({
        "masks": masks,
        "table": stated(&table),
        "garbler": garbler,
        "evaluator": evaluator,
        "answer": hex(&shown),
    })
}

#[test]
fn walks_are_those_of_the_vectors() {
    check_in(
        "auth",
        "garble",
        &[("auth-tape", |of| Ok(on_tiers(|cpu| walks(cpu, of))))],
    );
}
