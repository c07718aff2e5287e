//! The modes, one file each, and their shared code.

/// Calls the macro `$each` with a list of modes. A build with the feature `research` replaces this
/// macro with one that adds the modes of the study.
#[allow(unused_macros, reason = "the folder `research` replaces it")]
macro_rules! with_research_modes {
    ($each:ident! $($modes:tt)*) => { $each! { $($modes)* } };
}

/// Calls the macro `$each` with a list of types for [`traits`](crate::traits), as
/// `with_research_modes` does with modes.
#[allow(unused_macros, reason = "the folder `research` replaces it")]
macro_rules! with_research_types {
    ($each:ident! $($types:tt)*) => { $each! { $($types)* } };
}

pub(crate) mod cbc;
pub(crate) mod ccm;
pub(crate) mod ctr;
pub(crate) mod ecb;
pub(crate) mod gcm;
pub(crate) mod horner;
pub(crate) mod ocb3;
#[cfg(feature = "research")]
#[macro_use]
pub(crate) mod research;
pub(crate) mod shared;
