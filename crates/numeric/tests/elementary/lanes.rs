//! A function with one result on many arguments at a time.

use sealane_circuit::Goal;
use sealane_numeric::{Arithmetic, function, measure};

/// The circuit of a function, ready to run.
pub struct Runner {
    runner: measure::Runner,
    /// ANDs.
    pub ands: usize,
}

impl Runner {
    pub fn new(name: &str, arithmetic: Arithmetic, goal: Goal) -> Runner {
        let function = function(name).unwrap_or_else(|| panic!("no function {name}"));
        let runner = measure::Runner::new(function, arithmetic, goal);
        let ands = runner.ands as usize;
        Runner { runner, ands }
    }

    /// AND depth.
    pub fn depth(&self) -> usize {
        self.runner.depth as usize
    }

    /// The results of operands, in their order: bits of numbers.
    pub fn run(&self, operands: &[Vec<u64>]) -> Vec<u64> {
        let wide = |row: &Vec<u64>| row.iter().map(|&x| x.into()).collect();
        let rows: Vec<Vec<u128>> = operands.iter().map(wide).collect();
        let results = self.runner.run(&rows).into_iter();
        results.map(|row| row[0] as u64).collect()
    }

    /// The results of 512 arguments in a row, from a multiple of 512 on.
    pub fn row(&self, first: u64) -> Vec<u64> {
        self.runner.row(first)
    }
}
