//! Rounds and memory of a run: the flow of its steps, with clocks in place of data.

use super::clock::Delays;
use super::memory::{Live, check_bits, working_bits};
use super::walk::{Counter, TileStep};
use crate::flow::{self, Call, Driver, Refill, TileRun};
use sealane_protocol::{Demand, Flight, LeftOver, Protocol, Walk};
use std::collections::HashMap;
use std::convert::Infallible;
use std::marker::PhantomData;
use std::rc::Rc;

/// Returns the largest stamp of a run that begins with the flights of the set-up, which leaves some
/// correlations over, and ends with those of the reveal, whose offline part comes before the first
/// input if all offline parts do; and the most bytes that shares take at a time.
pub(super) fn rounds_and_bytes<P: Protocol>(
    counter: &Counter,
    rows: &[u64],
    set_up: (&[Flight], LeftOver),
    reveal: &[Vec<Flight>; 2],
) -> (u64, u64) {
    let mut timer = Timer::<P>::new(counter, set_up, &reveal[0]);
    match flow::run(counter.plan, rows, &mut timer) {
        Ok(()) => {
            let bytes = timer.live.iter().map(Live::most_bytes).sum();
            (timer.finish(&reveal[1]), bytes)
        }
        Err(never) => match never {},
    }
}

/// Flights one after the other, with their repetitions; pieces without flights are left out.
type Pieces = Rc<Vec<(u64, Vec<Flight>)>>;

/// A call by its segment, step, rows and walk, whether it is a carry, and whether its tile is the
/// first.
type PieceKey = (usize, usize, u64, Walk, bool, bool);

/// Position of a call in its pieces.
struct Position {
    pieces: Pieces,
    piece: usize,
    times: u64,
    flight: usize,
}

/// Moment at which a tile was begun: the state of the flow, and the number of tiles left.
struct Moment {
    state: Vec<u32>,
    left: u64,
    /// Tiles to simulate until a later moment is taken: twice as many each time, so that one is
    /// soon taken within the cycle into which tiles settle, and cycles of any length are found
    /// (Brent, "An improved Monte Carlo factorization algorithm", BIT 20, 1980, section 2).
    patience: u64,
}

struct Timer<'a, P> {
    counter: &'a Counter<'a>,
    /// Clocks at the moment.
    then: Delays,
    /// Delays since the moment.
    since: Delays,
    /// Delays at the end of the last step round.
    before: Delays,
    under_way: HashMap<Call, Position>,
    /// Pieces of calls, and the bits that these take, and leave until they are settled.
    known: HashMap<PieceKey, (Pieces, [u64; 2])>,
    /// Shares that are alive in each walk.
    live: [Live; 2],
    /// Flights of the offline part of the reveal, until it has run.
    reveal: Option<&'a [Flight]>,
    moment: Option<Moment>,
    /// Correlations that refills have left over.
    left_over: LeftOver,
    /// Demand of the latest refill, since which the delays are then counted, by its segment.
    supplied: Option<(usize, Demand)>,
    /// Refills since the moment.
    refills: u64,
    protocol: PhantomData<P>,
}

/// Most step rounds after which calls under way return to the same position in their loops; longer
/// cycles are simulated step round by step round.
const MOST_STEP_ROUNDS: u64 = 1 << 16;

