//! The registry of modes: identifiers, limits, and the dispatch from a key to the code of its mode.
//!
//! A mode has one line in a list: here, or with a build for research in `modes/research`.

use sealane_block::{Cpu, Erased, Tier};

use crate::lanes::lockstep::{Lockstep, lanes_in, tier_for};
use crate::lanes::mode::TextLayout;
use crate::lanes::single::Single;
use crate::lanes::work::{Outcome, Queue};
use crate::lanes::{KeyMaterial, Mode};
use crate::lengths::Request;
use crate::suite::{Limits, USUAL};
use crate::{Cipher, Suite, modes};

/// A mode whose keys a [`Cipher`] may hold.
pub(crate) trait HasKey: Mode {
    /// Returns the key, if it belongs to this mode.
    fn of(cipher: &Cipher) -> Option<&KeyMaterial<Self>>;
}

macro_rules! modes {
    ($($kind:ident $shown:literal $mode:ty => $limits:expr;)*) => {
        /// The identifier of a mode.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(crate) enum ModeId { $($kind,)* }

        impl ModeId {
            /// All modes.
            pub(crate) const ALL: &'static [ModeId] = &[$(ModeId::$kind,)*];

            /// Returns its valid lengths and limits.
            pub(crate) fn limits(self) -> &'static Limits {
                match self {
                    $(ModeId::$kind => {
                        const LIMITS: Limits = $limits;
                        &LIMITS
                    })*
                }
            }

            /// Returns its name in sentences.
            pub(crate) fn display_name(self) -> &'static str {
                match self { $(ModeId::$kind => $shown,)* }
            }
        }

        /// An expanded key of any mode.
        pub(crate) enum Key { $($kind(Erased<KeyMaterial<$mode>>),)* }

        $(impl HasKey for $mode {
            fn of(cipher: &Cipher) -> Option<&KeyMaterial<$mode>> {
                match &cipher.key {
                    Key::$kind(material) => Some(material),
                    #[allow(unreachable_patterns, reason = "a build may have one mode")]
                    _ => None,
                }
            }
        })*

        impl Key {
            /// Expands a key that has the right length.
            pub(crate) fn expand(cpu: Cpu, suite: Suite, key: &[u8]) -> Key {
                match suite.kind {
                    $(ModeId::$kind => {
                        Key::$kind(Erased::new(KeyMaterial::expand(cpu, key, suite.params)))
                    })*
                }
            }
        }

        impl Cipher {
            /// Runs one message. The direction is a value here and not a type, so that kernels are
            /// compiled with this crate and not with each user of it.
            pub(crate) fn run_one(&self, open: bool, request: Request<'_>) -> Outcome {
                match &self.key {
                    $(Key::$kind(material) => {
                        let job = request.job::<$mode>(open, material);
                        if open { self.cpu.run(Single::<$mode, true> { cpu: self.cpu, job }) } else { self.cpu.run(Single::<$mode, false> { cpu: self.cpu, job }) }
                    })*
                }
            }

            /// Runs at most `count` messages of this suite; if `same`, all under this key.
            pub(crate) fn run_many<'a, Q>(
                &'a self,
                open: bool,
                same: bool,
                count: usize,
                queue: &mut Q,
            ) where $(Q: Queue<'a, $mode>,)* {
                let params = self.suite.params;
                let cpu = self.cpu.at_most(tier_for(count));
                match &self.key {
                    $(Key::$kind(material) => {
                        let same = same.then_some(&**material);
                        if open { cpu.run(Lockstep::<$mode, true> { params, same, queue }) } else { cpu.run(Lockstep::<$mode, false> { params, same, queue }) }
                    })*
                }
            }

            /// Computes the places of text and sealed message.
            pub(crate) fn shape(&self, text: usize) -> TextLayout {
                match self.suite.kind {
                    $(ModeId::$kind => <$mode>::shape(&self.suite.params, text),)*
                }
            }

            /// Computes the length of the text of a sealed message: an upper bound, where the
            /// padding determines it.
            pub(crate) fn text_bytes(&self, sealed: usize) -> Option<usize> {
                match self.suite.kind {
                    $(ModeId::$kind => {
                        <$mode>::text_bytes(&self.suite.params, sealed)
                    })*
                }
            }

            /// Returns true if a message of a batch fills the lanes alone, or has none to share.
            pub(crate) fn goes_alone(&self, text: usize) -> bool {
                match self.suite.kind {
                    $(ModeId::$kind => {
                        let tier = self.cpu.tier();
                        let least = <$mode>::ALONE_BYTES.max(16 * lanes_in(tier));
                        let has_lanes = <$mode>::PORTABLE_LANES || tier != Tier::Portable;
                        !has_lanes || (text >= least && <$mode>::PARALLEL)
                    })*
                }
            }
        }
    };
}

with_research_modes! { modes!
    Ecb "ECB" modes::ecb::Ecb => Limits {
        name: "ecb",
        nonce_bytes: [0, 0],
        tags: &[0],
        ad: None,
        whole_blocks: true,
        ..USUAL
    };
    Ctr "CTR" modes::ctr::Ctr => Limits { name: "ctr", tags: &[0], ad: None, ..USUAL };
    Cbc "CBC" modes::cbc::Cbc => Limits {
        name: "cbc",
        tags: &[0],
        ad: None,
        whole_blocks: true,
        ..USUAL
    };
    Ccm "CCM" modes::ccm::Ccm => Limits {
        name: "ccm",
        nonce_bytes: [7, 13],
        tags: &[16, 4, 6, 8, 10, 12, 14],
        ..USUAL
    };
    Gcm "GCM" modes::gcm::Gcm => Limits {
        name: "gcm",
        nonce_bytes: [1, 1 << 16],
        tags: &[16, 12, 13, 14, 15],
        // SP 800-38D, section 5.2.1.1: 2^39 - 256 bits; section 8.3: invocations under a key.
        text: (1 << 36) - 32,
        messages: 1 << 32,
        ..USUAL
    };
    Ocb3 "OCB3" modes::ocb3::Ocb3 => Limits { name: "ocb3", nonce_bytes: [1, 15], ..USUAL };
}
