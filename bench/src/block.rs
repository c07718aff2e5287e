//! Suite `block`: the primitives of crate `block` on 8 KiB, which stay in the first-level cache, a
//! transposition of 128 KiB, and the kernels of silent oblivious transfer on what they work on.

use std::hint::black_box;

use sealane_block::aes::encrypt_fresh;
use sealane_block::gf::{self, Order};
use sealane_block::hash::{Circ, Mi, Prp, Tccr};
use sealane_block::{Aes128, Aes128Many, Block, Coins, Cpu, LabelHash, PolyHash, Tweak, transpose};

use crate::cycles::{Measured, measure};
use crate::{Figures, Options, SuiteError, silent};

/// Blocks of one call.
const BLOCKS: usize = 512;

/// Rows, and so blocks, of a transposition of many at once.
const MANY: usize = 8192;

/// Measures every primitive on every tier.
pub fn run(options: &Options, figures: &mut Figures<'_>) -> Result<(), SuiteError> {
    for cpu in &options.cpus {
        let figures = &mut figures.on(*cpu);
        measure_tier(*cpu, options, figures);
        silent::run(*cpu, options, figures);
    }
    Ok(())
}

/// Gives the figures of a case, which makes blocks.
pub(crate) fn blocks(case: &str, measured: &Measured, figures: &mut Figures<'_>) {
    figures.cycles(case, "", "block", measured);
    let rate = 1e3 / measured.median_ns;
    figures.add(case, &[("million_blocks_per_s", rate, "million/s")]);
}

fn measure_tier(cpu: Cpu, options: &Options, figures: &mut Figures<'_>) {
    let mut coins = Coins::danger_fixed_seed(1).secret("bench");
    let (mut keys, mut buffer) = (vec![Block::ZERO; BLOCKS], vec![Block::ZERO; BLOCKS]);
    coins.fill(&mut keys);
    coins.fill(&mut buffer);
    let mut out = vec![Block::ZERO; BLOCKS];

    let aes = Aes128::new(cpu, coins.block());
    let many = Aes128Many::new(cpu, &keys);
    let mut prg = coins.prg(cpu);
    let seed = coins.block();

    // Each measurement takes its own result as its next input, or draws on.
    let mut case = |case: &str, work: &mut dyn FnMut(&mut [Block])| {
        let measured = measure(BLOCKS as u64, options.budget, || work(&mut buffer));
        black_box(&buffer);
        blocks(case, &measured, figures);
    };
    case("aes128/one_key", &mut |blocks| aes.encrypt_blocks(blocks));
    case("aes128/many_keys", &mut |blocks| many.encrypt_each(blocks));
    case("aes128/fresh_keys", &mut |blocks| {
        encrypt_fresh(cpu, &keys, blocks)
    });
    case("prg", &mut |blocks| prg.fill(blocks));
    hash("hash/prp", &Prp::new(cpu, seed), cpu, &mut case);
    hash("hash/tccr", &Tccr::new(cpu, seed), cpu, &mut case);
    hash("hash/circ", &Circ::new(cpu, seed), cpu, &mut case);
    hash("hash/mi", &Mi::new(cpu, seed), cpu, &mut case);
    for (name, order) in [("polynomial", Order::Polynomial), ("ghash", Order::Ghash)] {
        let name = format!("gf128/{name}");
        case(&name, &mut |blocks| gf::mul_each(cpu, order, blocks, &keys));
    }
    let mut digest = PolyHash::new(cpu, keys[0]);
    case("poly_hash", &mut |blocks| {
        digest.update(Block::as_bytes(blocks))
    });
    case("transpose/128x512", &mut |blocks| {
        transpose(cpu, blocks, &mut out);
        blocks.copy_from_slice(&out);
    });
    // 128 KiB, two pieces of an extension, which stay in the second cache.
    let (mut columns, mut rows) = (vec![Block::ZERO; MANY], vec![Block::ZERO; MANY]);
    coins.fill(&mut columns);
    let measured = measure(MANY as u64, options.budget, || {
        transpose(cpu, &columns, &mut rows);
        std::mem::swap(&mut columns, &mut rows);
    });
    black_box(&columns);
    blocks("transpose/128x8192", &measured, figures);
}

/// Measures work on blocks, under a name.
type Measure<'a> = dyn FnMut(&str, &mut dyn FnMut(&mut [Block])) + 'a;

/// Hashes under tweaks that never repeat.
fn hash<H: LabelHash>(name: &str, hash: &H, cpu: Cpu, case: &mut Measure<'_>) {
    let mut tweak = Tweak::default();
    case(name, &mut |blocks| {
        hash.hash(cpu, tweak, blocks);
        tweak.call += 1;
    });
}
