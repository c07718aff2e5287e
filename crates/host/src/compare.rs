//! The protocols that can run a program, side by side, for the command and for Python.

use crate::{Failure, rows, view};
use sealane_engine::{Compared, NetworkClass, Terms, by_time, compare};
use sealane_page::compare::{ComparisonRecord, ProtocolRecord};
use sealane_parties::PartyId;
use sealane_plan::Memory;
use sealane_program::graph::Program;

/// Compares all protocols that keep secrets for a program, at these numbers of rows, by default the
/// upper bounds. Protocols that the named helpers do not suit get the fewest that they need;
/// those that do not withstand what is asked, or cannot take from a pool that is, are listed as
/// refused.
///
/// # Errors
/// The numbers of rows do not suit the program.
pub fn protocols(
    program: &Program,
    terms: Terms<'_>,
    counts: &[(String, u64)],
) -> Result<ComparisonRecord, Failure> {
    let network = terms.network;
    let counts = rows(program, counts)?;
    let all = compare(program, terms, Some(&counts))?;
    let taken = all.iter().filter_map(|of| record(of, network, &counts));
    let taken = taken.collect::<Result<Vec<_>, Failure>>()?;
    let refused = |of: &Compared| {
        let why = of.outcome.as_ref().err()?;
        Some((of.protocol.to_string(), why.message.clone()))
    };
    let suits = all.iter().filter(|of| of.helpers == terms.helpers);
    let times = suits.filter_map(|of| {
        let (_, cost) = of.outcome.as_ref().ok()?;
        Some((cost.estimate_s(network), of.protocol))
    });
    let fastest = times.min_by(|one, other| by_time(*one, *other));
    let names = program.rows.iter().map(|table| table.name.clone());
    Ok(ComparisonRecord {
        program: program.name.clone(),
        network: network.to_string(),
        pool: terms.pooled,
        rows: names.zip(counts).collect(),
        signature: view::signature(program),
        protocols: taken,
        refused: all.iter().filter_map(refused).collect(),
        fastest: fastest.map(|(_, protocol)| protocol.to_string()),
    })
}

