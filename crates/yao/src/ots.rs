//! The source of the evaluator's labels.

use sealane_ot::source::ahead::{AheadReceiver, AheadSender};
use sealane_ot::source::{AnyReceiver, AnySender, Source};
use sealane_party::{Fault, Stock};

/// Oblivious transfers of a run at the garbler.
pub(crate) type SenderOts = Ots<AnySender, AheadSender>;
/// Oblivious transfers of a run at the evaluator.
pub(crate) type ReceiverOts = Ots<AnyReceiver, AheadReceiver>;

/// Oblivious transfers of a run, at one party.
pub(crate) enum Ots<T, A> {
    /// None: the evaluator has no inputs.
    None,
    /// Made as they are used.
    Extension(T),
    /// Made ahead, by a silent extension.
    Ahead(A),
    /// Random OTs of a pool.
    Stock(Box<dyn Stock>),
}

impl SenderOts {
    /// OTs of a source that is set up.
    pub(crate) fn of(source: Source, sender: AnySender) -> SenderOts {
        match source {
            Source::SoftSpoken(_) => Ots::Extension(sender),
            Source::Silent(_, params) => Ots::Ahead(AheadSender::new(sender, params.given())),
        }
    }
}

impl ReceiverOts {
    /// OTs of a source that is set up.
    pub(crate) fn of(source: Source, receiver: AnyReceiver) -> ReceiverOts {
        match source {
            Source::SoftSpoken(_) => Ots::Extension(receiver),
            Source::Silent(_, params) => Ots::Ahead(AheadReceiver::new(receiver, params.given())),
        }
    }
}

/// A step needs OTs that the plan did not count.
pub(crate) fn no_ots() -> Fault {
    Fault::internal("no OT prepared")
}
