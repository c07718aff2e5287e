//! Building blocks of oblivious transfers and their papers, for the references of protocols that
//! take them.

use sealane_ot::ferret::Params;
use sealane_ot::{Security as OtSecurity, SoftSpoken};
use sealane_parties::NetworkClass;
use sealane_protocol::{Paper, Security};

/// Parameters of the silent extension that runs take.
pub const SILENT: Params = Params::new(OtSecurity::Malicious);

/// Assumption of base OTs, for a sentence.
#[macro_export]
macro_rules! of_base_ots {
    () => {
        "strong DH in ristretto255 (random oracle)"
    };
}

/// Assumption of silent OTs, for a sentence.
pub const OF_SILENT_OTS: &str = "learning parity with regular noise over a local code";

/// The extension of base OTs.
pub const OT_EXTENSION: Paper = Paper {
    part: "OT extension",
    authors: "Roy",
    venue: "Crypto 2022",
    section: "",
    assumption: "AES-128 in counter mode is a pseudorandom generator",
    security: Security::Computational(128),
};

/// The check of the extension that runs take on this network.
pub const fn ot_check(network: NetworkClass) -> Paper {
    Paper {
        part: "check of OT extension",
        section: "section 4",
        assumption: "against a malicious receiver: BLAKE3 is a random oracle",
        security: Security::Computational(SoftSpoken::on(network).proved_bits()),
        ..OT_EXTENSION
    }
}

/// The check on the network where it proves the least.
pub const OT_CHECK: Paper = ot_check(NetworkClass::LAN);

/// Security of [`OT_CHECK`], the weakest computational part.
pub const OT_CHECK_BITS: u32 = SoftSpoken::on(NetworkClass::LAN).proved_bits();

/// The silent extension.
pub const SILENT_OT: Paper = Paper {
    part: "silent OT, for many inputs below 1 Gbit/s",
    authors: "Yang, Weng, Lan, Zhang, Wang",
    venue: "CCS 2020",
    section: "",
    assumption: OF_SILENT_OTS,
    security: Security::Computational(128),
};

/// Statistical security of [`SILENT_CHECK`].
pub const SILENT_CHECK_BITS: u32 = SILENT.proved_bits().expect("it has a check");

/// The check of the silent extension.
pub const SILENT_CHECK: Paper = Paper {
    part: "check of silent OT",
    section: "section 4.2",
    assumption: "against a malicious sender: none of its own",
    security: Security::Statistical(SILENT_CHECK_BITS),
    ..SILENT_OT
};

/// The trees of the silent extension.
pub const SILENT_TREES: Paper = Paper {
    part: "trees of silent OT",
    authors: "Guo, Yang, Wang, Zhang, Xie, Liu, Zhao",
    venue: "Eurocrypt 2023",
    section: "figure 4",
    assumption: "AES-128 is circular correlation robust under a public key of eight trees",
    security: Security::Computational(120),
};

/// The base OTs.
pub const BASE_OT: Paper = Paper {
    part: "base OT",
    authors: "Masny, Rindal",
    venue: "CCS 2019",
    section: "batched as McQuoid, Rosulek, Roy, Asiacrypt 2021, figure 3",
    assumption: "strong Diffie-Hellman in ristretto255, BLAKE3 as random oracle",
    security: Security::Computational(128),
};
