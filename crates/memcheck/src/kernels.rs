//! AES, hashes, the generator, GF(2^128), transposition, garbling and evaluation.

use crate::Check;
use crate::request::{public, secret};
use sealane_block::hash::{Circ, Mi, Prp, Tccr};
use sealane_block::{Aes128, Aes128Many, Block, Coins, Cpu, LabelHash, Tweak, aes, gf};
use sealane_circuit::{Machine, compile_known};
use sealane_garble::{ChunkWriter, Evaluator, Garbler, Labels, Roles, Scheme};
use sealane_garble::{TablesInMemory, decode};
use std::convert::Infallible;
use std::hint::black_box;
use zeroize::Zeroizing;

/// The checks of this file.
pub const CHECKS: &[Check] = &[
    ("AES-128: key schedule, one block, many", one_key),
    ("AES-128: a key for every block", many_keys),
    ("generator and coins", generator),
    ("hashes: ccr, tccr, mi", hashes),
    ("GF(2^128)", field),
    ("bit transpose", transpose),
    ("garbling, evaluation and output hashes", garbling),
];

/// Blocks per check: around a vector of every width, with a rest.
const BLOCKS: usize = 37;

/// Returns secret blocks, all different.
pub fn secrets(count: usize) -> Zeroizing<Vec<Block>> {
    let blocks = (1..).map(|i: u128| Block::new(i.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060)));
    let mut blocks = Zeroizing::new(blocks.take(count).collect::<Vec<_>>());
    secret(Block::as_bytes_mut(&mut blocks));
    blocks
}

fn one_key(cpu: Cpu) {
    let [key, block] = secrets(2)[..] else { return };
    let aes = Aes128::new(cpu, key);
    let mut blocks = secrets(BLOCKS);
    aes.encrypt_blocks(&mut blocks);
    aes.apply_ctr(Block::new(9), &mut blocks);
    black_box((blocks, aes.encrypt(block)));
}

fn many_keys(cpu: Cpu) {
    let keys = secrets(BLOCKS);
    let mut blocks = secrets(BLOCKS);
    Aes128Many::new(cpu, &keys).encrypt_each(&mut blocks);
    aes::encrypt_fresh(cpu, &keys, &mut blocks);
    black_box(blocks);
}

fn generator(cpu: Cpu) {
    let mut prg = secret_coins().secret("bulk").prg(cpu);
    let (mut blocks, mut bytes) = (secrets(BLOCKS), Zeroizing::new(vec![0; 1000]));
    prg.fill(&mut blocks);
    prg.fill_bytes(&mut bytes);
    let mut fork = secret_coins().fork("fork");
    let seed = fork.secret("seed").seed();
    let shared = seed.stream("shared", &[1; 32]).block();
    black_box((blocks, bytes, shared));
}

fn hashes(cpu: Cpu) {
    let mut blocks = secrets(BLOCKS);
    let (seed, tweak) = (Block::new(7), Tweak::default());
    Prp::new(cpu, seed).hash(cpu, tweak, &mut blocks);
    Tccr::new(cpu, seed).hash(cpu, tweak, &mut blocks);
    Circ::new(cpu, seed).hash(cpu, tweak, &mut blocks);
    Mi::new(cpu, seed).hash(cpu, tweak, &mut blocks);
    black_box(blocks);
}

fn field(cpu: Cpu) {
    for order in [gf::Order::Ghash, gf::Order::Polynomial] {
        let mut products = secrets(BLOCKS);
        gf::mul_each(cpu, order, &mut products, &secrets(BLOCKS));
        black_box(products);
    }
}

fn transpose(cpu: Cpu) {
    let mut out = Zeroizing::new(vec![Block::ZERO; 128 * 3]);
    sealane_block::transpose(cpu, &secrets(128 * 3), &mut out);
    black_box(out);
}

/// Garbling with AES-128 on several lanes: offset, zero labels and active labels are secret; the
/// tables and the seed of the hash are sent to the other side.
fn garbling(cpu: Cpu) {
    for scheme in Scheme::ALL {
        garbling_under(cpu, scheme);
    }
}

fn garbling_under(cpu: Cpu, scheme: Scheme) {
    const LANES: usize = 19;
    // The garbler knows the bits of some inputs, the evaluator those of others, so that ANDs with
    // known operands run as well.
    let roles = Roles {
        garbler: 1,
        evaluator: 2,
    };
    let known = (0..=255).map(|i| i % 3).collect::<Vec<_>>();
    let tape = compile_known(&sealane_circuit::aes::circuit(), &Machine::CPU, &known);
    let mut coins = secret_coins();
    let seed = coins.public("hash").block();
    public(Block::as_bytes(&[seed]));
    let mut garbler = Garbler::new(cpu, scheme, seed, &mut coins);
    garbler.set_roles(roles);
    let inputs = tape.inputs as usize * LANES;
    let mut zeros = Labels::new(&tape, LANES, scheme.labels());
    zeros.inputs = garbler.fresh_labels(&mut coins, inputs);
    // All values are 0, so bits that a party knows have the permute bit 0 on both sides.
    let labels = zeros.inputs.chunks_mut(LANES).zip(&known);
    let known = labels.filter(|(_, known_to)| scheme.labels() == 1 && **known_to != 0);
    for label in known.flat_map(|(labels, _)| labels) {
        *label = *label & Block::new(!1);
    }
    let active = zeros.inputs[..inputs].to_vec().into();
    let mut tables = Vec::new();
    let mut sink = ChunkWriter::new(|chunk: &[u8]| {
        public(chunk);
        tables.extend_from_slice(chunk);
        Ok::<(), Infallible>(())
    });
    let Ok(()) = garbler.garble(&tape, LANES, &mut zeros, &mut sink);
    let Ok(()) = sink.flush();
    drop(sink);
    let outputs = tape.outputs.len() * LANES;
    let mut table = vec![[Block::ZERO; 2]; outputs];
    match scheme.labels() {
        2 => {
            let (zeros, ones) = zeros.outputs.split_at(outputs);
            garbler.decode_table_of(zeros, ones, &mut table);
        }
        _ => garbler.decode_table(&zeros.outputs, &mut table),
    }

    let mut evaluator = Evaluator::new(cpu, scheme, seed);
    evaluator.set_roles(roles);
    let mut labels = Labels::new(&tape, LANES, 1);
    labels.inputs = active;
    let mut tables = TablesInMemory::from(tables);
    let Ok(()) = evaluator.evaluate(&tape, LANES, &mut labels, &mut tables);
    let mut hashes = vec![Block::ZERO; labels.outputs.len()];
    evaluator.output_hashes(&labels.outputs, &mut hashes);
    // These decode the results; until here nothing has depended on a secret.
    public(Block::as_bytes(&hashes));
    public(Block::as_bytes(table.as_flattened()));
    let mut bits = vec![0; hashes.len()];
    black_box((decode(&hashes, &table, &mut bits).is_ok(), bits));
}

/// Returns coins with a secret seed, whose draws are all secret.
pub fn secret_coins() -> Coins {
    let mut seed = 0x5ea1_a4e5_u64;
    secret(bytemuck::bytes_of_mut(&mut seed));
    Coins::danger_fixed_seed(seed)
}
