//! Counts of all that each party sees, and whether these depend on what it must not know.

use super::model::{Model, Shared, TestedSteps};
use crate::ideal::InjectedFault;
use sealane_testkit::exact::{Counts, alike, locked};
use std::collections::{BTreeMap, HashMap};

/// Choices that are enumerated.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Choices {
    /// All.
    Every,
    /// For each party in turn: all that it does not know, for so many random choices of what it
    /// knows (its components of inputs, and the streams of its keys). The distribution of its view
    /// given that knowledge is exact.
    Unknown(u64),
}

/// By all that a party does not know: counts of what it saw and its parts of results.
type Views = BTreeMap<Vec<u64>, Counts<Vec<u8>>>;

/// Counts of all that one party, or each, saw in some choices.
#[derive(Default)]
struct Seen {
    /// By party and all that it knows and may learn.
    views: HashMap<(usize, Vec<u64>), Views>,
    /// By all inputs: counts of results, as this party learns them or not.
    results: BTreeMap<Vec<u64>, Counts<Vec<u64>>>,
}

impl Seen {
    /// Runs with every choice that is not given, and looks at these parties.
    fn of(
        model: &mut Model,
        run: TestedSteps,
        parties: &[usize],
        given: Option<(usize, u64)>,
        fault: Option<InjectedFault>,
    ) -> Seen {
        let mut seen = Seen::default();
        {
            let mut drawn = locked(&model.drawn);
            (drawn.choices.given, drawn.fault) = (given, fault);
        }
        loop {
            let results = run(model);
            for &party in parties {
                let mut view = model.view(party, fault);
                let mut outcome = std::mem::take(&mut model.learnt[party]);
                let knows = std::mem::take(&mut model.knows[party]);
                let knows = [knows, outcome.clone()].concat();
                let mut lacks = std::mem::take(&mut model.lacks[party]);
                let mut hidden = std::mem::take(&mut model.missed[party]);
                for Shared { parts, value } in &results {
                    let words = parts[party].components().into_iter().flatten().flatten();
                    view.extend(words.map(|word| *word as u8));
                    hidden.extend(value);
                }
                lacks.extend(&hidden);
                outcome.extend(hidden);
                let of_party = seen.views.entry((party, knows)).or_default();
                *of_party.entry(lacks).or_default().entry(view).or_default() += 1;
                let of_inputs = seen.results.entry(model.inputs.clone()).or_default();
                *of_inputs.entry(outcome).or_default() += 1;
            }
            model.clear();
            if !locked(&model.drawn).step() {
                return seen;
            }
        }
    }

    /// Returns whether each view is distributed alike whatever its party does not know.
    fn is_independent(&self) -> bool {
        self.views.values().all(|of_party| {
            let mut all = of_party.values();
            let first = all.next();
            first.is_none_or(|first| all.all(|other| alike(first, other)))
        })
    }

    /// Returns whether results have the same chances in both, for all inputs that both have.
    fn has_chances_of(&self, other: &Seen) -> bool {
        self.results.iter().all(|(inputs, counts)| {
            let there = other.results.get(inputs);
            there.is_none_or(|there| alike(counts, there))
        })
    }
}

/// A party that sees more than it may, if there is one.
///
/// With [`Choices::Unknown`], two things are counted for each random choice of what a party knows:
/// that its view does not depend on what it lacks, and that the chances of results, given all
/// inputs, do not depend on that choice.
pub(crate) fn leak(
    model: &mut Model,
    run: TestedSteps,
    choices: Choices,
    fault: Option<InjectedFault>,
) -> Option<usize> {
    let parties = (0..model.run.parties.len()).collect::<Vec<_>>();
    let Choices::Unknown(draws) = choices else {
        let seen = Seen::of(model, run, &parties, None, fault);
        return (!seen.is_independent()).then_some(0);
    };
    // Most faults show to a party of few choices.
    let mut parties = parties;
    parties.sort_by_cached_key(|party| model.choices(run, *party));
    parties.into_iter().find(|&party| {
        let mut first: Option<Seen> = None;
        (0..draws).any(|draw| {
            let given = Some((party, draw));
            let seen = Seen::of(model, run, &[party], given, fault);
            let fair = first
                .as_ref()
                .is_none_or(|first| seen.has_chances_of(first));
            let leaks = !fair || !seen.is_independent();
            first.get_or_insert(seen);
            leaks
        })
    })
}
