//! Definitions shared by several parts of the page: phases and colours by name.

use sealane_engine::events::Phase;

/// Phases in order, each with the class of its colour and its description.
pub(super) const PHASES: [(Phase, &str, &str); 7] = [
    (Phase::Connect, "ph-meet", "meet"),
    (Phase::Agree, "ph-agree", "agree"),
    (Phase::Alone, "ph-alone", "work alone"),
    (Phase::Prepare, "ph-prepare", "prepare"),
    (Phase::Compute, "ph-compute", "compute"),
    (Phase::Reveal, "ph-reveal", "settle and reveal"),
    (Phase::Part, "ph-part", "part"),
];

/// Number of colours of parties; after these they repeat.
const COLOURS: usize = 6;

/// Class of a party's colour.
pub(super) fn colour(party: usize) -> &'static str {
    const CLASSES: [&str; COLOURS] = ["p0", "p1", "p2", "p3", "p4", "p5"];
    CLASSES[party % COLOURS]
}
