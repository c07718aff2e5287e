//! The recovery of the offset from one row of a table, which breaks the released hardware
//! ([`sealane_hw_testkit`]).

use sealane_block::Block;
use sealane_hw_testkit::{offsets_found, pairs};

use crate::bench::{BenchRun, Build, LABEL, Seeds, TABLE};

/// Returns the number of ANDs from whose tables and active labels the attack finds the offset.
pub fn found(build: &Build) -> usize {
    let netlist = pairs();
    let seeds = Seeds::drawn(3);
    let mut run = BenchRun::of(build, &netlist, 1, &[seeds]);
    let records = run.records();
    run.reports();
    let of = |tag| records.iter().filter(move |record| record.tag == tag);
    let labels: Vec<Block> = of(LABEL).map(|record| record.block(0)).collect();
    let tables = of(TABLE).map(|record| (record.index, [0, 1].map(|half| record.block(half))));
    let tables: Vec<_> = tables.collect();
    offsets_found(seeds.hash, seeds.offset, &labels, &tables)
}
