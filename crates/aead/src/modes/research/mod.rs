//! The modes of the study: for comparison only, some of them are broken.
//!
//! Everything of a build with the feature `research` is in this folder. The two macros register its
//! modes and types, in place of those of the parent module, which add none.

macro_rules! with_research_modes {
    ($each:ident! $($modes:tt)*) => {
        $each! {
            $($modes)*
            Cloc "CLOC" modes::research::cloc::Cloc => Limits {
                name: "cloc",
                nonce_bytes: [12, 12],
                tags: &[8],
                versions: &["v1", "v3"],
                ..USUAL
            };
            Silc "SILC" modes::research::silc::Silc => Limits {
                name: "silc",
                nonce_bytes: [12, 12],
                tags: &[8],
                versions: &["v1", "v3"],
                ..USUAL
            };
            Jambu "AES-JAMBU" modes::research::jambu::Jambu => Limits {
                name: "jambu",
                nonce_bytes: [8, 8],
                tags: &[8],
                versions: &["v1", "v2"],
                ..USUAL
            };
            Otr "OTR" modes::research::otr::Otr => Limits {
                name: "otr",
                nonce_bytes: [1, 15],
                versions: &["v1", "v3"],
                ..USUAL
            };
            Copa "COPA" modes::research::copa::Copa => Limits {
                name: "copa",
                versions: &["v1", "v2"],
                ..USUAL
            };
            Cobra "COBRA-R1" modes::research::cobra::Cobra => Limits { name: "cobra_r1", ..USUAL };
            McoeG "McOE-G" modes::research::mcoe_g::McoeG => Limits {
                name: "mcoe_g",
                key_bytes: 32,
                ..USUAL
            };
            Poet "POET" modes::research::poet::Poet => Limits {
                name: "poet",
                versions: &["v1", "v2"],
                ..USUAL
            };
            Julius "Julius" modes::research::julius::Julius => Limits {
                name: "julius",
                text_unknown: true,
                ..USUAL
            };
        }
    };
}

macro_rules! with_research_types {
    ($each:ident! $($types:tt)*) => {
        $each! {
            $($types)*
            /// For research only: AES-OTR, version 1.
            Aes128OtrV1: Otr 1, U16 U12 U16;
            /// For research only: AES-CLOC, version 1, with tags of 8 bytes.
            Aes128ClocV1: Cloc 1, U16 U12 U8;
            /// For research only: AES-SILC, version 1, with tags of 8 bytes.
            Aes128SilcV1: Silc 1, U16 U12 U8;
            /// For research only: AES-JAMBU, with nonces and tags of 8 bytes.
            Aes128Jambu: Jambu 1, U16 U8 U8;
            /// For research only: AES-COPA, version 1.
            Aes128CopaV1: Copa 1, U16 U16 U16;
            /// For research only: POET, version 1.
            Aes128PoetV1: Poet 1, U16 U16 U16;
            /// For research only: McOE-G, with keys of 32 bytes.
            Aes128McoeG: McoeG 0, U32 U16 U16;
            /// For research only: COBRA-R1, our reconstruction.
            Aes128CobraR1: Cobra 0, U16 U16 U16;
        }
    };
}

pub(crate) mod cloc;
pub(crate) mod cobra;
pub(crate) mod copa;
mod horner;
pub(crate) mod jambu;
pub(crate) mod julius;
pub(crate) mod mcoe_g;
pub(crate) mod otr;
pub(crate) mod poet;
mod shared;
pub(crate) mod silc;
mod wave;
mod xls;
