//! The source of the evaluator's labels.

use sealane_ot::OtError;
use sealane_parties::PartyId;
use sealane_party::{Fault, Stock};

/// Oblivious transfers of a run, at one party.
pub(crate) enum Ots<T> {
    /// None: the evaluator has no inputs.
    None,
    /// An extension, made in this run.
    Extension(T),
    /// Random OTs of a pool, with the other party.
    Stock(Box<dyn Stock>, PartyId),
}

impl<T> Ots<T> {
    /// Takes those of a pool, if there are any; else begins an extension, if the run `needs` it.
    pub(crate) fn new(
        stock: Option<Box<dyn Stock>>,
        peer: PartyId,
        needs: bool,
        set_up: impl FnOnce() -> Result<T, OtError>,
    ) -> Result<Ots<T>, Fault> {
        match stock {
            _ if !needs => Ok(Ots::None),
            Some(stock) => Ok(Ots::Stock(stock, peer)),
            None => Ok(Ots::Extension(set_up()?)),
        }
    }

    /// Goes on with the set-up of an extension.
    pub(crate) fn then<U>(
        self,
        next: impl FnOnce(T) -> Result<U, OtError>,
    ) -> Result<Ots<U>, Fault> {
        Ok(match self {
            Ots::None => Ots::None,
            Ots::Extension(ot) => Ots::Extension(next(ot)?),
            Ots::Stock(stock, peer) => Ots::Stock(stock, peer),
        })
    }
}

/// A step needs OTs that the plan did not count.
pub(crate) fn no_ots() -> Fault {
    Fault::internal("no OT prepared")
}
