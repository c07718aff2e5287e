//! Building blocks of `trio` and their papers, as on the page `docs/protocols/trio.md`.

use sealane_protocol::{Paper, Security};

/// The parts, from the whole protocol to its base.
pub(crate) const REFERENCES: &[Paper] = &[
    Paper {
        part: "sharing, products",
        authors: "Araki, Furukawa, Lindell, Nof, Ohara",
        venue: "CCS 2016",
        section: "",
        assumption: "of the three who compute one is semi-honest, and no two collude",
        security: Security::Perfect,
    },
    Paper {
        part: "shares of zero",
        authors: "Araki, Furukawa, Lindell, Nof, Ohara",
        venue: "CCS 2016",
        section: "",
        assumption: "AES-128 in counter mode is a pseudorandom function",
        security: Security::Computational(128),
    },
    Paper {
        part: "lookup",
        authors: "Launchbury, Diatchki, DuBuisson, Adams-Moran",
        venue: "ICFP 2012",
        section: "section 3",
        assumption: "none of its own: products of bits",
        security: Security::Perfect,
    },
    Paper {
        part: "lookup under masks",
        authors: "Chaudhari, Choudhury, Patra, Suresh",
        venue: "CCSW 2019",
        section: "",
        assumption: "of the three who compute one is semi-honest, and no two collude",
        security: Security::Perfect,
    },
    Paper {
        part: "conversions",
        authors: "Mohassel, Rindal",
        venue: "CCS 2018",
        section: "",
        assumption: "none of its own: inputs and products",
        security: Security::Perfect,
    },
    Paper {
        part: "shuffles",
        authors: "Laur, Willemson, Zhang",
        venue: "ISC 2011",
        section: "",
        assumption: "of the three who compute one is semi-honest, and no two collude",
        security: Security::Perfect,
    },
    Paper {
        part: "sorts",
        authors: "Asharov, Hamada, Ikarashi, Kikuchi, Nof, Pinkas, Takahashi, Tomida",
        venue: "CCS 2022",
        section: "",
        assumption: "none of its own: conversions, products and shuffles",
        security: Security::Perfect,
    },
];

/// The parts of the profile against a malicious party.
pub(crate) const GUARDED: &[Paper] = &[
    Paper {
        assumption: "of the three who compute one may deviate, and no two collude",
        ..REFERENCES[0]
    },
    REFERENCES[1],
    REFERENCES[2],
    Paper {
        assumption: "of the three who compute one may deviate, and no two collude",
        ..REFERENCES[3]
    },
    Paper {
        assumption: "of the three who compute one may deviate, and no two collude",
        ..REFERENCES[5]
    },
    Paper {
        assumption: "none of its own: products and shuffles",
        ..REFERENCES[6]
    },
    Paper {
        part: "proofs",
        authors: "Boyle, Gilboa, Ishai, Nof",
        venue: "CCS 2019",
        section: "",
        assumption: "BLAKE3 is a random oracle",
        security: Security::Computational(116),
    },
];
