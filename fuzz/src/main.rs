//! The fuzz targets as a program: `cargo run -p sealane-fuzz -- smoke`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    sealane_fuzz::FUZZER.main()
}
