//! The modes, one file each, and what several of them share.

pub(crate) mod cbc;
pub(crate) mod ccm;
#[cfg(feature = "research")]
pub(crate) mod cloc;
#[cfg(feature = "research")]
pub(crate) mod cobra;
#[cfg(feature = "research")]
pub(crate) mod copa;
pub(crate) mod ctr;
#[cfg(feature = "research")]
pub(crate) mod jambu;
#[cfg(feature = "research")]
pub(crate) mod julius;
#[cfg(feature = "research")]
pub(crate) mod mcoe_g;
pub(crate) mod ocb3;
#[cfg(feature = "research")]
pub(crate) mod otr;
#[cfg(feature = "research")]
pub(crate) mod poet;
pub(crate) mod shared;
#[cfg(feature = "research")]
pub(crate) mod silc;
#[cfg(feature = "research")]
pub(crate) mod xls;
