//! The modes, one file each, and what several of them share.

pub(crate) mod cbc;
pub(crate) mod ccm;
#[cfg(feature = "research")]
pub(crate) mod cobra;
#[cfg(feature = "research")]
pub(crate) mod copa;
pub(crate) mod ctr;
pub(crate) mod ocb3;
#[cfg(feature = "research")]
pub(crate) mod otr;
pub(crate) mod shared;
#[cfg(feature = "research")]
mod xls;
