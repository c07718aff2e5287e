//! Shuffle in three turns, each with a resharing, so that every message has a proof.
//!
//! In turn `i` roles `i` and `i + 1` draw an order `o`, a mask `r` and `y_(i+1)` from the key that
//! they have in common, `k_(i+1)`, and send to the third role, which knows none of the three:
//!
//! ```text
//! role i        y_i     = o(x_i + x_(i+1)) + r
//! role i + 1    y_(i+2) = o(x_(i+2)) + r + y_(i+1)
//! ```
//!
//! The `y` are components of the rows in the order `o`. Both messages are uniform to their
//! receiver, together too. After the turns of all three pairs, each role lacks one of the orders.
//! Six elements of a row cross in three flights, two from each role. The shuffle of `trio` has
//! four, of which two go through two orders before they cross: those are no statements of crate
//! `proof`.
//!
//! As statements, place by place, with the rows at one verifier and the order at the other:
//!
//! | prover | rows at | constant beside them | order at | constant beside it |
//! |---|---|---|---|---|
//! | role `i` | left: `x_i` | `y_i` | right: `o` | `r + o(x_(i+1))` |
//! | role `i + 1` | right: `x_(i+2)` | `y_(i+2)` | left: `o` | `r + y_(i+1)` |

use crate::arrive::{recv, send};
use crate::order::{Order, Rows};
use crate::record::Prover;
use crate::roles::Computing;
use sealane_net::Mesh;
use sealane_party::{Fault, Planes, Result};
use sealane_proof::{Known, Turn, Turns};
use std::sync::Arc;

/// Turns of a shuffle.
pub(super) const TURNS: usize = 3;

/// Both components of rows.
type Components = [Arc<Planes<u64>>; 2];

/// A turn of whose order this role knows.
struct Led {
    order: Order,
    /// The rows of its own statement.
    rows: Arc<Planes<u64>>,
    /// The constant beside the order in the statement of its partner.
    constant: Planes<u64>,
}

/// The turn of both other roles.
struct Followed {
    /// The rows, which are those of the statements of the role before and of the next one.
    rows: Components,
    /// Their messages, in the same order.
    messages: Components,
}

/// All three turns of a shuffle at one role: what it proves and verifies.
pub(crate) struct Turned {
    turn: Turn,
    /// The turn with the next role.
    first: Led,
    /// The turn with the role before.
    second: Led,
    third: Followed,
}

impl Turned {
    /// The shape of both statements of each role.
    pub(super) fn shapes(&self) -> [Turn; 2] {
        [self.turn; 2]
    }

    /// The statements that a role makes, at this one.
    pub(crate) fn of(&self, prover: Prover) -> Turns<'_> {
        let [first, second] = [&self.first, &self.second];
        let Followed {
            rows: [previous, next],
            messages: [of_previous, of_next],
        } = &self.third;
        let (known, constants) = match prover {
            Prover::Own => {
                let left = [rows(&first.rows), order(&second.order)];
                let right = [order(&first.order), rows(&second.rows)];
                ([left, right].concat(), vec![])
            }
            // As the left verifier of the next role.
            Prover::Other(1) => (
                vec![rows(next), order(&first.order)],
                vec![of_next.data(), first.constant.data()],
            ),
            // As the right one of the role before.
            Prover::Other(_) => (
                vec![order(&second.order), rows(previous)],
                vec![second.constant.data(), of_previous.data()],
            ),
        };
        Turns { known, constants }
    }
}

#[cfg(test)]
impl Turned {
    /// Changes one of its values at one role: orders by two places, rows by a bit.
    pub(super) fn harm(&mut self, value: usize) {
        let flip = |of: &mut Planes<u64>| of.data_mut()[0] ^= 1;
        let other = |of: &mut Arc<Planes<u64>>| {
            let form = Rows::bits(of.data().len() / self.turn.words, 64 * self.turn.words).form;
            let mut changed = form.sum([of.data()]);
            flip(&mut changed);
            *of = Arc::new(changed);
        };
        match value {
            0 => self.first.order.swap(),
            1 => self.second.order.swap(),
            2 => flip(&mut self.first.constant),
            3 => flip(&mut self.second.constant),
            4 => other(&mut self.first.rows),
            5 => other(&mut self.second.rows),
            6 | 7 => other(&mut self.third.rows[value - 6]),
            _ => other(&mut self.third.messages[value - 8]),
        }
    }

    /// Values that [`Turned::harm`] can change.
    pub(super) const VALUES: usize = 10;
}

fn rows(of: &Arc<Planes<u64>>) -> Known<'_> {
    Known::Rows(of.data())
}

fn order(of: &Order) -> Known<'_> {
    Known::Order(of.rows())
}

