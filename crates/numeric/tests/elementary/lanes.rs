//! A function with one result on many arguments at a time.

use crate::common;
use crate::elementary::error::{error, operand, rounded};
use crate::lanes::variants;
use sealane_circuit::Goal;
use sealane_numeric::{Arithmetic, Format, measure};
use std::str::FromStr;

/// The circuit of a function, ready to run.
pub struct Runner {
    pub runner: measure::Runner,
    /// Its arithmetic.
    pub of: Arithmetic,
    /// The function, its form and what it takes, for messages.
    pub what: String,
}

impl Runner {
    pub fn new(name: &str, arithmetic: Arithmetic, goal: Goal) -> Runner {
        let runner = common::runner(name, arithmetic, goal);
        let (format, subnormals) = (arithmetic.format.name(), arithmetic.subnormals);
        let (ands, depth) = (runner.ands, runner.depth);
        Runner {
            runner,
            of: arithmetic,
            what: format!("{name} {format} {goal:?} {subnormals:?}, {ands} ANDs, depth {depth}"),
        }
    }

    /// The forms of a function in a format: for both goals, with subnormal numbers and without.
    pub fn all(name: &str, format: Format) -> impl Iterator<Item = Runner> {
        variants(format).map(move |(goal, of)| Runner::new(name, of, goal))
    }

    /// The results of operands, in their order: bits of numbers.
    pub fn run(&self, operands: &[Vec<u64>]) -> Vec<u64> {
        run(&self.runner, operands)
    }

    /// The worst error of the results of operands. `exact` returns the value at a place in the list
    /// and its operands. In formats of 16 bits every result has to be the nearest number.
    pub fn worst(&self, operands: &[Vec<u64>], exact: impl Fn(usize, &[f64]) -> f64) -> f64 {
        let (of, what) = (self.of, &self.what);
        let mut worst = (0.0, &operands[0]);
        for (i, (row, found)) in operands.iter().zip(self.run(operands)).enumerate() {
            let values: Vec<f64> = row.iter().map(|&x| operand(of, x)).collect();
            let exact = exact(i, &values);
            let off = error(of, found, exact);
            worst = if off > worst.0 { (off, row) } else { worst };
            let nearest = rounded(of, exact);
            let may_differ = of.format.bits() > 16 || found == nearest;
            assert!(
                may_differ,
                "{what} of {row:x?}: {found:#x}, not {nearest:#x}"
            );
        }
        println!("{what}: {:.4} at {:x?}", worst.0, worst.1);
        worst.0
    }
}

/// The results of a function with one result for rows of operands, in their order.
pub fn run(runner: &measure::Runner, operands: &[Vec<u64>]) -> Vec<u64> {
    let wide = |row: &Vec<u64>| row.iter().map(|&x| x.into()).collect();
    let rows: Vec<Vec<u128>> = operands.iter().map(wide).collect();
    let results = runner.run(&rows).into_iter();
    results.map(|row| row[0] as u64).collect()
}

/// Special results from a table: a line for each function, of operands and their results.
pub fn special<T: FromStr>(
    table: &'static str,
) -> impl Iterator<Item = (&'static str, Vec<(T, T)>)> {
    let number = |text: &str| text.parse::<T>().ok().expect("a number");
    table.lines().map(move |line| {
        let (name, cases) = line.trim().split_once(": ").expect("a name");
        let cases = cases.split(", ").map(|case| {
            let (x, result) = case.split_once(' ').expect("an operand");
            (number(x), number(result))
        });
        (name, cases.collect())
    })
}
