//! Tests that types with secrets can be neither printed nor encoded, and are erased when dropped:
//! [`heap`] looks for them in freed memory. The stack, and whole sessions with every random value
//! in them, are checked under Valgrind.

mod erased;
mod heap;

use sealane_block::{Aes128, Aes128Many, Block, Coins, Group, Prg, SecretStream, Seed};
use sealane_garble::{Evaluator, Garbler};
use sealane_identity::Identity;
use sealane_net::Payload;
use sealane_ot::softspoken::{Receiver, ReceiverSetup, Sender, SenderSetup};
use sealane_party::{Opened, Outcome, Planes, Selected, Step};
use sealane_program::types::Data;
use sealane_trio::{Share, TrioParty};
use sealane_yao::{Labels, YaoParty};
use serde::Serialize;
use static_assertions::assert_not_impl_any;
use std::fmt::{Debug, Display};
use std::mem::needs_drop;

/// None of these types can be printed or encoded.
macro_rules! silent {
    ($($secret:ty),* $(,)?) => {
        $(assert_not_impl_any!($secret: Debug, Display, Serialize);)*
    };
}

silent! {
    Block, Group, Prg, Coins, Seed, SecretStream, Aes128, Aes128Many, Garbler, Evaluator, Sender,
    SenderSetup, Receiver, ReceiverSetup, Labels, Planes<u8>, Planes<u64>, Share, YaoParty, TrioParty, Data, Identity,
    Step<'static, YaoParty>, Step<'static, TrioParty>, Outcome<YaoParty>, Outcome<TrioParty>,
    Selected<Labels>, Selected<Share>, Opened<Labels>, Opened<Share>,
}

// The `Debug` form of a payload shows nothing of its contents; `net` tests that.
assert_not_impl_any!(Payload: Display, Serialize);

#[test]
fn what_holds_secrets_ends_with_more_than_being_forgotten() {
    let dropped = [
        needs_drop::<Prg>(),
        needs_drop::<Coins>(),
        needs_drop::<Seed>(),
        needs_drop::<SecretStream>(),
        needs_drop::<Aes128>(),
        needs_drop::<Aes128Many>(),
        needs_drop::<Garbler>(),
        needs_drop::<Evaluator>(),
        needs_drop::<Sender>(),
        needs_drop::<Receiver>(),
        needs_drop::<Labels>(),
        needs_drop::<Planes<u8>>(),
        needs_drop::<Share>(),
        needs_drop::<Data>(),
        needs_drop::<Payload>(),
    ];
    assert!(dropped.into_iter().all(|drops| drops), "{dropped:?}");
}
