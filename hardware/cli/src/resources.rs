//! Resources of the hardware on an FPGA: the paper's Table III beside our synthesis, and the better
//! engines.

use crate::args::ResourcesArgs;
use crate::simulate::internal;
use crate::tables::columns;
use sealane_accel::paper::{BETTER, BETTER_PARTS, SYNTHESISED, TABLE_3};
use sealane_host::Failure;
use sealane_page::Card;
use sealane_page::units::grouped;
use sealane_terminal::print_card;
use serde_json::{Value, json};

/// Prints both counts of every part, and those of the better engines.
pub fn resources(args: &ResourcesArgs) -> Result<(), Failure> {
    // The file is compiled in, and a test reads it.
    let ours: Value = serde_json::from_str(SYNTHESISED).map_err(internal)?;
    let cells = |name: String, numbers: [f64; 4]| {
        let numbers = numbers.map(|number| match number.fract() {
            0.0 => grouped(number as u64),
            _ => number.to_string(),
        });
        std::iter::once(name).chain(numbers).collect::<Vec<_>>()
    };
    let counts = |part: &Value| {
        let kinds = ["lut", "ff", "lutram", "bram"];
        kinds.map(|kind| part[kind].as_f64().unwrap_or_default())
    };
    let mut rows = Vec::new();
    for part in TABLE_3 {
        let name = part.part.replace('_', " ");
        let paper = [part.lut, part.ff, part.lutram, part.bram];
        rows.push(cells(format!("{name}, FASE"), paper));
        rows.push(cells(format!("{name}, rtl"), counts(&ours[part.part])));
    }
    for (machine, name) in BETTER {
        for part in BETTER_PARTS {
            let counted = counts(&ours[machine][part]);
            rows.push(cells(format!("{part}, {name}"), counted));
        }
    }
    let title = "FASE, Table III: resources on an UltraScale FPGA";
    let mut card = Card::new(title);
    let tool = ours["tool"].as_str().unwrap_or_default();
    card.line("rtl", format!("synthesised by {tool}, before placement"));
    card.table(None, columns("part", "LUT|FF|LUTRAM|BRAM"), rows);
    let paper = TABLE_3.iter().map(|part| {
        json!({ "part": part.part, "lut": part.lut, "ff": part.ff, "lutram": part.lutram,
                "bram": part.bram })
    });
    let value = json!({ "title": title, "paper": paper.collect::<Vec<_>>(), "ours": ours });
    print_card(args.json, &card, &value)
}
