//! Designs in Verilog, synthesised by Yosys: the script, and what its JSON says.
//!
//! Yosys (<https://yosyshq.net/yosys/>) makes gates and flip-flops of a design; this module makes a
//! sequential circuit of them. The ports of the top module have the names of TinyGarble:
//!
//! | port | meaning |
//! |---|---|
//! | `clk` | the clock; all flip-flops take its rising edge |
//! | `rst` | 1 before the first netlist cycle, when it loads initial values, and then 0 |
//! | `p_init`, `g_init`, `e_init` | inputs given once: public, of the garbler, of the evaluator |
//! | `p_input`, `g_input`, `e_input` | inputs given in each netlist cycle |
//!
//! Flip-flops begin with the value that `rst` loads, with or without the clock, which is a constant
//! or a bit given once; where it loads none, with that of their declaration (`reg q = 0`). Outputs
//! may have any name. They become one word, in the order of the ports.
//!
//! JSON comes from a program that ran on sources of the user: it is checked like any file.

mod convert;
mod json;

pub use convert::{Design, convert};

/// Map of arithmetic cells, the file `map.v` of [`script`].
pub const MAP: &str = include_str!("map.v");

/// Name of the file with the netlist that the script writes.
pub const OUTPUT: &str = "design.json";

/// Returns the script for a design whose sources have been read. It reads `map.v` and writes
/// [`OUTPUT`], both in the folder in which Yosys runs.
///
/// # Errors
/// [`DesignError::Top`] if `top` cannot be the name of a module.
pub fn script(top: Option<&str>) -> Result<String, DesignError> {
    let hierarchy = match top {
        None => "hierarchy -check -auto-top".to_string(),
        Some(name) if is_name(name) => format!("hierarchy -check -top {name}"),
        Some(name) => return Err(DesignError::Top(name.to_string())),
    };
    Ok(format!("{hierarchy}\n{}", include_str!("synth.ys")))
}

/// True for a simple identifier of Verilog: nothing that a script would read as more than a name.
fn is_name(name: &str) -> bool {
    let mut characters = name.chars();
    let first = characters.next();
    first.is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '$')
}

/// A cell of a design, for an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cell} ({place})")]
pub struct Location {
    /// Name of the cell.
    pub cell: String,
    /// Its place in the source.
    pub place: String,
}

/// Error: a design is no sequential circuit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DesignError {
    /// The name of the top module is no identifier.
    #[error("`{0}` cannot be the name of a module")]
    Top(String),
    /// The JSON is damaged.
    #[error("the netlist that yosys wrote cannot be read: {0}")]
    Json(String),
    /// There is no top module, or more than one.
    #[error("yosys wrote {0} top modules, and one was due")]
    Tops(usize),
    /// A cell that is neither a gate nor a flip-flop of those that the script asks for.
    #[error("cell {} of type {kind} ({}) is neither a gate nor a flip-flop", .at.cell, .at.place)]
    Cell {
        /// Type of the cell.
        kind: String,
        /// The cell.
        at: Location,
    },
    /// A port of a cell is missing, or has not one bit.
    #[error("cell {cell} has no single bit at {pin}")]
    Pin {
        /// Name of the cell.
        cell: String,
        /// The pin.
        pin: &'static str,
    },
    /// An input of the top module that belongs to nobody, or a port in both directions.
    #[error("port `{0}` is an input of nobody, or goes both ways")]
    Port(String),
    /// A clock or a reset is more than one bit.
    #[error("port `{0}` has more than one bit")]
    Wide(String),
    /// A flip-flop takes another clock than the rising edge of `clk`.
    #[error("flip-flop {0} does not take the rising edge of `clk`")]
    Clock(Location),
    /// A flip-flop is loaded without the clock by something else than `rst`.
    #[error("flip-flop {0} is loaded by something else than `rst`")]
    Reset(Location),
    /// A flip-flop has no initial value, or one that is neither a constant nor given once.
    #[error(
        "flip-flop {0} begins with neither a constant nor a bit of `p_init`, `g_init` or `e_init`"
    )]
    Initial(Location),
    /// Something reads the clock as data.
    #[error("`clk` is read by a gate, an output or a flip-flop as data")]
    ClockRead,
    /// Gates that wait for each other.
    #[error("cell {0} is part of a loop without a flip-flop")]
    Loop(Location),
    /// A bit is read that nothing drives.
    #[error("bit {0} of the netlist is read, and nothing drives it")]
    Undriven(u64),
    /// A bit has two drivers.
    #[error("bit {0} of the netlist has two drivers")]
    Driven(u64),
    /// The design is larger than a netlist.
    #[error("the design has {0} cells and bits of ports, and 16777216 are the most")]
    TooLarge(usize),
}

impl DesignError {
    /// Returns the thing to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            DesignError::Top(_) | DesignError::Tops(_) => {
                "name the top module with --top, by a simple identifier"
            }
            DesignError::Json(_)
            | DesignError::Pin { .. }
            | DesignError::Driven(_)
            | DesignError::TooLarge(_) => {
                "see that this is Yosys 0.23 or a later one, and that the design is small enough"
            }
            DesignError::Cell { .. } => {
                "describe the design with assignments, operators and flip-flops on the rising edge \
                 of `clk`; latches, tri-states and black boxes have no meaning here"
            }
            DesignError::Port(_) | DesignError::Wide(_) => {
                "inputs are `clk`, `rst`, `p_init`, `g_init`, `e_init`, `p_input`, `g_input` and \
                 `e_input`"
            }
            DesignError::Clock(_) | DesignError::ClockRead => {
                "use one clock `clk` and `always @(posedge clk)`, and do not read it as data"
            }
            DesignError::Reset(_) | DesignError::Initial(_) => {
                "load flip-flops in `always @(posedge clk) if (rst)`, or declare a value: `reg q = 0;`"
            }
            DesignError::Loop(_) | DesignError::Undriven(_) => {
                "see the warnings of Yosys on this design: drive every wire, and break loops by \
                 flip-flops"
            }
        }
    }
}
