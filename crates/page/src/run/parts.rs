//! What several parts of the page share: phases and colours by name.

use sealane_engine::events::Phase;

/// The phases in order, each with the class of its colour and what it is.
pub(super) const PHASES: [(Phase, &str, &str); 7] = [
    (Phase::Meet, "ph-meet", "meet"),
    (Phase::Agree, "ph-agree", "agree"),
    (Phase::Alone, "ph-alone", "work alone"),
    (Phase::Prepare, "ph-prepare", "prepare"),
    (Phase::Compute, "ph-compute", "compute"),
    (Phase::Reveal, "ph-reveal", "settle and reveal"),
    (Phase::Part, "ph-part", "part"),
];

/// Colours of parties there are; after these they begin again.
const COLOURS: usize = 6;

/// The class of a party's colour.
pub(super) fn colour(party: usize) -> &'static str {
    const CLASSES: [&str; COLOURS] = ["p0", "p1", "p2", "p3", "p4", "p5"];
    CLASSES[party % COLOURS]
}
