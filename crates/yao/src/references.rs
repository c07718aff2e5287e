//! Building blocks of `yao` and their papers, as on the page `docs/protocols/yao.md`. Labels have
//! 127 random bits: one is the permute bit.

use crate::cost::SILENT;
use sealane_ot::SoftSpoken;
use sealane_parties::NetworkClass;
use sealane_protocol::{Basis, Demand, Paper, Profile, Security, Setting};

/// Assumption of base OTs, for a sentence.
macro_rules! of_base_ots {
    () => {
        "strong DH in ristretto255 (random oracle)"
    };
}
pub(crate) use of_base_ots;

/// Assumption of silent OTs, for a sentence.
const OF_SILENT_OTS: &str = "learning parity with regular noise over a local code";

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

const YAO: Paper = Paper {
    part: "garbled circuits",
    authors: "Lindell, Pinkas",
    venue: "J. Cryptology 2009",
    section: "section 4",
    assumption: "semi-honest parties",
    security: Security::Perfect,
};

const FREE_XOR: Paper = Paper {
    part: "free XOR",
    authors: "Kolesnikov, Schneider",
    venue: "ICALP 2008",
    section: "",
    assumption: "circular correlation robust hash (Choi, Katz, Kumaresan, Zhou, TCC 2012)",
    security: Security::Computational(127),
};

const SLICING: Paper = Paper {
    part: "three-halves",
    authors: "Rosulek, Roy",
    venue: "Crypto 2021",
    section: "section 5",
    assumption: "AES-128 is an ideal cipher; with three control bits",
    security: Security::Computational(127),
};

const HALF_GATES: Paper = Paper {
    part: "half gates",
    authors: "Zahur, Rosulek, Evans",
    venue: "Eurocrypt 2015",
    section: "figure 2; section 3.1 where a party knows an operand",
    assumption: "the same of the hash, with tweaks",
    security: Security::Computational(127),
};

const MI: Paper = Paper {
    part: "gate hash MI",
    authors: "Guo, Katz, Wang, Weng, Yu",
    venue: "Crypto 2020",
    section: "",
    assumption: "AES-128 is an ideal cipher",
    security: Security::Computational(127),
};

const OT_EXTENSION: Paper = Paper {
    part: "OT extension",
    authors: "Roy",
    venue: "Crypto 2022",
    section: "",
    assumption: "AES-128 in counter mode is a pseudorandom generator",
    security: Security::Computational(128),
};

/// The check of the extension that runs take on this network.
const fn ot_check(network: NetworkClass) -> Paper {
    Paper {
        part: "check of OT extension",
        section: "section 4",
        assumption: "against a malicious receiver: BLAKE3 is a random oracle",
        security: Security::Computational(SoftSpoken::on(network).proved_bits()),
        ..OT_EXTENSION
    }
}

/// The check on the network where it proves the least.
const OT_CHECK: Paper = ot_check(NetworkClass::LAN);

/// Security of [`OT_CHECK`], the weakest computational part.
pub(crate) const OT_CHECK_BITS: u32 = SoftSpoken::on(NetworkClass::LAN).proved_bits();

const SILENT_OT: Paper = Paper {
    part: "silent OT, for many inputs below 1 Gbit/s",
    authors: "Yang, Weng, Lan, Zhang, Wang",
    venue: "CCS 2020",
    section: "",
    assumption: OF_SILENT_OTS,
    security: Security::Computational(128),
};

/// Statistical security of [`SILENT_CHECK`].
pub(crate) const SILENT_CHECK_BITS: u32 = SILENT.proved_bits().expect("it has a check");

const SILENT_CHECK: Paper = Paper {
    part: "check of silent OT",
    section: "section 4.2",
    assumption: "against a malicious sender: none of its own",
    security: Security::Statistical(SILENT_CHECK_BITS),
    ..SILENT_OT
};

const SILENT_TREES: Paper = Paper {
    part: "trees of silent OT",
    authors: "Guo, Yang, Wang, Zhang, Xie, Liu, Zhao",
    venue: "Eurocrypt 2023",
    section: "figure 4",
    assumption: "AES-128 is circular correlation robust under a public key of eight trees",
    security: Security::Computational(120),
};

const BASE_OT: Paper = Paper {
    part: "base OT",
    authors: "Masny, Rindal",
    venue: "CCS 2019",
    section: "batched as McQuoid, Rosulek, Roy, Asiacrypt 2021, figure 3",
    assumption: "strong Diffie-Hellman in ristretto255, BLAKE3 as random oracle",
    security: Security::Computational(128),
};
