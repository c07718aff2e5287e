//! The modes, one file each, and what several of them share.

pub(crate) mod cbc;
pub(crate) mod ccm;
#[cfg(feature = "research")]
pub(crate) mod cloc;
pub(crate) mod ctr;
#[cfg(feature = "research")]
pub(crate) mod jambu;
pub(crate) mod ocb3;
pub(crate) mod shared;
#[cfg(feature = "research")]
pub(crate) mod silc;
