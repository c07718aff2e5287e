//! `sealane pool`: oblivious transfers that this party made ahead with others.

use crate::args::{PoolArgs, PoolVerb};
use sealane_diagnostic::Code;
use sealane_host::Failure;
use sealane_host::config::Config;
use sealane_host::connect::{self, Meeting};
use sealane_host::pool::keep::{Keeper, News};
use sealane_host::pool::{self, Amount, Covered, transfers};
use sealane_host::progress::TransferProgress;
use sealane_host::record::unix_us;
use sealane_page::Card;
use sealane_page::units::{bytes, date, grouped, seconds};
use sealane_pool::Order;
use sealane_terminal::CancelOnSignal;
use sealane_terminal::print_card;
use serde_json::{Value, json};
use std::io::{Write, stderr};

/// Runs a verb.
///
/// # Errors
/// The configuration, the other party, the network, or the files.
pub fn pool(args: &PoolArgs) -> Result<(), Failure> {
    let config = Config::find(args.config.as_deref())?;
    let identity = args.identity.as_deref();
    let own = connect::own_name(args.party.as_deref(), &config, identity)?;
    match &args.verb {
        PoolVerb::Fill {
            with,
            transfers,
            keep,
            evaluator,
            network,
            no_progress,
        } => {
            let amount = Amount {
                transfers: *transfers,
                evaluator: evaluator.as_deref(),
                network: connect::network(*network, Some(&config)),
            };
            let mut meeting = connect::prepare_pair([&own, with], &config, identity)?;
            let order = amount.order(&meeting.names())?;
            let work = CancelOnSignal::begin();
            meeting.cancelled_by(work.cancel());
            if let Some(keep) = keep {
                let least = pool::least(*keep, *transfers, &meeting, &config)?;
                let covered = || pool::covered(&own, with, &config, identity);
                let held = || Ok(lines(&own, &covered()?));
                self::keep(&meeting, (order, least), with, &held)?;
                return show(&own, &[with], &config, args);
            }
            let total = self::transfers(order.batches.iter().sum());
            let shown = !no_progress && !args.json;
            if shown {
                // Nobody is harmed if standard error is closed.
                let (count, cost) = (grouped(total), bytes(order.payload_bytes()));
                let rounds = order.rounds();
                let _ = writeln!(
                    stderr(),
                    "{count} transfers with {with} take {cost} of payload, {rounds} rounds; {with} \
                     has to call this as well, now"
                );
            }
            let mut shown = shown.then(|| TransferProgress::on_stderr("transfers", total));
            pool::fill(&meeting, order, None, &mut |batches| {
                let count = self::transfers(batches);
                shown.iter_mut().for_each(|shown| shown.passed(count));
            })?;
            drop(shown);
            show(&own, &[with], &config, args)
        }
        PoolVerb::Show => {
            let peers = config.parties.keys().filter(|name| **name != own);
            show(&own, &peers.collect::<Vec<_>>(), &config, args)
        }
        PoolVerb::Drop { with } => {
            pool::with(&own, with, &config, identity)?.remove()?;
            show(&own, &[with], &config, args)
        }
    }
}

/// Keeps a pool filled until a signal ends it, and tells what happens in a line each.
fn keep(
    meeting: &Meeting,
    (order, least): (Order, u64),
    with: &str,
    held: &dyn Fn() -> Result<Vec<String>, Failure>,
) -> Result<(), Failure> {
    let count = grouped(transfers(least));
    report(&format!(
        "keeps {count} transfers with {with}, which has to call this as well; Ctrl-C ends it"
    ));
    let mut log = Log::default();
    Keeper {
        meeting,
        order,
        least,
    }
    .keep(&mut |news| {
        if let Some(line) = log.line(with, &news, held) {
            report(&line);
        }
    })
}

/// Decides what a log says of a pool that is kept: of meetings those that change something, and of
/// failures that come again the second, fourth, eighth and so on.
#[derive(Default)]
struct Log {
    met: bool,
    failed: Option<(Code, u32)>,
}

impl Log {
    fn line(
        &mut self,
        with: &str,
        news: &News<'_>,
        held: &dyn Fn() -> Result<Vec<String>, Failure>,
    ) -> Option<String> {
        match news {
            News::Met(made) => {
                let again = self.failed.take().is_some();
                let first = !std::mem::replace(&mut self.met, true);
                let changes = first || again || *made > 0;
                changes.then(|| {
                    let count = grouped(transfers(*made));
                    let held = held().unwrap_or_else(|failure| vec![failure.finding().line()]);
                    format!("met {with} and made {count}: {}", held.join("; "))
                })
            }
            News::Failed(failure, rest) => {
                let code = failure.finding().code;
                let before = self.failed.filter(|(other, _)| *other == code);
                let times = before.map_or(1, |(_, times)| times.saturating_add(1));
                self.failed = Some((code, times));
                let mut line = failure.finding().line();
                if times > 1 {
                    line += &format!(", {times} times");
                }
                line += &if rest.is_zero() {
                    "; waits on".to_string()
                } else {
                    format!("; tries again in {}", seconds(rest.as_secs_f64()))
                };
                times.is_power_of_two().then_some(line)
            }
        }
    }
}