impl<'a, P: Protocol> Timer<'a, P> {
    fn new(
        counter: &'a Counter<'a>,
        (set_up, left_over): (&[Flight], LeftOver),
        reveal: &'a [Flight],
    ) -> Timer<'a, P> {
        let start = Delays::none(counter.setting.parties);
        let mut since = start.clone();
        since.pass(1, set_up);
        Timer {
            counter,
            before: start.clone(),
            then: start,
            since,
            under_way: HashMap::new(),
            known: HashMap::new(),
            live: [(); 2].map(|()| Live::new(counter)),
            reveal: Some(reveal),
            moment: None,
            left_over,
            supplied: None,
            refills: 0,
            protocol: PhantomData,
        }
    }

    /// Returns the rounds of the run, which ends with the flights of the reveal.
    fn finish(mut self, reveal: &[Flight]) -> u64 {
        if let Some(offline) = self.reveal.take() {
            self.since.pass(1, offline);
        }
        self.since.pass(1, reveal);
        self.then.then(&self.since).rounds()
    }

    fn end(&mut self, call: &Call) {
        self.live[call.walk.index()].end::<P>(self.counter, call);
    }

    /// Begins to count delays anew.
    fn cut(&mut self) {
        self.then = self.then.then(&self.since);
        self.since = Delays::none(self.counter.setting.parties);
    }

    /// Delays of a refill.
    fn refilled(&self, made: &Demand) -> Delays {
        let mut delays = Delays::none(self.counter.setting.parties);
        if !made.is_empty() {
            let cost = P::refill_cost(self.counter.setting, made);
            delays.pass(1, &cost.flights);
        }
        delays
    }

    /// Adds groups of tiles that are walked as the latest one, each after a refill for as many.
    fn repeat(&mut self, demand: &Demand, times: u64) {
        let setting = self.counter.setting;
        let refills = self.left_over.refills::<P>(setting, demand, times);
        let walk = self.since.clone();
        for (made, times) in refills.series() {
            let none = Delays::none(setting.parties);
            let group =
                |delays: Delays, made: &Demand| delays.then(&self.refilled(made)).then(&walk);
            let groups = made.into_iter().fold(none, group);
            self.since = self.since.then(&groups.power(times));
        }
    }

    /// The pieces of a call, and the bits that it takes while it is under way and leaves behind.
    fn pieces(&mut self, call: &Call) -> (Pieces, [u64; 2]) {
        let TileRun {
            segment,
            rows,
            tile,
            ..
        } = call.run;
        let (combined, walk) = (tile >= 2, call.walk);
        let key = (segment, call.step, rows, walk, call.carry, combined);
        if let Some((pieces, bits)) = self.known.get(&key) {
            return (Rc::clone(pieces), *bits);
        }
        let op = &self.counter.plan.segments[segment].steps[call.step].op;
        let pieces = if call.carry {
            self.counter.carry(op).into_iter().collect::<Vec<_>>()
        } else {
            self.counter.pieces::<P>(TileStep {
                segment,
                step: call.step,
                rows: rows.max(1),
                walk,
                combined,
            })
        };
        let working = working_bits::<P>(self.counter, call, &pieces);
        let bits = [working, check_bits::<P>(self.counter, &pieces)];
        let flights = pieces.into_iter().map(|piece| {
            let cost = self.counter.cost::<P>(walk, &piece.work);
            (piece.times, cost.flights)
        });
        let talks = |(times, flights): &(u64, Vec<Flight>)| *times > 0 && !flights.is_empty();
        let pieces = Rc::new(flights.filter(talks).collect::<Vec<_>>());
        self.known.insert(key, (Rc::clone(&pieces), bits));
        (pieces, bits)
    }
}

