//! Functions of fixed point of the reference.
//!
//! A result may be either of the two numbers next to a value; the digits of the circuit decide, and
//! they are the same under every protocol. So a result is that of the circuit, run gate by gate for
//! one number at a time, and has to be off by less than a unit from the value that `f64` has.

use super::{Tensor, each};
use sealane_circuit::{Builder, Circuit, Goal, Word, eval_words};
use sealane_program::call::{of_fixed, of_power};
use sealane_program::graph::Value;
use sealane_program::types::Type;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

/// Returns whether a call by this name on such values is one of a function of fixed point.
pub fn is_call(name: &str, operands: &[&Value]) -> bool {
    let known = match operands.len() {
        1 => of_fixed(name).is_some(),
        _ => of_power(name).is_some(),
    };
    known && operands.iter().any(|value| value.ty.is_fixed())
}

/// The results of such a call, of type `ty`.
pub fn call(name: &str, operands: &[&Value], ty: Type, numbers: &[&Tensor]) -> Tensor {
    let circuit = circuit(name, operands, ty);
    let least = match operands {
        [_, exponent] => i128::from(exponent.range.lo < 0),
        _ => i128::MIN,
    };
    let scale = |stored: i128, ty: Type| stored as f64 / 2f64.powi(ty.fraction().into());
    let mut result = each(numbers, |x| {
        let given = x.iter().map(|&x| x as u128).collect::<Vec<_>>();
        let found = eval_words(&circuit, &given).expect("operands of the circuit")[0];
        let shift = 128 - u32::from(ty.bits());
        let found = if ty.is_signed() {
            (found as i128) << shift >> shift
        } else {
            found as i128
        };
        let exact = match x {
            [x] => value(name, scale(*x, operands[0].ty), operands[0].ty),
            [x, y] => scale(*x.max(&least), operands[0].ty).powf(scale(*y, operands[1].ty)),
            _ => unreachable!("one or two operands"),
        };
        let exact = exact * 2f64.powi(ty.fraction().into());
        let exact = exact.clamp(ty.range().lo as f64, ty.range().hi as f64);
        let off = (found as f64 - exact).abs();
        // What `f64` itself may be off.
        let unsure = exact.abs() * 2f64.powi(-40);
        assert!(off < 1.0 + unsure, "{name} of {x:?} is off by {off} units");
        found
    });
    result.ty = ty;
    result
}

/// The circuit of a call, whose operands are words of 128 bits.
fn circuit(name: &str, operands: &[&Value], ty: Type) -> Circuit {
    static KNOWN: LazyLock<Mutex<HashMap<String, Circuit>>> = LazyLock::new(Mutex::default);
    let of = operands.iter().map(|value| (value.ty, value.range));
    let of = of.collect::<Vec<_>>();
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let make = || {
        let mut b = Builder::for_goal(Goal::Size);
        let words = of.iter().map(|_| b.input(128)).collect::<Vec<Word>>();
        let result = match (of_fixed(name), of_power(name), &of[..]) {
            (Some(call), _, &[(from, range)]) => {
                let points = call.points(from, range, ty);
                call.function.build(&mut b, &words[0], &points)
            }
            (_, Some(call), &[base, exponent]) => {
                let powers = call.powers([base, exponent], ty);
                powers.build(&mut b, &words[0], &words[1])
            }
            _ => unreachable!("a function of fixed point"),
        };
        b.finish(vec![result])
    };
    let key = format!("{name} of {of:?} to {ty}");
    known.entry(key).or_insert_with(make).clone()
}

/// The value of a function of one number, at the nearest one that has a value.
fn value(name: &str, x: f64, ty: Type) -> f64 {
    let unit = 2f64.powi(-i32::from(ty.fraction()));
    let plain = name.strip_suffix("_saturate").unwrap_or(name);
    match plain {
        "exp" => x.exp(),
        "exp2" => x.exp2(),
        "expm1" => x.exp_m1(),
        "log" => x.max(unit).ln(),
        "log2" => x.max(unit).log2(),
        "log10" => x.max(unit).log10(),
        "log1p" => x.max(unit - 1.0).ln_1p(),
        "sqrt" => x.max(0.0).sqrt(),
        "rsqrt" => 1.0 / x.max(unit).sqrt(),
        "cbrt" => x.cbrt(),
        "sin" => x.sin(),
        "cos" => x.cos(),
        "tan" => x.clamp(-1.5, 1.5).tan(),
        "asin" => x.clamp(-1.0, 1.0).asin(),
        "acos" => x.clamp(-1.0, 1.0).acos(),
        "atan" => x.atan(),
        "sinh" => x.sinh(),
        "cosh" => x.cosh(),
        "tanh" => x.tanh(),
        "sigmoid" => 1.0 / (1.0 + (-x).exp()),
        name => panic!("the reference does not know `{name}` of fixed point"),
    }
}
