//! Errors of functions of f32 against their arguments: a small picture for each function.

use super::reference::{self, Reference};
use crate::plot;
use sealane_circuit::Goal;
use sealane_numeric::{Arithmetic, Format, functions, measure};
use std::fmt::{self, Write};

/// Size of a picture, and pictures in a row.
const CELL: (f64, f64) = (270.0, 130.0);
const COLUMNS: usize = 3;
/// Space inside of a picture, and the error at its top.
const MARGIN: f64 = 26.0;
const MOST_ULP: f64 = 1.0;
/// Arguments of each exponent and sign.
const ARGUMENTS: usize = 128;

/// The largest error for each exponent field, negative arguments first.
struct Errors {
    name: &'static str,
    below: Vec<f64>,
    above: Vec<f64>,
}

/// The picture of all functions of one number in f32, as one SVG file.
pub fn errors_svg() -> String {
    let all: Vec<Errors> = functions()
        .filter_map(|function| match reference::of(function.name)? {
            Reference::One(exact) => {
                let arithmetic = Arithmetic::new(Format::F32);
                let runner = measure::Runner::new(function, arithmetic, Goal::Size);
                Some(errors(function.name, &runner, exact))
            }
            Reference::Two(_) => None,
        })
        .collect();
    let height = all.len().div_ceil(COLUMNS) as f64 * CELL.1;
    let label = "Errors of functions of f32 by argument, in units in the last place";
    plot::document(label, [COLUMNS as f64 * CELL.0, height], |out| {
        for (at, errors) in all.iter().enumerate() {
            let (row, column) = (at / COLUMNS, at % COLUMNS);
            let corner = (column as f64 * CELL.0, row as f64 * CELL.1);
            errors.draw(out, corner)?;
        }
        Ok(())
    })
}

fn errors(name: &'static str, runner: &measure::Runner, exact: reference::One) -> Errors {
    let format = Format::F32;
    let arithmetic = Arithmetic::new(format);
    let fields = 1 << format.exponent;
    let (mut below, mut above) = (vec![0.0f64; fields], vec![0.0f64; fields]);
    let arguments = measure::sample(format, ARGUMENTS, 3);
    for (&x, result) in arguments.iter().zip(runner.run_one(&arguments)) {
        let error = measure::error(arithmetic, result, exact(measure::value(format, x)));
        let field = (x >> format.fraction) as usize;
        let side = if field < fields {
            &mut above
        } else {
            &mut below
        };
        let worst = &mut side[field % fields];
        *worst = worst.max(error);
    }
    Errors { name, below, above }
}

impl Errors {
    /// Draws the errors upwards, over arguments from the largest negative one to the largest, by
    /// their exponents.
    fn draw(&self, out: &mut String, (left, top): (f64, f64)) -> fmt::Result {
        let (width, height) = (CELL.0 - 2.0 * MARGIN, CELL.1 - 2.0 * MARGIN);
        let (left, top) = (left + MARGIN, top + MARGIN);
        let bottom = top + height;
        writeln!(
            out,
            "<text x=\"{left}\" y=\"{}\">{}</text>",
            top - 6.0,
            self.name
        )?;
        for (ulp, label) in [(0.0, "0"), (0.5, "0.5"), (1.0, "1")] {
            let y = bottom - ulp / MOST_ULP * height;
            let right = left + width;
            writeln!(out, "<path class=\"grid\" d=\"M{left} {y}H{right}\"/>")?;
            let end = left - 4.0;
            writeln!(
                out,
                "<text class=\"group\" x=\"{end}\" y=\"{}\">{label}</text>",
                y + 4.0
            )?;
        }
        let values: Vec<f64> = self
            .below
            .iter()
            .rev()
            .chain(&self.above)
            .copied()
            .collect();
        let step = width / values.len() as f64;
        let points = values.iter().enumerate().map(|(at, ulp)| {
            let (x, y) = (at as f64 * step + left, bottom - ulp.min(MOST_ULP) * height);
            format!("{x:.1} {y:.1}")
        });
        let line = points.collect::<Vec<_>>().join("L");
        writeln!(out, "<path class=\"line\" d=\"M{line}\"/>")?;
        let middle = left + width / 2.0;
        for (x, label) in [(left, "-2^127"), (middle, "0"), (left + width, "2^127")] {
            writeln!(
                out,
                "<text class=\"tick\" x=\"{x}\" y=\"{}\">{label}</text>",
                bottom + 14.0
            )?;
        }
        Ok(())
    }
}