impl<P: Protocol> Driver for Timer<'_, P> {
    type Error = Infallible;

    fn refill(&mut self, refill: &Refill) -> Result<(), Infallible> {
        let demand = self.counter.supply::<P>(refill);
        if demand.is_empty() {
            return Ok(());
        }
        let made = self.left_over.refill::<P>(self.counter.setting, &demand);
        self.since = self.since.then(&self.refilled(&made));
        self.cut();
        self.supplied = Some((refill.segment, demand));
        self.refills += 1;
        Ok(())
    }

    fn prepared(&mut self) -> Result<(), Infallible> {
        // The walk over the segments begins anew.
        self.moment = None;
        self.supplied = None;
        if let Some(offline) = self.reveal.take() {
            self.since.pass(1, offline);
        }
        Ok(())
    }

    fn begin(&mut self, call: &Call) -> Result<bool, Infallible> {
        // No tile precedes the first one.
        if call.carry && call.run.tile == 0 {
            return Ok(true);
        }
        let (pieces, bits) = self.pieces(call);
        self.live[call.walk.index()].begin::<P>(self.counter, call, bits);
        if pieces.is_empty() {
            self.end(call);
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

    fn step_round(&mut self) -> Result<(), Infallible> {
        self.before = self.since.clone();
        Ok(())
    }

    fn advance(&mut self, call: &Call) -> Result<bool, Infallible> {
        let Some(at) = self.under_way.get_mut(call) else {
            return Ok(true);
        };
        let (times, flights) = &at.pieces[at.piece];
        self.since.flight(&flights[at.flight], &self.before);
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
            self.end(call);
        }
        Ok(finished)
    }

    fn close(&mut self, run: &TileRun) -> Result<(), Infallible> {
        self.live.iter_mut().for_each(|live| live.close(run));
        Ok(())
    }

    fn finish_alone(&mut self, call: &Call) -> Result<(), Infallible> {
        let Some(at) = self.under_way.remove(call) else {
            return Ok(());
        };
        self.end(call);
        let (mut times, mut flight) = (at.times, at.flight);
        for (all, flights) in &at.pieces[at.piece..] {
            if flight > 0 {
                self.since.pass(1, &flights[flight..]);
                times += 1;
            }
            self.since.pass(all - times, flights);
            (times, flight) = (0, 0);
        }
        Ok(())
    }

    /// Skips step rounds of calls in the middle of loops: as many common cycles of all loops as fit
    /// before the first of them ends.
    fn leap(&mut self, calls: &[(Call, u64)]) -> u64 {
        let (mut period, mut left) = (1, u64::MAX);
        for (call, _) in calls {
            let Some(at) = self.under_way.get(call) else {
                return 0;
            };
            let (times, flights) = &at.pieces[at.piece];
            let flights = flights.len() as u64;
            period = least_common_multiple(period, flights);
            left = left.min((times - at.times) * flights - at.flight as u64 - 1);
        }
        let rounds = left / period;
        if rounds < 2 || period > MOST_STEP_ROUNDS {
            return 0;
        }
        let mut once = Delays::none(self.counter.setting.parties);
        for step_round in 0..period as usize {
            let before = once.clone();
            for (call, _) in calls {
                let at = &self.under_way[call];
                let (_, flights) = &at.pieces[at.piece];
                once.flight(&flights[(at.flight + step_round) % flights.len()], &before);
            }
        }
        self.since = self.since.then(&once.power(rounds));
        for (call, _) in calls {
            let Some(at) = self.under_way.get_mut(call) else {
                continue;
            };
            at.times += rounds * period / at.pieces[at.piece].1.len() as u64;
        }
        rounds * period
    }

    fn skip(&mut self, state: &[u32], left: u64) -> u64 {
        let mut patience = 1;
        if let Some(moment) = self.moment.take_if(|moment| moment.state[0] == state[0]) {
            let tiles = moment.left - left;
            if moment.state == state {
                let periods = left / tiles;
                let segment = state[0] as usize;
                let supplied = self.supplied.take_if(|(of, _)| *of == segment);
                match supplied {
                    // Refills may differ, so that one group of tiles alone is repeated.
                    Some((_, demand)) if self.refills == 1 => self.repeat(&demand, periods),
                    Some(_) => return 0,
                    None => self.since = self.since.power(periods + 1),
                }
                return periods * tiles;
            }
            if tiles < moment.patience {
                self.moment = Some(moment);
                return 0;
            }
            patience = 2 * moment.patience;
        }
        // What has passed since a refill is a group of tiles by itself.
        self.cut();
        self.refills = 0;
        self.moment = Some(Moment {
            state: state.to_vec(),
            left,
            patience,
        });
        0
    }
}

