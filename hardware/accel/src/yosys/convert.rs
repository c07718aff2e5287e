//! Gates and flip-flops of Yosys to a sequential circuit.

use super::json::{Bit, Cell, File, Module, Port};
use super::{DesignError, Location};
use crate::netlist::{Inputs, MOST_WIRES, Netlist};
use crate::sequential::ConvertError;
use sealane_circuit::{Builder, Initial, Sequential, Wire, Word};
use serde_json::Value;
use std::collections::HashMap;

/// A design as a sequential circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Design {
    /// Name of the top module.
    pub top: String,
    /// Numbers of inputs.
    pub inputs: Inputs,
    /// Names and widths of the ports that are outputs; together they are the word of outputs.
    pub outputs: Vec<(String, usize)>,
    /// A netlist cycle, with held and fresh inputs as [`Netlist::sequential`] has.
    pub circuit: Sequential,
}

impl Design {
    /// Returns the netlist of a cycle.
    ///
    /// # Errors
    /// [`ConvertError::Netlist`] if the design has too many wires.
    pub fn netlist(&self) -> Result<Netlist, ConvertError> {
        Netlist::of_sequential(&self.circuit, self.inputs)
    }
}

/// Names of inputs in the order of [`Inputs`]: the first three are given once.
const INPUTS: [&str; 6] = [
    "p_init", "g_init", "e_init", "p_input", "g_input", "e_input",
];

/// Converts the JSON that the script has written.
///
/// # Errors
/// [`DesignError`] for the first part of the design that has no meaning here.
pub fn convert(json: &[u8]) -> Result<Design, DesignError> {
    let file = serde_json::from_slice(json);
    let file: File = file.map_err(|error| DesignError::Json(error.to_string()))?;
    let top = |module: &Module| module.attributes.contains_key("top");
    let tops = file.modules.iter().filter(|(_, module)| top(module));
    let tops: Vec<(&String, &Module)> = tops.collect();
    let [(name, module)] = tops[..] else {
        return Err(DesignError::Tops(tops.len()));
    };
    let ports = Ports::of(module)?;
    let cells = module.cells.0.iter();
    let cells = cells.map(|(name, cell)| Named { name, cell });
    let (flip_flops, gates): (Vec<Named>, Vec<Named>) = cells.partition(Named::is_flip_flop);
    let size = module.cells.0.len() + ports.bits();
    if size as u64 > MOST_WIRES {
        return Err(DesignError::TooLarge(size));
    }
    let mut drivers = Drivers::default();
    let mut b = Builder::new();
    let q = b.input(flip_flops.len());
    for (flip_flop, &q) in flip_flops.iter().zip(&q) {
        drivers.set(flip_flop.pin("Q")?, Driver::Wire(q))?;
    }
    let mut inputs = Vec::new();
    for bits in &ports.inputs {
        let word = b.input(bits.len());
        for (&bit, &wire) in bits.iter().zip(&word) {
            drivers.set(bit, Driver::Wire(wire))?;
        }
        inputs.push(word);
    }
    if let Some(clock) = ports.clock {
        drivers.set(clock, Driver::Clock)?;
    }
    for (index, gate) in gates.iter().enumerate() {
        drivers.set(gate.pin("Y")?, Driver::Gate(index))?;
    }
    // The reset is 1 before the first cycle, and 0 in all cycles.
    let mut loading = drivers.clone();
    if let Some(reset) = ports.reset {
        loading.set(reset, Driver::Wire(Wire::ONE))?;
        drivers.set(reset, Driver::Wire(Wire::ZERO))?;
    }
    let next = flip_flops.iter().map(|flip_flop| flip_flop.pin("D"));
    let bits = next.collect::<Result<Vec<Bit>, _>>()?;
    let mut next = Word::new();
    for &bit in &bits {
        next.push(drivers.build(&mut b, &gates, bit)?);
    }
    let mut output = Word::new();
    for &bit in ports.outputs.iter().flat_map(|(_, bits)| bits) {
        output.push(drivers.build(&mut b, &gates, bit)?);
    }
    let declared = declared(module);
    let mut initial = Vec::new();
    for ((flip_flop, &bit), &next) in flip_flops.iter().zip(&bits).zip(&next) {
        flip_flop.check_clock(&ports)?;
        let begins = match flip_flop.loaded(&ports)? {
            Some(bit) => Some(loading.build(&mut b, &gates, bit)?),
            None => {
                let loaded = loading.build(&mut b, &gates, bit)?;
                let declared = || flip_flop.declared(&declared).map(Wire::constant);
                (loaded != next).then_some(loaded).or_else(declared)
            }
        };
        let value = begins.and_then(|wire| value(wire, &inputs[..3]));
        initial.push(value.ok_or_else(|| DesignError::Initial(flip_flop.location()))?);
    }
    let words = vec![next, output];
    let counts = ports.inputs.each_ref().map(|bits| bits.len() as u32);
    let circuit = Sequential::new(b.finish(words), initial, 3);
    let outputs = ports.outputs.into_iter();
    Ok(Design {
        top: name.trim_start_matches('\\').to_string(),
        inputs: Inputs::of_counts(counts),
        outputs: outputs.map(|(name, bits)| (name, bits.len())).collect(),
        circuit: circuit.expect("initial values have been checked"),
    })
}

