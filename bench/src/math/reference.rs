//! Values of functions in f64, by the library `libm`: the same on every machine, and exact enough
//! to judge results of at most 32 bits.

/// A function of one number.
pub type One = fn(f64) -> f64;
/// A function of two numbers.
pub type Two = fn(f64, f64) -> f64;

/// A reference.
#[derive(Clone, Copy)]
pub enum Reference {
    /// Of one number.
    One(One),
    /// Of two numbers.
    Two(Two),
}

/// The reference of a function, where there is one.
pub fn of(name: &str) -> Option<Reference> {
    let one = |function: One| Some(Reference::One(function));
    let two = |function: Two| Some(Reference::Two(function));
    match name {
        "add" => two(|x, y| x + y),
        "sub" => two(|x, y| x - y),
        "mul" => two(|x, y| x * y),
        "div" => two(|x, y| x / y),
        "fmod" => two(libm::fmod),
        "remainder" => two(libm::remainder),
        "pow" => two(libm::pow),
        "atan2" => two(libm::atan2),
        "hypot" => two(libm::hypot),
        "sqrt" => one(libm::sqrt),
        "cbrt" => one(libm::cbrt),
        "rsqrt" => one(|x| 1.0 / libm::sqrt(x)),
        "floor" => one(libm::floor),
        "ceil" => one(libm::ceil),
        "trunc" => one(libm::trunc),
        "round" => one(libm::round),
        "rint" | "roundeven" => one(libm::rint),
        "fabs" => one(libm::fabs),
        "neg" => one(|x| -x),
        "fdim" => two(libm::fdim),
        "exp" => one(libm::exp),
        "exp2" => one(libm::exp2),
        "expm1" => one(libm::expm1),
        "log" => one(libm::log),
        "log2" => one(libm::log2),
        "log10" => one(libm::log10),
        "log1p" => one(libm::log1p),
        "sin" => one(libm::sin),
        "cos" => one(libm::cos),
        "tan" => one(libm::tan),
        "asin" => one(libm::asin),
        "acos" => one(libm::acos),
        "atan" => one(libm::atan),
        "sinh" => one(libm::sinh),
        "cosh" => one(libm::cosh),
        "tanh" => one(libm::tanh),
        "asinh" => one(libm::asinh),
        // The library cancels for large negative numbers, and then finds a value.
        "acosh" => one(|x| if x < 1.0 { f64::NAN } else { libm::acosh(x) }),
        "atanh" => one(libm::atanh),
        "erf" => one(libm::erf),
        "erfc" => one(libm::erfc),
        "tgamma" => one(libm::tgamma),
        "lgamma" => one(libm::lgamma),
        "sigmoid" => one(|x| {
            if x < 0.0 {
                libm::exp(x) / (1.0 + libm::exp(x))
            } else {
                1.0 / (1.0 + libm::exp(-x))
            }
        }),
        _ => None,
    }
}
