//! Drafts of one program: passes from `expand` to `fuse`, for plans that want few rounds and for
//! plans that want few bytes.

use crate::algebra::{self, Arithmetic, Had};
use crate::draft::{Draft, Phase};
use crate::fuse::{self, LastLevels, pins};
use crate::{broken, expand, parts, passes, segment};
use sealane_circuit::Lookups;
use sealane_diagnostic::{Code, Diagnostic};
use sealane_parties::{NetworkClass, PartyId};
use sealane_program::graph::Program;
use sealane_protocol::{Algebra, Choice, Protocol, Setting};
use std::borrow::Cow;

/// The units of a program.
pub(crate) struct Units {
    pub(crate) draft: Draft,
    /// For each unit of which the program says it, the number of its domain of tapes.
    pub(crate) pinned: Vec<Option<u8>>,
}

/// Properties in which drafts of one program differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kind {
    /// Trees are in two parts.
    divided: bool,
    /// Keys that blocks of AES have in common are expanded once, and before all blocks.
    keyed: bool,
    /// Nothing is in a ring.
    gates: bool,
    /// Sums of which an operand is bits are not in a ring.
    sums: bool,
}

impl Kind {
    /// The draft of plans with lookups in this form and domains of this choice.
    pub fn of(lookups: Lookups, choice: Choice) -> Kind {
        Kind {
            divided: choice.divides(),
            keyed: lookups == Lookups::Wide,
            gates: matches!(choice, Choice::Gates(_)),
            sums: matches!(choice, Choice::Sums(_)),
        }
    }
}

/// The drafts that differ and that have the sharings that the program asks for, the one without
/// anything first, if it has them.
pub(crate) struct Drafts(Vec<(Kind, Units)>);

impl Drafts {
    /// Makes the units of a program after the passes up to `scale`, in a run with one of these
    /// settings.
    ///
    /// # Errors
    /// No draft has a sharing that the program asks for: what the first one says.
    pub fn new<P: Protocol>(
        program: &Program,
        network: NetworkClass,
        settings: &[Setting],
    ) -> Result<Drafts, Diagnostic> {
        let wide = P::lookups().contains(&Lookups::Wide) && expand::has_common_keys(program);
        let several = P::tape_domains().len() > 1;
        let asks = |kind: fn(&Kind) -> bool| {
            let mut kinds = P::choices().iter().map(|of| Kind::of(P::lookups()[0], *of));
            kinds.any(|of| kind(&of))
        };
        let (gates, sums) = (asks(|of| of.gates), asks(|of| of.sums));
        let split = if P::known_factors() {
            Cow::Owned(parts::parts(program, computing(settings)))
        } else {
            Cow::Borrowed(program)
        };
        let (mut drafts, mut refused) = (Drafts(Vec::new()), None);
        let has = |asked: bool| if asked { &[false, true][..] } else { &[false] };
        for gates in has(gates) {
            let program = if *gates { program } else { &split };
            for keyed in has(wide) {
                let mut fused = Fused::new::<P>(program, settings[0].parties, (*gates, *keyed))?;
                let whole = match fused.units::<P>(None) {
                    // A product is on labels where products are gates, and else additive.
                    Err(error) if error.code == Code::NoSuchSharing => {
                        refused.get_or_insert(error);
                        continue;
                    }
                    whole => whole?,
                };
                let units = whole.draft.units.len();
                let kind = |divided| Kind {
                    divided,
                    keyed: *keyed,
                    gates: *gates,
                    sums: false,
                };
                drafts.0.push((kind(false), whole));
                if several && !gates {
                    let divided = fused.units::<P>(Some(LastLevels(network)))?;
                    // Where no tree is long enough, both are the same.
                    if divided.draft.units.len() > units {
                        drafts.0.push((kind(true), divided));
                    }
                }
                if sums && !gates && fused.takes_sums_out::<P>()? {
                    let sums = true;
                    let kind = Kind {
                        sums,
                        ..kind(false)
                    };
                    match fused.units::<P>(None) {
                        Err(error) if error.code == Code::NoSuchSharing => {}
                        units => drafts.0.push((kind, units?)),
                    }
                }
            }
        }
        match refused {
            Some(error) if drafts.0.is_empty() => Err(error),
            _ => Ok(drafts),
        }
    }

    /// Returns whether plans with this choice have a draft of their own, where they want one.
    pub fn has(&self, choice: Choice) -> bool {
        let sums = matches!(choice, Choice::Sums(_));
        let gates = matches!(choice, Choice::Gates(_));
        let mut kinds = self.0.iter().map(|(own, _)| own);
        kinds.any(|own| own.gates == gates && own.sums >= sums)
    }

    /// The draft of this kind, or the one that is the same.
    pub fn of(&self, kind: Kind) -> &Units {
        // A kind is missing where what distinguishes it makes no difference.
        let missing = |own: &Kind| {
            let same = own.gates <= kind.gates && own.keyed <= kind.keyed;
            (same && own.divided <= kind.divided && own.sums <= kind.sums).then(|| {
                let distinct = [own.gates, own.keyed, own.divided, own.sums];
                distinct.map(u8::from).iter().sum::<u8>()
            })
        };
        let near = self.0.iter().max_by_key(|(own, _)| missing(own));
        &near.expect("the first draft has nothing").1
    }
}

/// A program before `fuse`.
struct Fused {
    expanded: Program,
    phases: Vec<Phase>,
    had: Vec<Had>,
}

impl Fused {
    fn new<P: Protocol>(
        program: &Program,
        parties: usize,
        (gates, keyed): (bool, bool),
    ) -> Result<Fused, Diagnostic> {
        let goal = P::domain_profile(P::domain(Algebra::Z2), parties).goal;
        let arithmetic = Arithmetic::of::<P>(gates);
        let expanded = expand::expand(program, arithmetic, goal, keyed);
        passes::expanded(&expanded, arithmetic.any()).map_err(broken)?;
        let had = algebra::algebra(&expanded, arithmetic, P::ring_steps(), false);
        passes::algebras(&expanded, &had, arithmetic.any()).map_err(broken)?;
        let phases = segment::segment(&expanded);
        passes::phases(&expanded, &phases).map_err(broken)?;
        Ok(Fused {
            expanded,
            phases,
            had,
        })
    }

    /// Has sums of which an operand is bits computed as bits; returns whether that makes a
    /// difference.
    fn takes_sums_out<P: Protocol>(&mut self) -> Result<bool, Diagnostic> {
        let arithmetic = Arithmetic::of::<P>(false);
        let had = algebra::algebra(&self.expanded, arithmetic, P::ring_steps(), true);
        passes::algebras(&self.expanded, &had, arithmetic.any()).map_err(broken)?;
        let changed = had != self.had;
        self.had = had;
        Ok(changed)
    }

    fn units<P: Protocol>(&self, last: Option<LastLevels>) -> Result<Units, Diagnostic> {
        let draft = fuse::fuse(&self.expanded, &self.phases, &self.had, last)?;
        draft.check().map_err(broken)?;
        let pinned = pins::numbers::<P>(&draft)?;
        Ok(Units { draft, pinned })
    }
}

/// The parties that have a role in all settings.
fn computing(settings: &[Setting]) -> Vec<u8> {
    let everyone = settings.first().into_iter().flat_map(Setting::everyone);
    let plays = |party: &PartyId| settings.iter().all(|of| of.role_of(*party).is_some());
    everyone.filter(plays).map(|party| party.0).collect()
}
