//! Errors of functions of f32 against their arguments: a small picture for each function.

use super::errors::{Errors, of_samples};
use super::reference;
use crate::plot;
use sealane_circuit::Goal;
use sealane_numeric::{Arithmetic, Error, Format, functions, measure};
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
struct Curve {
    name: &'static str,
    below: Vec<f64>,
    above: Vec<f64>,
}

/// The picture of all functions of f32 that are not always correctly rounded, as one SVG file.
/// Those of two numbers are shown over the first one.
pub fn errors_svg() -> String {
    let arithmetic = Arithmetic::new(Format::F32);
    let inexact = functions().filter(|function| function.error != Error::Rounded);
    let curves: Vec<Curve> = inexact
        .filter_map(|function| {
            let exact = reference::of(function.name)?;
            let runner = measure::Runner::new(function, arithmetic, Goal::Size);
            let errors = of_samples(&runner, arithmetic, exact, ARGUMENTS);
            Some(Curve::of(function.name, &errors))
        })
        .collect();
    let height = curves.len().div_ceil(COLUMNS) as f64 * CELL.1;
    let label = "Errors of functions of f32 by argument, in units in the last place";
    plot::document(label, [COLUMNS as f64 * CELL.0, height], |out| {
        for (at, curve) in curves.iter().enumerate() {
            let (row, column) = (at / COLUMNS, at % COLUMNS);
            curve.draw(out, (column as f64 * CELL.0, row as f64 * CELL.1))?;
        }
        Ok(())
    })
}

impl Curve {
    fn of(name: &'static str, errors: &Errors) -> Curve {
        let format = Format::F32;
        let fields = 1 << format.exponent;
        let (mut below, mut above) = (vec![0.0f64; fields], vec![0.0f64; fields]);
        for (row, error) in errors {
            let field = (row[0] >> format.fraction) as usize;
            let side = if field < fields {
                &mut above
            } else {
                &mut below
            };
            let worst = &mut side[field % fields];
            *worst = worst.max(*error);
        }
        Curve { name, below, above }
    }

    /// Draws the errors upwards, over arguments from the largest negative one to the largest, by
    /// their exponents. A function that takes no negative numbers has only the right half.
    fn draw(&self, out: &mut String, (left, top): (f64, f64)) -> fmt::Result {
        let (width, height) = (CELL.0 - 2.0 * MARGIN, CELL.1 - 2.0 * MARGIN);
        let (left, top) = (left + MARGIN, top + MARGIN);
        let (right, bottom) = (left + width, top + height);
        let (name, above) = (self.name, top - 6.0);
        writeln!(out, "<text x=\"{left}\" y=\"{above}\">{name}</text>")?;
        for (ulp, label) in [(0.0, "0"), (0.5, "0.5"), (1.0, "1")] {
            let y = bottom - ulp / MOST_ULP * height;
            writeln!(out, "<path class=\"grid\" d=\"M{left} {y}H{right}\"/>")?;
            plot::text(out, "group", left - 4.0, y + 4.0, label)?;
        }
        let values = self.below.iter().rev().chain(&self.above);
        let step = width / (self.below.len() + self.above.len()) as f64;
        let points = values.enumerate().map(|(at, ulp)| {
            let (x, y) = (at as f64 * step + left, bottom - ulp.min(MOST_ULP) * height);
            format!("{x:.1} {y:.1}")
        });
        let line = points.collect::<Vec<_>>().join("L");
        writeln!(out, "<path class=\"line\" d=\"M{line}\"/>")?;
        let (middle, base) = (left + width / 2.0, bottom + 14.0);
        for (x, label) in [(left, "-2^127"), (middle, "0"), (right, "2^127")] {
            plot::text(out, "tick", x, base, label)?;
        }
        Ok(())
    }
}
