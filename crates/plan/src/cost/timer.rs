//! The rounds of a run: the flow of its steps, with clocks in place of data.

use super::clock::Clocks;
use super::walk::Counter;
use crate::flow::{self, Block, Call, Driver};
use sealane_protocol::{Flight, Protocol};
use std::collections::HashMap;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::rc::Rc;

/// The largest stamp of a run that begins with the flights of the preparation and ends with those
/// of the reveal.
pub(super) fn rounds<P: Protocol>(
    counter: &Counter,
    rows: &[u64],
    prepare: &[Flight],
    reveal: &[Flight],
) -> u64 {
    let clocks = Clocks::new(counter.setting.parties);
    let mut timer = Timer::<P> {
        counter,
        before: clocks.clone(),
        clocks,
        under_way: HashMap::new(),
        known: HashMap::new(),
        seen: HashMap::new(),
        protocol: PhantomData,
    };
    timer.clocks.pass(1, prepare);
    match flow::run(counter.plan, rows, &mut timer) {
        Ok(()) => {}
        Err(never) => match never {},
    }
    timer.clocks.pass(1, reveal);
    timer.clocks.rounds
}

/// Flights one after the other, so many times over; only what has any.
type Pieces = Rc<Vec<(u64, Vec<Flight>)>>;

/// How far a call has come.
struct Position {
    pieces: Pieces,
    piece: usize,
    times: u64,
    flight: usize,
}

/// States of the flow at which a tile was taken up, how many tiles were left and how the clocks
/// stood; the latest first.
type Seen = HashMap<Vec<u32>, Vec<(u64, Clocks)>>;

struct Timer<'a, P> {
    counter: &'a Counter<'a>,
    clocks: Clocks,
    /// The clocks when the last turn ended.
    before: Clocks,
    under_way: HashMap<Call, Position>,
    /// By segment, step, rows and whether it is a carry.
    known: HashMap<(usize, usize, u64, bool), Pieces>,
    seen: Seen,
    protocol: PhantomData<P>,
}

/// States that are remembered, and moments of each. Tiles settle into a rhythm soon or never.
const STATES: usize = 64;
const MOMENTS: usize = 8;

impl<P: Protocol> Timer<'_, P> {
    fn pieces(&mut self, call: &Call) -> Pieces {
        let Block { segment, rows, .. } = call.block;
        let key = (segment, call.step, rows, call.carry);
        if let Some(pieces) = self.known.get(&key) {
            return Rc::clone(pieces);
        }
        let op = &self.counter.plan.segments[segment].steps[call.step].op;
        let pieces = match call.carry {
            true => self.counter.carry(op).into_iter().collect(),
            false => self.counter.pieces(op, rows.max(1)),
        };
        let flights = pieces.into_iter().map(|piece| {
            let cost = P::cost(self.counter.setting, &piece.work);
            (piece.times, cost.flights)
        });
        let talks = |(times, flights): &(u64, Vec<Flight>)| *times > 0 && !flights.is_empty();
        let pieces = Rc::new(flights.filter(talks).collect::<Vec<_>>());
        self.known.insert(key, Rc::clone(&pieces));
        pieces
    }
}

impl<P: Protocol> Driver for Timer<'_, P> {
    type Error = Infallible;

    fn begin(&mut self, call: &Call) -> Result<bool, Infallible> {
        // Nothing came before the first tile.
        if call.carry && call.block.tile == 0 {
            return Ok(true);
        }
        let pieces = self.pieces(call);
        if pieces.is_empty() {
            return Ok(true);
        }
        let position = Position {
            pieces,
            piece: 0,
            times: 0,
            flight: 0,
        };
        self.under_way.insert(*call, position);
        Ok(false)
    }

    fn turn(&mut self) -> Result<(), Infallible> {
        self.before = self.clocks.clone();
        Ok(())
    }

    fn advance(&mut self, call: &Call) -> Result<bool, Infallible> {
        let Some(at) = self.under_way.get_mut(call) else {
            return Ok(true);
        };
        let (times, flights) = &at.pieces[at.piece];
        self.clocks.flight(&flights[at.flight], &self.before);
        at.flight += 1;
        if at.flight == flights.len() {
            (at.flight, at.times) = (0, at.times + 1);
        }
        if at.times == *times {
            (at.times, at.piece) = (0, at.piece + 1);
        }
        let finished = at.piece == at.pieces.len();
        if finished {
            self.under_way.remove(call);
        }
        Ok(finished)
    }

    fn close(&mut self, _: &Block) -> Result<(), Infallible> {
        Ok(())
    }

    fn finish_alone(&mut self, call: &Call) -> Result<(), Infallible> {
        let Some(at) = self.under_way.remove(call) else {
            return Ok(());
        };
        let (mut times, mut flight) = (at.times, at.flight);
        for (all, flights) in &at.pieces[at.piece..] {
            if flight > 0 {
                self.clocks.pass(1, &flights[flight..]);
                times += 1;
            }
            self.clocks.pass(all - times, flights);
            (times, flight) = (0, 0);
        }
        Ok(())
    }

    fn skip(&mut self, state: &[u32], left: u64) -> u64 {
        if self.seen.len() > STATES {
            self.seen.clear();
        }
        let moments = self.seen.entry(state.to_vec()).or_default();
        let mut periods = moments.iter().filter_map(|(then, clocks)| {
            let step = self.clocks.since(clocks)?;
            Some((then - left, step))
        });
        if let Some((tiles, step)) = periods.next() {
            let skipped = left / tiles;
            self.clocks.shift(skipped * step);
            self.seen.clear();
            return skipped * tiles;
        }
        moments.insert(0, (left, self.clocks.clone()));
        moments.truncate(MOMENTS);
        0
    }
}