/// The statements of a shuffle of so many rows of so many bits.
pub(super) fn shape(rows: usize, bits: usize) -> Turn {
    let words = Rows::bits(rows, bits).width();
    Turn { rows, words }
}

/// A shuffle between two flights.
pub(crate) struct Turning {
    rows: Rows,
    turn: Turn,
    parts: Components,
    /// The turn whose messages are in transit.
    number: usize,
    first: Option<Led>,
    second: Option<Led>,
    third: Option<Followed>,
}

/// Progress of a shuffle.
pub(crate) enum TurnProgress {
    More(Box<Turning>),
    /// Both components of the rows in their new order.
    Done(Components, Box<Turned>),
}

impl Turning {
    /// Begins a shuffle of so many rows of so many bits.
    pub(crate) fn begin(
        party: &mut Computing,
        (rows, bits): (usize, usize),
        parts: [Planes<u64>; 2],
        mesh: &mut Mesh,
    ) -> Result<Box<Turning>> {
        let mut turning = Box::new(Turning {
            rows: Rows::bits(rows, bits),
            turn: shape(rows, bits),
            parts: parts.map(Arc::new),
            number: 0,
            first: None,
            second: None,
            third: None,
        });
        turning.give(party, mesh)?;
        Ok(turning)
    }

    /// Reads the messages of a turn, and writes those of the next one.
    pub(crate) fn advance(
        mut self: Box<Self>,
        party: &mut Computing,
        mesh: &mut Mesh,
    ) -> Result<TurnProgress> {
        self.take(party, mesh)?;
        self.number += 1;
        if self.number < TURNS {
            self.give(party, mesh)?;
            return Ok(TurnProgress::More(self));
        }
        let Turning {
            turn,
            parts,
            first: Some(first),
            second: Some(second),
            third: Some(third),
            ..
        } = *self
        else {
            return Err(Fault::internal("a shuffle has lost a turn"));
        };
        let turned = Turned {
            turn,
            first,
            second,
            third,
        };
        Ok(TurnProgress::Done(parts, Box::new(turned)))
    }

    /// The place of this role among those of the turn: 0 and 1 know the order.
    fn place(&self, party: &Computing) -> usize {
        (party.role_index.role + 3 - self.number) % 3
    }

    /// Writes this role's message.
    fn give(&mut self, party: &mut Computing, mesh: &mut Mesh) -> Result<()> {
        let (form, role_index, cpu) = (self.rows.form, party.role_index, party.cpu);
        let (key, place) = match self.place(party) {
            0 => (&mut party.keys.next, 0),
            1 => (&mut party.keys.own, 1),
            _ => return Ok(()),
        };
        let order = key.order(self.turn.rows);
        #[cfg(test)]
        let order = super::tests::sort::harmed_order(order, self.number);
        let (mask, fresh) = (key.mask(form), key.mask(form));
        let [own, next] = &self.parts;
        let moved = |rows: &Planes<u64>| order.of_rows(self.rows, rows.data());
        let led = |rows: &Arc<Planes<u64>>, constant| (Arc::clone(rows), constant);
        let (message, (rows, constant), to) = if place == 0 {
            let all = moved(&form.sum([own.data(), next.data()]));
            let message = form.sum([all.data(), mask.data()]);
            let constant = form.sum([mask.data(), fresh.data()]);
            (message, led(own, constant), role_index.previous)
        } else {
            let message = form.sum([moved(next).data(), mask.data(), fresh.data()]);
            let constant = form.sum([moved(own).data(), mask.data()]);
            (message, led(next, constant), role_index.next)
        };
        send(Some(cpu), form, message.data(), to, mesh)?;
        let led = Led {
            order,
            rows,
            constant,
        };
        let [message, fresh] = [message, fresh].map(Arc::new);
        if place == 0 {
            self.parts = [message, fresh];
            self.first = Some(led);
        } else {
            self.parts = [fresh, message];
            self.second = Some(led);
        }
        Ok(())
    }

    /// Reads the messages of both others, if the turn is theirs.
    fn take(&mut self, party: &Computing, mesh: &mut Mesh) -> Result<()> {
        if self.place(party) < 2 {
            return Ok(());
        }
        let (form, role_index) = (self.rows.form, party.role_index);
        let from = [role_index.previous, role_index.next];
        let [previous, next] = from.map(|from| recv(Some(party.cpu), form, from, mesh));
        let messages = [previous?, next?].map(Arc::new);
        // The first one is this role's own component, from the role before.
        let rows = std::mem::replace(&mut self.parts, messages.clone());
        self.third = Some(Followed { rows, messages });
        Ok(())
    }
}
