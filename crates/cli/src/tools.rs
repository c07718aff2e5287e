//! The verb that needs no program and no peer: `circuit`.

use crate::args::CircuitVerb;
use sealane_circuit::bristol::{self, CircuitFile, Format};
use sealane_diagnostic::Code;
use sealane_files::Accept;
use sealane_host::Failure;
use sealane_page::Card;
use sealane_page::units::{counted, grouped};
use sealane_terminal::{print_card, print_line};
use serde_json::json;
use std::path::Path;

/// Longest file of a circuit, some four million gates.
const MOST_BYTES: u64 = 1 << 26;

/// Prints the sizes of a circuit, or its outputs.
pub fn circuit(verb: &CircuitVerb) -> Result<(), Failure> {
    match verb {
        CircuitVerb::Info { file, json } => circuit_info(file, *json),
        CircuitVerb::Eval { file, inputs, json } => {
            let circuit = read(file)?.circuit;
            let outputs = sealane_circuit::eval_hex(&circuit, inputs).map_err(|error| {
                let widths = circuit.input_widths().iter();
                let widths = widths.map(|width| counted(*width as u64, "bit"));
                let widths = widths.collect::<Vec<_>>().join(", ");
                let hint = format!("its inputs have {widths}");
                Failure::new(Code::CircuitValue, error.to_string(), hint)
            })?;
            if *json {
                return print_line(json!({ "outputs": outputs }));
            }
            outputs.iter().try_for_each(print_line)
        }
    }
}

fn circuit_info(path: &Path, json: bool) -> Result<(), Failure> {
    let file = read(path)?;
    let CircuitFile { info, circuit, .. } = &file;
    let (inputs, outputs) = (circuit.input_widths(), circuit.output_widths());
    let mut card = Card::new(path.display().to_string());
    let format = match file.format {
        Format::Bristol => "Bristol",
        Format::BristolFashion => "Bristol Fashion",
    };
    card.line("format", format);
    card.line("wires", grouped(info.wires));
    card.line("gates", grouped(info.gates));
    card.line("ANDs", grouped(info.ands));
    card.line("XORs", grouped(info.xors));
    card.line("depth", grouped(info.depth));
    let widths = |widths: &[usize]| match widths {
        [1] => "1 bit".to_string(),
        _ => {
            let widths = widths.iter().map(usize::to_string);
            widths.collect::<Vec<_>>().join(", ") + " bits"
        }
    };
    card.line("inputs", widths(inputs));
    card.line("outputs", widths(&outputs));
    let value = json!({
        "format": format,
        "wires": info.wires,
        "gates": info.gates,
        "ands": info.ands,
        "xors": info.xors,
        "depth": info.depth,
        "inputs": inputs,
        "outputs": outputs,
    });
    print_card(json, &card, &value)
}

fn read(path: &Path) -> Result<CircuitFile, Failure> {
    let shown = path.display();
    let text = sealane_files::read_text(path, Accept::FileOrPipe, MOST_BYTES).map_err(|error| {
        let what = format!("cannot read {shown}");
        Failure::new(Code::CircuitFile, what, "name a text file").because(error.to_string())
    })?;
    bristol::read(&text).map_err(|error| {
        let hint = "Bristol Fashion and the older Bristol format are known";
        Failure::new(Code::CircuitFile, format!("{shown}: {error}"), hint)
    })
}