/// Writes a line for a log. Nobody is harmed if standard error is closed.
fn report(line: &str) {
    let _ = writeln!(stderr(), "{} {line}", date(unix_us()));
}

/// Prints what the pools of the party `own` with these peers cover.
fn show(own: &str, peers: &[&String], config: &Config, args: &PoolArgs) -> Result<(), Failure> {
    let identity = args.identity.as_deref();
    let (mut covered, mut failed) = (Vec::new(), None);
    for peer in peers {
        match pool::covered(own, peer, config, identity) {
            Ok(found) => covered.push(found),
            // Those that can be read are shown before.
            Err(failure) => failed = failed.or(Some(failure)),
        }
    }
    let mut card = Card::new(format!("pools of {own}"));
    let shown = covered.iter().flat_map(|covered| lines(own, covered));
    card.lines("pools", shown);
    if peers.is_empty() {
        card.line("pools", "none: the configuration has no other party");
    }
    let value = covered.iter().map(|covered| value(own, covered));
    let value = value.collect::<Vec<_>>();
    print_card(args.json, &card, &json!({ "me": own, "pools": value }))?;
    failed.map_or(Ok(()), Err)
}

/// Tells how much a pool covers, in a line for each party that may receive transfers.
pub fn lines(own: &str, covered: &Covered) -> Vec<String> {
    let line = |(evaluator, count): (&str, &sealane_pool::Count)| {
        let (peer, left) = (&covered.peer, grouped(transfers(count.left)));
        let mut line = format!("with {peer}: {left} transfers that {evaluator} receives");
        let beside = [
            ("used", count.used),
            ("in runs that have not ended well", count.unfinished),
            ("lost", count.lost),
        ];
        for (what, batches) in beside {
            if batches > 0 {
                line += &format!(" \u{b7} {} {what}", grouped(transfers(batches)));
            }
        }
        line
    };
    let sides = [(own, &covered.own), (&covered.peer, &covered.theirs)];
    sides.map(line).to_vec()
}

/// The same as JSON, in transfers.
pub fn value(own: &str, covered: &Covered) -> Value {
    let count = |count: &sealane_pool::Count| {
        json!({
            "left": transfers(count.left),
            "used": transfers(count.used),
            "unfinished": transfers(count.unfinished),
            "lost": transfers(count.lost),
        })
    };
    json!({
        "with": covered.peer,
        "evaluators": { own: count(&covered.own), &*covered.peer: count(&covered.theirs) },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_pool::Count;
    use std::time::Duration;

    #[test]
    fn a_log_tells_what_changes_and_does_not_repeat_itself() {
        let mut log = Log::default();
        let held = || Ok(vec!["a line".to_string()]);
        let mut line = |news: News<'_>| log.line("bob", &news, &held);
        let met = |made: &str| Some(format!("met bob and made {made}: a line"));
        assert_eq!(line(News::Met(0)), met("0"));
        assert_eq!(line(News::Met(0)), None);
        assert_eq!(line(News::Met(2)), met("2,048"));
        let gone = Failure::new(Code::Unreachable, "bob is gone", "");
        let reported = (1..=8).map(|_| line(News::Failed(&gone, Duration::from_secs(4))));
        let reported = reported.collect::<Vec<_>>();
        let first = "error[unreachable]: bob is gone; tries again in 4.0 s";
        assert_eq!(reported[0].as_deref(), Some(first));
        let silent = reported.iter().map(Option::is_none).collect::<Vec<_>>();
        assert_eq!(silent, [false, false, true, false, true, true, true, false]);
        let last = reported[7].as_ref().unwrap();
        assert!(last.contains(", 8 times; "));
        let other = Failure::new(Code::PeerGaveUp, "bob gave up", "");
        let waits = line(News::Failed(&other, Duration::ZERO)).unwrap();
        assert_eq!(waits, "error[peer-gave-up]: bob gave up; waits on");
        assert_eq!(line(News::Met(0)), met("0"));
    }

    #[test]
    fn a_pool_has_a_line_for_each_party_that_may_evaluate() {
        let own = Count {
            left: 20,
            used: 1,
            unfinished: 2,
            lost: 3,
        };
        let (peer, theirs) = ("bob".to_string(), Count::default());
        let covered = Covered { peer, own, theirs };
        let own = "with bob: 20,480 transfers that alice receives \u{b7} 1,024 used \u{b7} 2,048 in runs \
                   that have not ended well \u{b7} 3,072 lost";
        let theirs = "with bob: 0 transfers that bob receives";
        assert_eq!(lines("alice", &covered), [own, theirs]);
        let zeros = json!({ "left": 0, "used": 0, "unfinished": 0, "lost": 0 });
        let counted = json!({ "left": 20480, "used": 1024, "unfinished": 2048, "lost": 3072 });
        let evaluators = json!({ "alice": counted, "bob": zeros });
        let value = value("alice", &covered);
        assert_eq!(value, json!({ "with": "bob", "evaluators": evaluators }));
    }
}
