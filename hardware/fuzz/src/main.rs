//! The fuzz targets as a program: `cargo run -p sealane-hw-fuzz -- smoke`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    sealane_hw_fuzz::FUZZER.main()
}
