//! The checks of crate `memcheck` as a program, which runs under Valgrind: `sh tools/secrets.sh`.

use std::process::ExitCode;

fn main() -> ExitCode {
    sealane_memcheck::main(sealane_memcheck::CHECKS)
}
