//! Building blocks of `yao` and their papers, as on the page `docs/protocols/yao.md`. Labels have
//! 127 random bits: one is the permute bit.

use sealane_party::papers::{
    BASE_OT, OF_SILENT_OTS, OT_CHECK, OT_EXTENSION, SILENT_CHECK, SILENT_OT, SILENT_TREES, ot_check,
};
use sealane_protocol::{Basis, Demand, Paper, Profile, Security, Setting};

/// The parts of `yao`, from the whole protocol to its base.
pub(crate) const MULTI_INSTANCE: &[Paper] = &[
    YAO,
    FREE_XOR,
    HALF_GATES,
    MI,
    OT_EXTENSION,
    OT_CHECK,
    SILENT_OT,
    SILENT_CHECK,
    SILENT_TREES,
    BASE_OT,
];

/// The parts of `yao-three-halves`. Where a party knows an operand, one half of a half-gates AND
/// remains.
pub(crate) const THREE_HALVES: &[Paper] = &[
    YAO,
    FREE_XOR,
    SLICING,
    HALF_GATES,
    MI,
    OT_EXTENSION,
    OT_CHECK,
    SILENT_OT,
    SILENT_CHECK,
    SILENT_TREES,
    BASE_OT,
];

/// Basis of a run whose hash has this assumption: with the transfers that it takes, if it takes
/// any. Those of a pool may be silent, and of either network, since the fill decides that.
pub(crate) fn basis(profile: &Profile, hash: &str, setting: &Setting, demand: &Demand) -> Basis {
    let any = !demand.is_empty();
    let silent = any && (setting.silent || setting.pooled);
    let assumption = match (any, silent) {
        (false, _) => hash.to_string(),
        (true, false) => profile.assumption.to_string(),
        (true, true) => format!("{}; {OF_SILENT_OTS}", profile.assumption),
    };
    Basis::of(profile, &assumption, |paper| match paper {
        OT_EXTENSION | BASE_OT => any.then_some(paper),
        OT_CHECK if setting.pooled => any.then_some(paper),
        OT_CHECK => any.then_some(ot_check(setting.network)),
        SILENT_OT | SILENT_CHECK | SILENT_TREES => silent.then_some(paper),
        _ => Some(paper),
    })
}

/// The protocol.
pub const YAO: Paper = Paper {
    part: "garbled circuits",
    authors: "Lindell, Pinkas",
    venue: "J. Cryptology 2009",
    section: "section 4",
    assumption: "semi-honest parties",
    security: Security::Perfect,
};

/// XORs without tables.
pub const FREE_XOR: Paper = Paper {
    part: "free XOR",
    authors: "Kolesnikov, Schneider",
    venue: "ICALP 2008",
    section: "",
    assumption: "circular correlation robust hash (Choi, Katz, Kumaresan, Zhou, TCC 2012)",
    security: Security::Computational(127),
};

/// 25 bytes for each AND.
pub const SLICING: Paper = Paper {
    part: "three-halves",
    authors: "Rosulek, Roy",
    venue: "Crypto 2021",
    section: "section 5",
    assumption: "AES-128 is an ideal cipher; with three control bits",
    security: Security::Computational(127),
};

/// Two blocks for each AND.
pub const HALF_GATES: Paper = Paper {
    part: "half gates",
    authors: "Zahur, Rosulek, Evans",
    venue: "Eurocrypt 2015",
    section: "figure 2; section 3.1 where a party knows an operand",
    assumption: "the same of the hash, with tweaks",
    security: Security::Computational(127),
};

/// The hash of labels.
pub const MI: Paper = Paper {
    part: "gate hash MI",
    authors: "Guo, Katz, Wang, Weng, Yu",
    venue: "Crypto 2020",
    section: "",
    assumption: "AES-128 is an ideal cipher",
    security: Security::Computational(127),
};
