//! Crate `accel`: garbling hardware.
//!
//! After FASE (Hussain and Koushanfar, "FASE: FPGA Acceleration of Secure Function Evaluation",
//! FCCM 2019): a pipelined engine takes one gate of a netlist a cycle, in the order of its file,
//! and stalls where an operand is not garbled yet or the ports of the key memory are taken. This
//! crate reads and writes netlists, counts the cycles of that machine exactly, and orders gates for
//! it. It garbles nothing.
//!
//! | file | content |
//! |---|---|
//! | `gate`, `netlist` | gates, flip-flops, outputs; checked when they are put together |
//! | `formats` | SCD in three dialects, HSCD in two widths |
//! | `sequential` | netlists as sequential circuits of crate `circuit`, and back |
//! | `tape` | netlists as tapes whose tables are in the order of the file |
//! | `fase` | the machine, cycle by cycle, as a model of crate `schedule` |
//! | `engine` | better engines: more ports and units, banks, several engines, clients in turns |
//! | `scratchpad` | keys in a scratchpad, wires renamed at compile time, traffic of memory |
//! | `bundle` | netlists for the better engine of `rtl/`, as bundles of gates |
//! | `timing` | cycles of a netlist cycle and of a run, and where they go |
//! | `bound` | numbers of cycles below which no order can be |
//! | `functions` | the functions of the paper's Table II as our own sources |
//! | `yosys` | designs in Verilog: the script for Yosys, and its JSON as a sequential circuit |
//! | `paper` | the figures of the paper |
//!
//! The rules and the formats are on the page `docs/guides/accelerator.md`.
#![forbid(unsafe_code)]

pub mod bound;
pub mod bundle;
pub mod engine;
pub mod fase;
pub mod formats;
pub mod functions;
mod gate;
pub mod netlist;
pub mod paper;
pub mod scratchpad;
mod sequential;
mod tape;
pub mod timing;
pub mod yosys;

pub use gate::{Gate, GateKind, Operand};
pub use netlist::{FlipFlop, Inputs, Netlist, NetlistError};
pub use sequential::ConvertError;