/// The ports of the top module.
#[derive(Default)]
struct Ports {
    clock: Option<Bit>,
    reset: Option<Bit>,
    inputs: [Vec<Bit>; 6],
    outputs: Vec<(String, Vec<Bit>)>,
}

impl Ports {
    fn of(module: &Module) -> Result<Ports, DesignError> {
        let mut ports = Ports::default();
        for (name, Port { direction, bits }) in &module.ports.0 {
            let one = || match bits[..] {
                [bit] => Ok(Some(bit)),
                _ => Err(DesignError::Wide(name.clone())),
            };
            let input = INPUTS.iter().position(|input| input == name);
            match (direction.as_str(), name.as_str(), input) {
                ("output", ..) => ports.outputs.push((name.clone(), bits.clone())),
                ("input", "clk", _) => ports.clock = one()?,
                ("input", "rst", _) => ports.reset = one()?,
                ("input", _, Some(input)) => ports.inputs[input].clone_from(bits),
                _ => return Err(DesignError::Port(name.clone())),
            }
        }
        Ok(ports)
    }

    fn bits(&self) -> usize {
        let outputs = self.outputs.iter().map(|(_, bits)| bits.len());
        self.inputs.iter().map(Vec::len).sum::<usize>() + outputs.sum::<usize>()
    }
}

/// A cell with its name.
#[derive(Clone, Copy)]
struct Named<'a> {
    name: &'a str,
    cell: &'a Cell,
}

impl Named<'_> {
    fn is_flip_flop(&self) -> bool {
        self.cell.kind.contains("DFF")
    }

    /// The bit of a pin.
    fn pin(&self, pin: &'static str) -> Result<Bit, DesignError> {
        match self.cell.connections.get(pin).map(Vec::as_slice) {
            Some(&[bit]) => Ok(bit),
            _ => {
                let cell = self.name.to_string();
                Err(DesignError::Pin { cell, pin })
            }
        }
    }

    fn unknown(&self) -> DesignError {
        let kind = self.cell.kind.clone();
        let at = self.location();
        DesignError::Cell { kind, at }
    }

    fn location(&self) -> Location {
        let (cell, place) = (self.name.to_string(), self.cell.place());
        Location { cell, place }
    }

    fn check_clock(&self, ports: &Ports) -> Result<(), DesignError> {
        if Some(self.pin("C")?) == ports.clock {
            Ok(())
        } else {
            Err(DesignError::Clock(self.location()))
        }
    }

    /// The bit that the flip-flop is loaded with, without the clock, while the reset is 1.
    fn loaded(&self, ports: &Ports) -> Result<Option<Bit>, DesignError> {
        let (pin, loaded) = match self.cell.kind.as_str() {
            "$_DFF_P_" => return Ok(None),
            "$_DFF_PP0_" => ("R", Bit::Constant(false)),
            "$_DFF_PP1_" => ("R", Bit::Constant(true)),
            "$_ALDFF_PP_" => ("L", self.pin("AD")?),
            _ => return Err(self.unknown()),
        };
        if Some(self.pin(pin)?) == ports.reset {
            Ok(Some(loaded))
        } else {
            Err(DesignError::Reset(self.location()))
        }
    }

    /// The value of its declaration.
    fn declared(&self, declared: &HashMap<u64, bool>) -> Option<bool> {
        match self.pin("Q") {
            Ok(Bit::Net(net)) => declared.get(&net).copied(),
            _ => None,
        }
    }
}

/// The initial value that a wire is: a constant, or a bit of the inputs that are given once.
fn value(wire: Wire, held: &[Word]) -> Option<Initial> {
    let position = || held.iter().flatten().position(|&input| input == wire);
    match wire.as_constant() {
        Some(bit) => Some(Initial::Constant(bit)),
        None => position().map(|bit| Initial::Held(bit as u32)),
    }
}

