//! Agreement of `plan --references` with the pages of the protocols.

use crate::common::job_of;
use crate::silent::PROGRAM as SILENT;
use sealane_engine::{Job, NetworkClass, ProtocolName};
use sealane_protocol::{Basis, Players};
use std::path::Path;

/// One party has all inputs, and the other learns the largest.
const ALONE: &str = "\
sealane program 1
name largest
party alice
party bob
rows n <= 1000
input x : alice u64[n] in 0..1000
main {
  %0 = param 0 : u64[n] in 0..1000 known alice
  %1 = reduce max %0 axis 0 : u64 in 0..1000 known alice
}
reveal largest = %1 : u64 to bob
";

/// Returns the words of a page, without line breaks and brackets.
fn page(name: &str) -> String {
    let path = format!("../../docs/protocols/{name}.md");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    let text = std::fs::read_to_string(&path);
    let text = text.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let words = text.split_whitespace();
    words.collect::<Vec<_>>().join(" ").replace(['(', ')'], "")
}

#[test]
fn every_paper_of_a_protocol_is_reported_of_on_its_page() {
    for protocol in [
        ProtocolName::Yao,
        ProtocolName::YaoThreeHalves,
        ProtocolName::Trio,
        ProtocolName::TrioMalicious,
        ProtocolName::Gmw,
        ProtocolName::Mixed,
        ProtocolName::Auth,
    ] {
        let page = page(&protocol.to_string());
        let references = protocol.profile().references;
        assert!(!references.is_empty(), "{protocol} rests on something");
        for paper in references {
            let authors = paper.authors.split(", ").collect::<Vec<_>>();
            let (last, others) = authors.split_last().expect("a paper has authors");
            let year = &paper.venue[paper.venue.len() - 4..];
            let cited = format!("{last} {year}");
            let part = paper.part;
            assert!(page.contains(&cited), "{protocol}: {part} by {cited}");
            for author in others {
                assert!(page.contains(author), "{protocol}: {author} of {cited}");
            }
        }
    }
}

#[test]
fn the_level_of_a_protocol_is_that_of_its_weakest_part() {
    for protocol in ProtocolName::ALL {
        let profile = protocol.profile();
        let all = Basis::of(&profile, profile.assumption, Some);
        assert_eq!(all.security, profile.security, "{protocol}");
    }
}

/// The JSON form of a plan names one party for each role. A protocol with a role of any number
/// needs a list there first.
#[test]
fn each_role_is_played_by_one_party() {
    for protocol in ProtocolName::ALL {
        let roles = protocol.profile().roles;
        let one = roles.iter().all(|role| role.players == Players::One);
        assert!(one, "{protocol}");
    }
}

/// Parts of a plan's basis, at these rows.
fn parts(job: &Job, rows: u64) -> (Vec<&'static str>, String, (u32, u32)) {
    let cost = job.cost(&[rows]).unwrap_or_else(|error| panic!("{error}"));
    let parts = cost.basis.references.iter().map(|paper| paper.part);
    let level = cost.basis.security;
    let bits = (level.computational, level.statistical);
    (parts.collect(), cost.basis.assumption, bits)
}

#[test]
fn a_plan_names_the_transfers_that_its_run_takes() {
    let wan = job_of(SILENT, ProtocolName::Yao, NetworkClass::WAN);
    let transfers = |(parts, assumption, bits): (Vec<&'static str>, String, (u32, u32))| {
        let with = |words: &str| parts.iter().any(|part| part.starts_with(words));
        let of_silent = assumption.contains("learning parity");
        let of_base = assumption.contains("strong DH");
        assert_eq!(with("OT extension"), with("base OT"));
        assert_eq!(with("check of OT"), with("base OT"));
        assert_eq!(with("check of silent"), with("silent OT"));
        assert_eq!(with("silent OT"), with("trees of silent OT"));
        let found = (with("base OT"), with("silent OT"));
        assert_eq!(found, (of_base, of_silent), "{assumption}");
        (of_base, of_silent, bits)
    };
    // Few rows take transfers of an extension, many on a WAN silent ones: from 1.5 million bits on,
    // as the page `ot.md` says.
    for (bits, silent) in [(1_450_000, false), (1_550_000, true)] {
        assert_eq!(transfers(parts(&wan, bits / 64)).1, silent, "{bits} bits");
    }
    assert_eq!(transfers(parts(&wan, 1000)), (true, false, (116, 0)));
    assert_eq!(transfers(parts(&wan, 70_000)), (true, true, (116, 53)));
    let lan = job_of(SILENT, ProtocolName::Yao, NetworkClass::LAN);
    assert_eq!(transfers(parts(&lan, 70_000)), (true, false, (114, 0)));
    // A fill decides which transfers a pool has.
    for protocol in [ProtocolName::Yao, ProtocolName::Gmw, ProtocolName::Mixed] {
        let pooled = job_of(SILENT, protocol, NetworkClass::LAN).from_pool();
        let pooled = pooled.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(transfers(parts(&pooled, 1000)), (true, true, (114, 53)));
    }
    // Without inputs of the evaluator there are none. Whichever party has all of them garbles.
    let alone = job_of(ALONE, ProtocolName::Yao, NetworkClass::LAN);
    assert_eq!(transfers(parts(&alone, 1000)), (false, false, (127, 0)));
}
