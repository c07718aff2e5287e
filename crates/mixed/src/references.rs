//! Building blocks of both protocols and their papers, as on the pages `docs/protocols/gmw.md` and
//! `docs/protocols/mixed.md`.

use crate::cost::scheme;
use sealane_garble::Scheme;
use sealane_party::of_base_ots;
use sealane_party::papers::{
    BASE_OT, OF_SILENT_OTS, OT_CHECK, OT_EXTENSION, SILENT_CHECK, SILENT_OT, SILENT_TREES, ot_check,
};
use sealane_protocol::{Basis, Correlation, Demand, Paper, Profile, Security, Setting};
use sealane_yao::sides::{FREE_XOR, HALF_GATES, MI, SLICING, YAO};

/// Assumptions of all.
pub(crate) const ASSUMPTION: &str = concat!("AES is an ideal cipher; ", of_base_ots!());

/// The parts, from the whole protocol to its base.
pub(crate) const fn references(labels: bool) -> &'static [Paper] {
    if labels { WITH_LABELS } else { SHARES }
}

const SHARES: &[Paper] = &[
    XOR_SHARES,
    PRODUCTS,
    ADDITIVE_SHARES,
    KNOWN_PRODUCTS,
    DABITS,
    HASH,
    OT_EXTENSION,
    OT_CHECK,
    SILENT_OT,
    SILENT_CHECK,
    SILENT_TREES,
    BASE_OT,
];

const WITH_LABELS: &[Paper] = &[
    XOR_SHARES,
    PRODUCTS,
    ADDITIVE_SHARES,
    KNOWN_PRODUCTS,
    DABITS,
    YAO,
    FREE_XOR,
    SLICING,
    HALF_GATES,
    MI,
    PROJECTIONS,
    HASH,
    OT_EXTENSION,
    OT_CHECK,
    SILENT_OT,
    SILENT_CHECK,
    SILENT_TREES,
    BASE_OT,
];

const XOR_SHARES: Paper = part(
    "XOR shares",
    "Goldreich, Micali, Wigderson",
    "STOC 1987",
    "",
);
const PRODUCTS: Paper = part("products", "Beaver", "CRYPTO 1991", "");
const ADDITIVE_SHARES: Paper = part(
    "additive shares",
    "Demmler, Schneider, Zohner",
    "NDSS 2015",
    "section III",
);
const KNOWN_PRODUCTS: Paper = part(
    "products by known numbers",
    "Gilboa",
    "CRYPTO 1999",
    "section 4",
);
const DABITS: Paper = part(
    "bits as ring elements",
    "Rathee, Kumar, Chandran, Gupta, Rastogi, Sharma",
    "CCS 2020",
    "",
);

const HASH: Paper = Paper {
    part: "hash of transfers",
    authors: "Guo, Katz, Wang, Weng, Yu",
    venue: "Crypto 2020",
    section: "",
    assumption: "AES-128 is an ideal cipher",
    security: Security::Computational(120),
};

/// The step from labels to ring elements, in this form ours: `docs/protocols/mixed.md`.
const PROJECTIONS: Paper = Paper {
    part: "labels to ring elements",
    authors: "Ball, Malkin, Rosulek",
    venue: "CCS 2016",
    section: "",
    assumption: "AES is an ideal cipher",
    security: Security::Computational(127),
};

/// A part that rests on those beneath alone.
const fn part(
    part: &'static str,
    authors: &'static str,
    venue: &'static str,
    section: &'static str,
) -> Paper {
    Paper {
        part,
        authors,
        venue,
        section,
        assumption: "semi-honest parties",
        security: Security::Perfect,
    }
}

/// Basis of a run with this demand: with the transfers that it takes, if it takes any. Those of a
/// pool may be silent, and of either network, since the fill decides that.
pub(crate) fn basis(profile: &Profile, setting: &Setting, demand: &Demand) -> Basis {
    let any = demand
        .0
        .keys()
        .any(|kind| matches!(kind, Correlation::Cot { .. }));
    let silent = any && (setting.silent || setting.pooled);
    let assumption = if silent {
        format!("{}; {OF_SILENT_OTS}", profile.assumption)
    } else {
        profile.assumption.to_string()
    };
    let slices = scheme(setting) == Scheme::ThreeHalves;
    Basis::of(profile, &assumption, |paper| match paper {
        SLICING => slices.then_some(paper),
        OT_CHECK if setting.pooled => any.then_some(paper),
        OT_CHECK => any.then_some(ot_check(setting.network)),
        HASH | OT_EXTENSION | BASE_OT => any.then_some(paper),
        SILENT_OT | SILENT_CHECK | SILENT_TREES => silent.then_some(paper),
        _ => Some(paper),
    })
}
