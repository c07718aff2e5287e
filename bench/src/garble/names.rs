//! Names of the metrics of the suite.

/// Names of the metrics of a side.
pub(super) struct Names {
    pub(super) and: GateNames,
    pub(super) xor: GateNames,
    pub(super) kept: &'static str,
    pub(super) fraction: &'static str,
    pub(super) improvement: &'static str,
    pub(super) over_aesni: &'static str,
}

/// Names of the metrics of a kind of gate.
pub(super) struct GateNames {
    pub(super) cycles: &'static str,
    pub(super) least: &'static str,
    pub(super) all: &'static str,
    pub(super) ns: &'static str,
    pub(super) speed: &'static str,
}

/// The garbler, then the evaluator.
pub(super) const SIDES: [Names; 2] = [
    Names {
        and: GateNames {
            cycles: "garble_cycles_per_and",
            least: "garble_cycles_per_and_min",
            all: "garble_cycles_per_and_all",
            ns: "garble_ns_per_and",
            speed: "garble_million_ands_per_s",
        },
        xor: GateNames {
            cycles: "garble_cycles_per_xor",
            least: "garble_cycles_per_xor_min",
            all: "garble_cycles_per_xor_all",
            ns: "garble_ns_per_xor",
            speed: "garble_million_xors_per_s",
        },
        kept: "garble_windows_kept",
        fraction: "garble_of_aes_limit",
        improvement: "garble_improvement",
        over_aesni: "garble_over_aesni",
    },
    Names {
        and: GateNames {
            cycles: "eval_cycles_per_and",
            least: "eval_cycles_per_and_min",
            all: "eval_cycles_per_and_all",
            ns: "eval_ns_per_and",
            speed: "eval_million_ands_per_s",
        },
        xor: GateNames {
            cycles: "eval_cycles_per_xor",
            least: "eval_cycles_per_xor_min",
            all: "eval_cycles_per_xor_all",
            ns: "eval_ns_per_xor",
            speed: "eval_million_xors_per_s",
        },
        kept: "eval_windows_kept",
        fraction: "eval_of_aes_limit",
        improvement: "eval_improvement",
        over_aesni: "eval_over_aesni",
    },
];
