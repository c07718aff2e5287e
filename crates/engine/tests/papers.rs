//! Agreement of `plan --papers` with the pages of the protocols.

use sealane_engine::ProtocolName;
use sealane_protocol::{Players, Security};
use std::path::Path;

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
fn every_paper_of_a_protocol_is_told_of_on_its_page() {
    for protocol in [
        ProtocolName::Yao,
        ProtocolName::YaoThreeHalves,
        ProtocolName::Trio,
    ] {
        let page = page(&protocol.to_string());
        let papers = protocol.profile().papers;
        assert!(!papers.is_empty(), "{protocol} rests on something");
        for paper in papers {
            let authors = paper.authors.split(", ").collect::<Vec<_>>();
            let (last, others) = authors.split_last().expect("a paper has authors");
            let year = &paper.venue[paper.venue.len() - 4..];
            let cited = format!("{last} {year}");
            assert!(
                page.contains(&cited),
                "{protocol}: {} by {cited}",
                paper.part
            );
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
        let bits = profile
            .papers
            .iter()
            .filter_map(|paper| match paper.security {
                Security::Computational(bits) | Security::Statistical(bits) => Some(bits),
                Security::Perfect => None,
            });
        assert_eq!(
            bits.min().unwrap_or(0),
            profile.security.computational,
            "{protocol}"
        );
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