/// Values of nets in their declarations: the attribute has the highest bit first.
fn declared(module: &Module) -> HashMap<u64, bool> {
    let mut values = HashMap::new();
    for (_, net) in &module.netnames.0 {
        let Some(text) = net.attributes.get("init").and_then(Value::as_str) else {
            continue;
        };
        for (bit, value) in net.bits.iter().zip(text.chars().rev()) {
            if let (Bit::Net(net), '0' | '1') = (*bit, value) {
                values.insert(net, value == '1');
            }
        }
    }
    values
}

/// A driver of a net.
#[derive(Clone, Copy)]
enum Driver {
    Wire(Wire),
    /// A gate that is not built yet.
    Gate(usize),
    /// A gate whose operands are being built.
    Waiting(usize),
    Clock,
}

#[derive(Clone, Default)]
struct Drivers(HashMap<u64, Driver>);

impl Drivers {
    fn set(&mut self, bit: Bit, driver: Driver) -> Result<(), DesignError> {
        match bit {
            Bit::Net(net) => match self.0.insert(net, driver) {
                None => Ok(()),
                Some(_) => Err(DesignError::Driven(net)),
            },
            Bit::Constant(_) => Err(DesignError::Json("a constant is driven".into())),
        }
    }

    /// The wire of a bit that is there, or the net that has to be built first.
    fn wire(&self, bit: Bit) -> Result<Result<Wire, (u64, usize)>, DesignError> {
        let net = match bit {
            Bit::Constant(bit) => return Ok(Ok(Wire::constant(bit))),
            Bit::Net(net) => net,
        };
        match self.0.get(&net) {
            Some(&Driver::Wire(wire)) => Ok(Ok(wire)),
            Some(&(Driver::Gate(gate) | Driver::Waiting(gate))) => Ok(Err((net, gate))),
            Some(Driver::Clock) => Err(DesignError::ClockRead),
            None => Err(DesignError::Undriven(net)),
        }
    }

    /// Builds a bit with all gates that it needs, without recursion: chains may be long.
    fn build(&mut self, b: &mut Builder, gates: &[Named], bit: Bit) -> Result<Wire, DesignError> {
        let mut waiting: Vec<(u64, usize)> = Vec::new();
        match self.wire(bit)? {
            Ok(wire) => return Ok(wire),
            Err(first) => waiting.push(first),
        }
        while let Some(&(net, gate)) = waiting.last() {
            let named = gates[gate];
            let pins: &[&'static str] = match named.cell.kind.as_str() {
                "$_BUF_" | "$_NOT_" => &["A"],
                "$_MUX_" | "$_NMUX_" => &["A", "B", "S"],
                _ => &["A", "B"],
            };
            let (mut operands, mut missing) = ([Wire::ZERO; 3], None);
            for (operand, pin) in operands.iter_mut().zip(pins) {
                match self.wire(named.pin(pin)?)? {
                    Ok(wire) => *operand = wire,
                    Err(needed) => missing = Some(needed),
                }
            }
            match missing {
                None => {
                    let wire = gate_of(b, &named, operands)?;
                    self.0.insert(net, Driver::Wire(wire));
                    waiting.pop();
                }
                Some(needed) => {
                    self.0.insert(net, Driver::Waiting(gate));
                    if let Some(Driver::Waiting(_)) = self.0.get(&needed.0) {
                        return Err(DesignError::Loop(named.location()));
                    }
                    waiting.push(needed);
                }
            }
        }
        self.build(b, gates, bit)
    }
}

/// Builds a gate of Yosys' simple library.
fn gate_of(b: &mut Builder, gate: &Named, [x, y, s]: [Wire; 3]) -> Result<Wire, DesignError> {
    Ok(match gate.cell.kind.as_str() {
        "$_BUF_" => x,
        "$_NOT_" => !x,
        "$_AND_" => b.and(x, y),
        "$_NAND_" => !b.and(x, y),
        "$_OR_" => b.or(x, y),
        "$_NOR_" => !b.or(x, y),
        "$_XOR_" => b.xor(x, y),
        "$_XNOR_" => !b.xor(x, y),
        "$_ANDNOT_" => b.and(x, !y),
        "$_ORNOT_" => b.or(x, !y),
        "$_MUX_" => b.mux(s, y, x),
        "$_NMUX_" => !b.mux(s, y, x),
        _ => return Err(gate.unknown()),
    })
}
