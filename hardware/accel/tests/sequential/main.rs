//! Sequential circuits: the functions of Table II, and designs in Verilog.

mod engine;
mod functions;
mod support;
mod yosys;
