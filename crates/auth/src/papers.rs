//! Building blocks of `auth` over a dealer and their papers, as on the page
//! `docs/protocols/auth.md`.

use sealane_protocol::{Paper, Security};

/// Computational security: that of a sum of MACs of `2^28` bits, of which a party may try other
/// bits until the challenge is a root of the polynomial of its changes.
pub(crate) const BITS: u32 = 100;

/// The parts of the protocol.
pub(crate) const OVER_A_DEALER: &[Paper] = &[AUTHENTICATED, HALF_GATES, MI];

const AUTHENTICATED: Paper = Paper {
    part: "authenticated garbling",
    authors: "Wang, Ranellucci, Katz",
    venue: "CCS 2017",
    section: "",
    assumption: "BLAKE3 is a random oracle; at most 2^28 bits are opened at once",
    security: Security::Computational(BITS),
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