fn least_common_multiple(a: u64, b: u64) -> u64 {
    let (mut divisor, mut rest) = (a, b);
    while rest > 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (a / divisor).saturating_mul(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::walk;
    use crate::plan_in_tiles;
    use sealane_parties::NetworkClass;
    use sealane_program::graph::summed_rows;
    use sealane_protocol::{Algebra, Correlation, Setting};
    use sealane_testkit::fake::Honest;
    use sealane_testkit::masked::Masked;
    use sealane_testkit::random_program::random_program;

    /// Timer that skips nothing: every tile, every step round and every flight by itself.
    struct Walked<'a>(Timer<'a, Honest>);

    impl Driver for Walked<'_> {
        type Error = Infallible;

        fn refill(&mut self, refill: &Refill) -> Result<(), Infallible> {
            self.0.refill(refill)
        }
        fn prepared(&mut self) -> Result<(), Infallible> {
            self.0.prepared()
        }
        fn begin(&mut self, call: &Call) -> Result<bool, Infallible> {
            self.0.begin(call)
        }
        fn step_round(&mut self) -> Result<(), Infallible> {
            self.0.step_round()
        }
        fn advance(&mut self, call: &Call) -> Result<bool, Infallible> {
            self.0.advance(call)
        }
        fn close(&mut self, run: &TileRun) -> Result<(), Infallible> {
            self.0.close(run)
        }
    }

    /// Units of the masked protocol are 5, 3 and 7, and other ones where much is lacking, so that
    /// cycles are short, or longer than a run, and may begin late.
    #[test]
    fn refills_in_cycles_make_what_they_make_one_by_one() {
        let setting = Setting::in_order(&Masked::profile(), 3);
        let triple = |algebra| Correlation::Triple { algebra };
        let kinds = [triple(Algebra::Z2), triple(Algebra::Z2k(8))];
        let cases = (0..9).flat_map(|a| (0..9).flat_map(move |b| (0..40).map(move |n| [a, b, n])));
        for [first, second, times] in cases {
            let mut demand = Demand::default();
            demand.add(kinds[0], first);
            demand.add(kinds[1], second);
            let mut one_by_one = LeftOver::default();
            let mut before = Demand::default();
            before.add(kinds[0], 2);
            one_by_one.refill::<Masked>(&setting, &before);
            let mut at_once = one_by_one.clone();
            let made = (0..times).map(|_| one_by_one.refill::<Masked>(&setting, &demand));
            let made = made.collect::<Vec<_>>();
            let refills = at_once.refills::<Masked>(&setting, &demand, times);
            assert_eq!(at_once, one_by_one, "{first} and {second}, {times} times");
            let all = refills.series().into_iter();
            let all = all.flat_map(|(part, times)| part.repeat(times as usize));
            assert_eq!(all.cloned().collect::<Vec<_>>(), made);
            let mut counted = made.iter().filter(|made| !made.is_empty()).count() as u64;
            for (demand, times) in refills.counts() {
                assert_eq!(
                    made.iter().filter(|made| *made == demand).count() as u64,
                    times
                );
                counted -= times;
            }
            assert_eq!(counted, 0);
        }
    }

    #[test]
    fn what_is_left_out_counts_as_if_it_were_walked() {
        let mut planned = 0;
        for seed in 0..400 {
            let program = random_program(seed).program;
            let tile = 1 + seed % 3;
            // A body may need all rows at once.
            let plan = plan_in_tiles::<Honest>(&program, 1, NetworkClass::LAN, tile);
            let Ok(plan) = plan else { continue };
            planned += 1;
            let mut known = Vec::new();
            for (index, symbol) in program.rows.iter().enumerate() {
                let sum = summed_rows(symbol, &known);
                known.push(sum.or_else(|| [61, 44].get(index).copied()));
            }
            let rows = known.into_iter().flatten().collect::<Vec<_>>();
            let walk = walk::Counts::run::<Honest>(&plan, &plan.setting, &rows);
            let counter = Counter {
                plan: &plan,
                setting: &plan.setting,
                rows: &rows,
                known: walk::Known::default(),
            };
            let mut walked = Walked(Timer::new(
                &counter,
                (&walk.set_up_flights, LeftOver::default()),
                &walk.reveal_flights[0],
            ));
            match flow::run(&plan, &rows, &mut walked) {
                Ok(()) => {}
                Err(never) => match never {},
            }
            let walked = walked.0.finish(&walk.reveal_flights[1]);
            let (counted, _) = walk.rounds_and_bytes::<Honest>(&plan, &plan.setting, &rows);
            assert_eq!(counted, walked, "{}", plan.text());
        }
        assert!(planned > 200, "{planned} of 400");
    }
}
