//! Functions of a library of `<math.h>` for secure computation that others wrote and measured:
//! seconds of one call, between two processes, for numbers of 64 bits, as its report prints them;
//! gates and errors as they were counted by running it again.

/// A function as others have it.
pub struct Theirs {
    /// Its name in C.
    pub name: &'static str,
    /// Seconds of a call.
    pub seconds: f64,
    /// AND gates, where they were counted.
    pub ands: Option<f64>,
    /// A remark on its error, where it was looked at.
    pub error: &'static str,
}

const fn theirs(name: &'static str, seconds: f64) -> Theirs {
    Theirs {
        name,
        seconds,
        ands: None,
        error: "",
    }
}

/// All seventeen.
pub const SEVENTEEN: [Theirs; 17] = [
    Theirs {
        ands: Some(1_480_000.0),
        error: "23,000 ULP on [-20, 20]",
        ..theirs("sin", 5.82)
    },
    theirs("cos", 6.71),
    theirs("tan", 6.78),
    theirs("asin", 527.63),
    theirs("acos", 488.23),
    theirs("atan", 552.39),
    theirs("sinh", 3.92),
    theirs("cosh", 3.68),
    theirs("tanh", 5.26),
    theirs("floor", 1.62),
    theirs("ceil", 1.58),
    Theirs {
        ands: Some(4794.0),
        ..theirs("fabs", 1.43)
    },
    Theirs {
        error: "3.7 %",
        ..theirs("pow", 2.48)
    },
    theirs("exp", 2.61),
    theirs("sqrt", 1.36),
    Theirs {
        error: "39 % of results are not exact",
        ..theirs("fmod", 1.75)
    },
    theirs("modf", 2.76),
];
