//! Building blocks of `auth` and their papers, as on the page `docs/protocols/auth.md`.

use crate::sums;
use sealane_party::papers::{BASE_OT, OT_CHECK, OT_CHECK_BITS, OT_EXTENSION};
use sealane_protocol::{Paper, Security};

/// Computational security: that of the check of OTs, and of a sum of MACs, of which the latter is
/// no lower.
pub(crate) const BITS: u32 = OT_CHECK_BITS;
const _: () = assert!(BITS <= sums::BITS);

/// The parts of the protocol over a dealer.
pub(crate) const OVER_A_DEALER: &[Paper] = &[AUTHENTICATED, HALF_GATES, MI];

/// Its parts over correlated OTs.
pub(crate) const OVER_TRANSFERS: &[Paper] = &[
    AUTHENTICATED,
    HALF_GATES,
    PRODUCTS,
    BUCKETS,
    MI,
    OT_EXTENSION,
    OT_CHECK,
    BASE_OT,
];

/// Its products, of which a party may have learnt a factor.
const PRODUCTS: Paper = Paper {
    part: "leaky products",
    section: "section 5",
    security: Security::Statistical(46),
    ..HALF_GATES
};

/// Buckets, which make them products that nobody knows.
const BUCKETS: Paper = Paper {
    part: "buckets of products",
    section: "section 4",
    assumption: "BLAKE3 is a random oracle: shifts are a coin that both committed to",
    security: Security::Statistical(40),
    ..AUTHENTICATED
};

const AUTHENTICATED: Paper = Paper {
    part: "authenticated garbling",
    authors: "Wang, Ranellucci, Katz",
    venue: "CCS 2017",
    section: "",
    assumption: "BLAKE3 is a random oracle",
    security: Security::Computational(sums::BITS),
};

/// Its tables. Labels have 127 random bits, offsets 126.
const HALF_GATES: Paper = Paper {
    part: "half gates over masks",
    authors: "Katz, Ranellucci, Rosulek, Wang",
    venue: "Crypto 2018",
    section: "",
    assumption: "the hash is circular correlation robust",
    security: Security::Computational(126),
};

const MI: Paper = Paper {
    part: "gate hash MI",
    authors: "Guo, Katz, Wang, Weng, Yu",
    venue: "Crypto 2020",
    section: "",
    assumption: "AES-128 is an ideal cipher",
    security: Security::Computational(126),
};