fn record(
    of: &Compared,
    network: NetworkClass,
    rows: &[u64],
) -> Option<Result<ProtocolRecord, Failure>> {
    let (job, cost) = of.outcome.as_ref().ok()?;
    let gap = match view::gap(job, rows) {
        Ok(gap) => gap,
        Err(error) => return Some(Err(error.into())),
    };
    let parties = job.parties();
    let name = |party: PartyId| parties[party.index()].clone();
    let roles = job.roles();
    let roles = roles.iter();
    let sent = parties
        .iter()
        .cloned()
        .zip(cost.promise.sent.iter().copied());
    Some(Ok(ProtocolRecord {
        protocol: of.protocol.to_string(),
        helpers: of.helpers.clone(),
        computes: roles
            .map(|(role, party)| (role.to_string(), name(*party)))
            .collect(),
        payload_bytes: sent.collect(),
        rounds: cost.promise.rounds,
        estimate_s: view::estimates(network, cost).collect(),
        memory_bytes: cost.memory.iter().map(Memory::bytes).max().unwrap_or(0),
        withstands: of.protocol.profile().corruption.to_string(),
        security: cost.basis.security.to_string(),
        job: job.hash(),
        gap,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_engine::{Adversary, Asked, Job, NetworkClass, ProtocolChoice, ProtocolName};
    use sealane_page::View;
    use sealane_program::text;

    const RICHER: &str = "\
sealane program 1
name richer
party alice
party bob
rows n <= 1000
input x : alice u32[n] in 0..4294967295
input y : bob u32[n] in 0..4294967295
main {
  %0 = param 0 : u32[n] in 0..4294967295 known alice
  %1 = param 1 : u32[n] in 0..4294967295 known bob
  %2 = gt %0, %1 : bool[n] in 0..1 secret
}
reveal result = %2 : bool to alice
";

    /// Each protocol that is weaker than what is asked is listed with what it withstands.
    #[test]
    fn a_comparison_has_the_protocols_that_withstand_what_is_asked() {
        let program = text::parse(RICHER, "richer").expect("a program");
        let compared = |asked: Option<Adversary>| {
            let asked = asked.map(Asked::from);
            let terms = Terms {
                asked: asked.as_ref(),
                ..Terms::on(NetworkClass::LAN)
            };
            protocols(&program, terms, &[]).expect("a comparison")
        };
        assert_eq!(compared(Some(Adversary::SemiHonest)), compared(None));
        let all = compared(Some(Adversary::Malicious));
        let names = all.protocols.iter().map(|of| &*of.protocol);
        assert_eq!(names.collect::<Vec<_>>(), ["trio-malicious", "auth"]);
        let withstood = all.protocols.iter().map(|of| &*of.withstands);
        let wanted = ["one malicious party", "all parties but one, malicious"];
        assert_eq!(withstood.collect::<Vec<_>>(), wanted);
        // The other one needs a helper that nobody has named.
        assert_eq!(all.fastest.as_deref(), Some("auth"));
        let refused = all.refused.iter();
        let refused = refused.map(|(name, why)| format!("{name}: {why}"));
        let card = all.card().to_string();
        let names = ["yao", "yao-three-halves", "trio", "gmw", "mixed"];
        let want = names.map(|name| {
            format!(
                "{name}: `{name}` withstands one semi-honest party, and `malicious` is asked for"
            )
        });
        assert_eq!(refused.collect::<Vec<_>>(), want);
        assert!(want.iter().all(|line| card.contains(line)), "{card}");
    }

    /// Costs are those of the plans; the fastest is that of two parties on the declared network.
    #[test]
    fn protocols_are_compared_by_their_plans() {
        let program = text::parse(RICHER, "richer").expect("a program");
        let rows = [("n".to_string(), 10)];
        for network in ["lan", "wan", "1s/10Gbps"] {
            let network = network.parse().expect("a network");
            let all = protocols(&program, Terms::on(network), &rows).expect("a comparison");
            let names = all.protocols.iter().map(|of| &*of.protocol);
            assert_eq!(
                names.collect::<Vec<_>>(),
                [
                    "yao",
                    "yao-three-halves",
                    "trio",
                    "trio-malicious",
                    "gmw",
                    "mixed",
                    "auth"
                ]
            );
            for of in &all.protocols {
                let protocol: ProtocolName = of.protocol.parse().expect("a protocol");
                let three = [ProtocolName::Trio, ProtocolName::TrioMalicious].contains(&protocol);
                assert_eq!(of.helpers.len(), usize::from(three));
                let job = Job::new(program.clone(), protocol, network, of.helpers.clone());
                let cost = job.expect("a job").cost(&[10]).expect("a cost");
                let sent = of.payload_bytes.iter().map(|(_, bytes)| *bytes);
                assert_eq!(sent.collect::<Vec<_>>(), cost.promise.sent);
                assert_eq!(of.rounds, cost.promise.rounds);
                assert_eq!(of.gap.is_some(), protocol == ProtocolName::Mixed);
                let withstands = match protocol {
                    ProtocolName::TrioMalicious => "one malicious party",
                    ProtocolName::Auth => "all parties but one, malicious",
                    _ => "one semi-honest party",
                };
                assert_eq!(of.withstands, withstands);
            }
            let time = |of: &&ProtocolRecord| {
                let declared = of
                    .estimate_s
                    .iter()
                    .find(|(on, _)| *on == network.to_string());
                declared.expect("an estimate").1
            };
            let of_two = all.protocols.iter().filter(|of| of.helpers.is_empty());
            let fastest = of_two
                .clone()
                .find(|of| Some(&of.protocol) == all.fastest.as_ref());
            let least = of_two.min_by(|a, b| time(a).total_cmp(&time(b)));
            assert_eq!(fastest.as_ref().map(time), least.as_ref().map(time));
            // The choice is made at the upper bounds.
            let most = protocols(&program, Terms::on(network), &[]).expect("a comparison");
            let chosen = ProtocolChoice::Auto.job(program.clone(), Terms::on(network));
            let (job, why) = chosen.expect("a job");
            let name = job.protocol().to_string();
            assert_eq!(most.fastest.as_ref(), Some(&name));
            assert!(why.is_some_and(|why| why.contains(&format!("is {name}"))));
            let card = all.card().to_string();
            assert!(card.contains("one semi-honest party"), "{card}");
            assert!(
                card.contains("mixed: the best of all 2 assignments"),
                "{card}"
            );
        }
    }
}
