//! The protocols that can run a program, side by side, for the command and for Python.

use crate::{Failure, rows, view};
use sealane_engine::{Compared, NetworkClass, compare};
use sealane_page::compare::{ComparisonRecord, ProtocolRecord};
use sealane_parties::PartyId;
use sealane_plan::Memory;
use sealane_program::graph::Program;
use sealane_protocol::{Corruption, Threshold};

/// Compares all protocols that keep secrets for a program, at these numbers of rows, by default the
/// upper bounds. Protocols that the named helpers do not suit get the fewest that they need.
///
/// # Errors
/// The numbers of rows do not suit the program.
pub fn protocols(
    program: &Program,
    network: NetworkClass,
    helpers: &[String],
    counts: &[(String, u64)],
) -> Result<ComparisonRecord, Failure> {
    let counts = rows(program, counts)?;
    let all = compare(program, network, helpers, Some(&counts))?;
    let taken = |of: &Compared| record(of, network);
    let refused = |of: &Compared| {
        let why = of.outcome.as_ref().err()?;
        Some((of.protocol.to_string(), why.message.clone()))
    };
    let suits = all.iter().filter(|of| of.helpers == helpers);
    let times = suits.filter_map(|of| {
        let (_, cost) = of.outcome.as_ref().ok()?;
        Some((cost.estimate_s(network), of.protocol.to_string()))
    });
    let fastest = times.min_by(|(one, _), (other, _)| one.total_cmp(other));
    let names = program.rows.iter().map(|table| table.name.clone());
    Ok(ComparisonRecord {
        program: program.name.clone(),
        network: network.to_string(),
        rows: names.zip(counts).collect(),
        signature: view::signature(program),
        protocols: all.iter().filter_map(taken).collect(),
        refused: all.iter().filter_map(refused).collect(),
        fastest: fastest.map(|(_, name)| name),
    })
}

fn record(of: &Compared, network: NetworkClass) -> Option<ProtocolRecord> {
    let (job, cost) = of.outcome.as_ref().ok()?;
    let parties = job.parties();
    let name = |party: PartyId| parties[party.index()].clone();
    let roles = job.roles();
    let roles = roles.iter();
    let sent = parties
        .iter()
        .cloned()
        .zip(cost.promise.sent.iter().copied());
    Some(ProtocolRecord {
        protocol: of.protocol.to_string(),
        helpers: of.helpers.clone(),
        computes: roles
            .map(|(role, party)| (role.to_string(), name(*party)))
            .collect(),
        payload_bytes: sent.collect(),
        rounds: cost.promise.rounds,
        estimate_s: view::estimates(network, cost).collect(),
        memory_bytes: cost.memory.iter().map(Memory::bytes).max().unwrap_or(0),
        withstands: withstood(of.protocol.profile().corruption),
        security: cost.basis.security.to_string(),
        job: job.hash(),
    })
}

/// Corruption that a protocol withstands, in words.
fn withstood(corruption: Corruption) -> String {
    let (kind, most) = match corruption {
        Corruption::None => return "nothing".to_string(),
        Corruption::SemiHonest(most) => ("semi-honest", most),
        Corruption::Malicious(most) => ("malicious", most),
    };
    match most {
        Threshold::Exactly(1) => format!("one {kind} party"),
        most => format!("{most} {kind} parties"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_engine::{Job, ProtocolChoice, ProtocolName};
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

    /// Costs are those of the plans; the fastest is that of two parties on the declared network.
    #[test]
    fn protocols_are_compared_by_their_plans() {
        let program = text::parse(RICHER, "richer").expect("a program");
        let rows = [("n".to_string(), 10)];
        for network in ["lan", "wan", "1s/10Gbps"] {
            let network = network.parse().expect("a network");
            let all = protocols(&program, network, &[], &rows).expect("a comparison");
            let names = all.protocols.iter().map(|of| &*of.protocol);
            assert_eq!(
                names.collect::<Vec<_>>(),
                ["yao", "yao-three-halves", "trio", "gmw"]
            );
            for of in &all.protocols {
                let protocol: ProtocolName = of.protocol.parse().expect("a protocol");
                assert_eq!(
                    of.helpers.len(),
                    usize::from(protocol == ProtocolName::Trio)
                );
                let job = Job::new(program.clone(), protocol, network, of.helpers.clone());
                let cost = job.expect("a job").cost(&[10]).expect("a cost");
                let sent = of.payload_bytes.iter().map(|(_, bytes)| *bytes);
                assert_eq!(sent.collect::<Vec<_>>(), cost.promise.sent);
                assert_eq!(of.rounds, cost.promise.rounds);
                assert_eq!(of.withstands, "one semi-honest party");
            }
            let time = |of: &&ProtocolRecord| {
                let declared = of
                    .estimate_s
                    .iter()
                    .find(|(on, _)| *on == network.to_string());
                declared.expect("an estimate").1
            };
            let of_two = all.protocols.iter().filter(|of| of.helpers.is_empty());
            let fastest = of_two.min_by(|a, b| time(a).total_cmp(&time(b)));
            assert_eq!(all.fastest, fastest.map(|of| of.protocol.clone()));
            // The choice is made at the upper bounds.
            let most = protocols(&program, network, &[], &[]).expect("a comparison");
            let chosen = ProtocolChoice::Auto.job(program.clone(), network, vec![]);
            let (job, why) = chosen.expect("a job");
            let name = job.protocol().to_string();
            assert_eq!(most.fastest.as_ref(), Some(&name));
            assert!(why.is_some_and(|why| why.contains(&format!("is {name}"))));
            let card = all.card().to_string();
            assert!(card.contains("one semi-honest party"), "{card}");
        }
    }
}
