//! The passes in their order: those before `lower` once, `lower` once for each form of lookups and
//! number of rows of a tile, those after it once for each choice of domains as well.

use crate::choose;
use crate::domains::Domains;
use crate::draft::UnitWork;
use crate::drafts::{Drafts, Kind, Units};
use crate::gap::{self, Assignments};
use crate::lower::{self, Lowered};
use crate::order::Prices;
use crate::setting::{self, Roster};
use crate::steps::{Len, Plan, PlanValue, ResultPlan, RowPlan, ValuePlan};
use crate::{broken, check, cost, drawn, floats, forms, limit, passes, pools, rearrange};
use crate::{scale, tile};
use sealane_circuit::Lookups;
use sealane_diagnostic::Diagnostic;
use sealane_parties::{NetworkClass, PartyId, PartySet};
use sealane_program::graph::{Program, Reveal, summed_rows};
use sealane_protocol::{Algebra, Choice, Protocol, Setting};
use std::collections::HashMap;
use std::rc::Rc;

/// The first domain of tapes for all.
const SHARES: Choice = Choice::Only(0);

/// Plans in each form of lookups, with each choice of domains.
///
/// # Errors
/// The errors of [`plan()`](crate::plan()).
pub(crate) fn plan<P: Protocol>(
    program: &Program,
    roster: Roster,
    network: NetworkClass,
    most_rows: u64,
) -> Result<Plan, Diagnostic> {
    let drafted = Drafted::new::<P>(program, roster, network)?;
    let lookups = if forms::looks_up(&drafted.program.main, P::lookups()) {
        P::lookups()
    } else {
        &P::lookups()[..1]
    };
    let mut made = Made::default();
    let mut tile = |choice| drafted.most_rows::<P>((lookups[0], choice), most_rows, &mut made);
    let usual = tile(P::choices()[0])?;
    // Shares alone have the tiles that they have in a protocol without other domains.
    let alone = if P::choices().contains(&SHARES) {
        tile(SHARES)?
    } else {
        usual
    };
    let mut plans: Vec<Plan> = Vec::new();
    for lookups in lookups {
        for choice in P::choices().iter().filter(|of| drafted.drafts.has(**of)) {
            let plan = match choice {
                Choice::Improved => improved::<P>(&drafted, &plans, *lookups, usual, &mut made)?,
                choice => {
                    let most_rows = if *choice == SHARES { alone } else { usual };
                    Some(drafted.plan::<P>(most_rows, *lookups, (*choice, &[]), &mut made)?)
                }
            };
            let Some(mut plan) = plan else {
                continue;
            };
            if plans.iter().any(|other| other.same_steps(&plan)) {
                continue;
            }
            if let Some(first) = plans.first() {
                plan.setting = first.setting.clone();
                pools::refills::<P>(&mut plan);
            }
            plans.push(plan);
        }
    }
    let mut plans = plans.into_iter();
    let first = plans.next();
    let mut plan = first.ok_or_else(|| broken("a protocol has no form of lookups".to_string()))?;
    plan.others = plans.collect();
    Ok(plan)
}

/// Most steps of all plans that [`Choice::Improved`] makes: walks over them take most of its time.
pub(crate) const TRIED_STEPS: usize = 4_000;

/// The plan of [`Choice::Improved`] with lookups in this form, if it is better than all others: the
/// best of all assignments of domains where these are few; else one unit after the other takes each
/// other domain, and keeps it where the run gets shorter. A large plan takes what a game finds
/// ([`gap`]).
fn improved<P: Protocol>(
    drafted: &Drafted,
    plans: &[Plan],
    lookups: Lookups,
    most_rows: u64,
    made: &mut Made,
) -> Result<Option<Plan>, Diagnostic> {
    let alike = |plan: &&Plan| plan.lookups == lookups && plan.choice.divides();
    let others = plans.iter().filter(alike);
    let Some(first) = others.clone().next() else {
        return Ok(None);
    };
    let pinned = &drafted.units(lookups, Choice::Improved).pinned;
    let units = first.taken.iter().zip(pinned).enumerate();
    let free = units.filter(|(_, (taken, pinned))| taken.is_some() && pinned.is_none());
    let free = free.map(|(unit, _)| unit).collect::<Vec<_>>();
    let steps = first.segments.iter().map(|segment| segment.steps.len());
    let tries = TRIED_STEPS / steps.sum::<usize>().max(1);
    let domains = P::tape_domains().len();
    let many = free.len() * (domains - 1) > tries;
    if free.is_empty() || many && !gap::plays::<P>(&first.setting) {
        return Ok(None);
    }
    let time = |plan: &Plan| drafted.seconds::<P>(plan, u64::MAX);
    let (mut best, mut least) = (first, f64::MAX);
    for plan in others {
        let now = time(plan);
        if now < least {
            (best, least) = (plan, now);
        }
    }
    let mut found = None;
    let mut kept = best.taken.clone();
    let mut fast = Vec::new();
    if many {
        let mut all = Assignments {
            drafted,
            made,
            plan: best,
            most_rows,
        };
        fast = all.fast::<P>(&drafted.bounds(u64::MAX))?;
    }
    let mut attempt = |taken: &[Option<u8>]| {
        let choice = (Choice::Improved, taken);
        let plan = drafted.varied::<P>(best, most_rows, choice, made)?;
        let now = time(&plan);
        let better = now < least;
        if better {
            (least, found) = (now, Some(plan));
        }
        Ok::<_, Diagnostic>(better)
    };
    if many {
        fast.iter().try_for_each(|taken| attempt(taken).map(drop))?;
        return Ok(found);
    }
    let all = u32::try_from(free.len())
        .ok()
        .and_then(|units| domains.checked_pow(units));
    if let Some(all) = all.filter(|all| *all <= tries) {
        for mut number in 0..all {
            for unit in &free {
                kept[*unit] = Some((number % domains) as u8);
                number /= domains;
            }
            attempt(&kept)?;
        }
        return Ok(found);
    }
    for unit in free {
        for domain in 0..domains as u8 {
            let old = kept[unit].replace(domain);
            if old == Some(domain) || !attempt(&kept)? {
                kept[unit] = old;
            }
        }
    }
    Ok(found)
}

/// For each unit of work, the number of the domain that it has to take; no entry leaves the choice.
pub(crate) type Taken<'a> = &'a [Option<u8>];

/// A program after the passes that neither lookups nor choices of domains change.
pub(crate) struct Drafted {
    program: Program,
    network: NetworkClass,
    settings: Vec<Setting>,
    owners: Vec<PartyId>,
    drafts: Drafts,
    prices: Option<Prices>,
}

/// Parameters of a lowering: form of lookups, whether the largest shares of bits count for the rows
/// of a tile, the most rows of one, and the kind of the draft.
type Key = (Lookups, bool, u64, Kind);

/// Tapes and lowerings so far.
#[derive(Default)]
pub(crate) struct Made {
    bodies: lower::Bodies,
    lowered: HashMap<Key, Rc<InTiles>>,
}

/// A lowered draft with the rows of a tile of each table.
struct InTiles {
    domains: Domains,
    tiles: Vec<u64>,
    lowered: Lowered,
}

impl Drafted {
    /// Checks a program and makes its units.
    pub(crate) fn new<P: Protocol>(
        program: &Program,
        roster: Roster,
        network: NetworkClass,
    ) -> Result<Drafted, Diagnostic> {
        sealane_program::check(program)?;
        let program = drawn(program).program;
        let profile = P::profile();
        let settings = setting::settings::<P>(&program, roster, network)?;
        passes::setting(&settings, &profile).map_err(broken)?;
        let plain = floats::floats(&program);
        passes::plain(&plain).map_err(broken)?;
        let scaled = scale::scale(&plain);
        passes::scaled(&scaled).map_err(broken)?;
        let drafts = Drafts::new::<P>(&scaled, network, &settings)?;
        let owners = program.inputs.iter().map(|input| PartyId(input.owner));
        Ok(Drafted {
            owners: owners.collect(),
            program,
            network,
            drafts,
            prices: Prices::of::<P>(&settings[0]),
            settings,
        })
    }

    /// Estimated seconds of a plan at the upper bounds of rows, or at so many rows where these are
    /// larger.
    fn seconds<P: Protocol>(&self, plan: &Plan, most: u64) -> f64 {
        forms::settled::<P>(plan, &self.bounds(most)).estimate_s(self.network)
    }

    /// The upper bounds of rows, or so many where these are larger.
    fn bounds(&self, most: u64) -> Vec<u64> {
        let mut rows = Vec::new();
        for symbol in &self.program.rows {
            // A sum stands behind its parts.
            let mut parts = rows.iter().copied().map(Some).collect::<Vec<_>>();
            parts.resize(self.program.rows.len(), None);
            let sum = summed_rows(symbol, &parts);
            rows.push(sum.unwrap_or(symbol.bound.min(most)).min(symbol.bound));
        }
        rows
    }

    /// The bound of the rows of a tile with which a run is faster, where it has trees over rows: a
    /// larger one if it is so by a tenth, since estimates do not see that caches are left.
    fn most_rows<P: Protocol>(
        &self,
        (lookups, choice): (Lookups, Choice),
        most_rows: u64,
        made: &mut Made,
    ) -> Result<u64, Diagnostic> {
        let bounds = tile::bounds(&self.domains::<P>(), self.network, &P::profile());
        let longest = self.program.rows.iter().map(|rows| rows.bound).max();
        let longest = longest.unwrap_or(1).min(most_rows);
        let (mut best, mut least) = (most_rows.min(bounds[0]), f64::MAX);
        let units = &self.units(lookups, choice).draft.units;
        let trees = units.iter().any(|unit| match &unit.work {
            UnitWork::Fold(fold) => fold.length == Len::Rows,
            _ => false,
        });
        if longest <= best || bounds.len() == 1 || !trees {
            return Ok(best);
        }
        for bound in bounds {
            let most = most_rows.min(*bound);
            let plan = self.plan::<P>(most, lookups, (choice, &[]), made)?;
            let now = self.seconds::<P>(&plan, COMPARED_ROWS);
            if now < 0.9 * least {
                (best, least) = (most, now);
            }
        }
        Ok(best)
    }

    fn domains<P: Protocol>(&self) -> Domains {
        Domains::of::<P>(self.settings[0].parties, true)
    }

    /// The bound of the rows of a tile that a plan has.
    pub(crate) fn bound<P: Protocol>(&self, plan: &Plan) -> u64 {
        let tile = plan.rows.iter().map(|rows| rows.tile).max().unwrap_or(1);
        let bounds = tile::bounds(&self.domains::<P>(), self.network, &P::profile());
        let bound = bounds.iter().find(|bound| tile <= **bound);
        bound.copied().unwrap_or(tile)
    }

    /// The units of plans with lookups in this form and domains of this choice.
    pub(crate) fn units(&self, lookups: Lookups, choice: Choice) -> &Units {
        self.drafts.of(Kind::of(lookups, choice))
    }

    /// Plans with lookups in one form and domains of one choice.
    fn plan<P: Protocol>(
        &self,
        most_rows: u64,
        lookups: Lookups,
        choice: (Choice, Taken<'_>),
        made: &mut Made,
    ) -> Result<Plan, Diagnostic> {
        let mut most = most_rows;
        // Shares of some domains are far larger than those of others. A plan that keeps no rows in
        // these has larger tiles.
        let mut wide = P::choices().len() == 1;
        loop {
            let kind = Kind::of(lookups, choice.0);
            let lowered = self.lower::<P>((lookups, wide, most, kind), made)?;
            let plan = self.planned::<P>(&lowered, lookups, choice)?;
            let main = P::domain(Algebra::Z2);
            let mut by_rows = plan.values.iter().filter(|value| value.rows.is_some());
            let bits = |value: &ValuePlan| value.domain.algebra == Algebra::Z2;
            if !wide && by_rows.any(|value| bits(value) && value.domain != main) {
                wide = true;
                continue;
            }
            let bits = cost::material_bits_of_a_tile::<P>(&plan);
            let tile = plan.rows.iter().map(|rows| rows.tile).max().unwrap_or(1);
            if bits <= tile::material_bits(&P::profile()) || tile <= tile::ROWS[0] {
                return Ok(plan);
            }
            most = (tile / 2).min(most);
        }
    }

    /// A form of a plan that differs in domains: it has the lookups and roles of the plan.
    pub(crate) fn varied<P: Protocol>(
        &self,
        from: &Plan,
        most_rows: u64,
        choice: (Choice, Taken<'_>),
        made: &mut Made,
    ) -> Result<Plan, Diagnostic> {
        let mut plan = self.plan::<P>(most_rows, from.lookups, choice, made)?;
        plan.setting = from.setting.clone();
        pools::refills::<P>(&mut plan);
        Ok(plan)
    }

    /// The same with tiles in which the largest shares of bits count, or in which they do not.
    pub(crate) fn in_tiles<P: Protocol>(
        &self,
        from: &Plan,
        (most_rows, wide): (u64, bool),
        choice: (Choice, Taken<'_>),
        made: &mut Made,
    ) -> Result<Plan, Diagnostic> {
        let key = (
            from.lookups,
            wide,
            most_rows,
            Kind::of(from.lookups, choice.0),
        );
        let lowered = self.lower::<P>(key, made)?;
        let mut plan = self.planned::<P>(&lowered, from.lookups, choice)?;
        plan.setting = from.setting.clone();
        pools::refills::<P>(&mut plan);
        Ok(plan)
    }

    fn lower<P: Protocol>(&self, key: Key, made: &mut Made) -> Result<Rc<InTiles>, Diagnostic> {
        if let Some(lowered) = made.lowered.get(&key) {
            return Ok(Rc::clone(lowered));
        }
        let (lookups, wide, most_rows, kind) = key;
        let draft = &self.drafts.of(kind).draft;
        let domains = Domains::of::<P>(self.settings[0].parties, wide);
        let rows = &self.program.rows;
        let mut tiles = tile::tiles(draft, rows.len(), &domains);
        tiles
            .iter_mut()
            .for_each(|tile| *tile = most_rows.clamp(1, *tile));
        let bounds = rows.iter().map(|rows| rows.bound).collect::<Vec<_>>();
        let target = lower::Target {
            domains: &domains,
            prices: self.prices.as_ref(),
            lookups,
        };
        let mut lower = |tiles: &[u64]| {
            let bodies = &mut made.bodies;
            lower::lower(draft, &self.owners, tiles, &bounds, target, bodies)
        };
        let mut lowered = lower(&tiles)?;
        let fitting = tile::with_tapes(&tiles, draft, &lowered, &domains);
        if fitting != tiles {
            // Trees over the rows of a tile have other levels now.
            tiles = fitting;
            lowered = lower(&tiles)?;
        }
        passes::lowered(draft, &lowered).map_err(broken)?;
        let lowered = Rc::new(InTiles {
            domains,
            tiles,
            lowered,
        });
        made.lowered.insert(key, Rc::clone(&lowered));
        Ok(lowered)
    }

    /// The passes after `lower`.
    fn planned<P: Protocol>(
        &self,
        made: &InTiles,
        lookups: Lookups,
        (choice, taken): (Choice, Taken<'_>),
    ) -> Result<Plan, Diagnostic> {
        let rows = self.program.rows.iter().zip(&made.tiles);
        let rows = rows.map(|(rows, tile)| RowPlan {
            name: rows.name.clone(),
            bound: rows.bound,
            sum: rows.sum.clone(),
            tile: *tile,
        });
        let mut plan = Plan {
            protocol: P::profile().name,
            setting: self.settings[0].clone(),
            owners: self.owners.clone(),
            rows: rows.collect(),
            tapes: made.lowered.tapes.clone(),
            values: vec![],
            segments: vec![],
            results: vec![],
            lookups,
            choice,
            taken: vec![],
            others: vec![],
        };
        let forms = &made.lowered.forms;
        let Units { draft, pinned } = self.units(lookups, choice);
        let taken = if taken.is_empty() { pinned } else { taken };
        let (steps, results) = choose::domains::<P>(draft, forms, (choice, taken), &mut plan);
        let before = rearrange::outline(&steps);
        plan.segments = rearrange::rearrange(steps);
        rearrange::check(&before, &plan.segments).map_err(broken)?;
        let revealed = self.program.results.iter().zip(results);
        let revealed = revealed.map(|(reveal, value)| result(&self.program, reveal, value));
        plan.results = revealed.collect();
        keep(&mut plan);
        pools::settle::<P>(&mut plan);
        pools::reveal::<P>(&mut plan, &made.domains);
        check::check::<P>(&plan).map_err(broken)?;
        limit::check(&plan)?;
        pools::refills::<P>(&mut plan);
        plan.setting = roles::<P>(&plan, &self.settings);
        // Their size may depend on the roles.
        pools::refills::<P>(&mut plan);
        Ok(plan)
    }
}

/// Most rows at which sizes of tiles are compared.
const COMPARED_ROWS: u64 = 1 << 18;

/// Number of rows at which assignments of roles are compared.
const NOMINAL_ROWS: u64 = 1024;

/// Returns the assignment of roles with the fewest payload bytes at a nominal number of rows; the
/// first one of several equal ones.
fn roles<P: Protocol>(plan: &Plan, settings: &[Setting]) -> Setting {
    let rows = plan
        .rows
        .iter()
        .map(|rows| rows.bound.min(NOMINAL_ROWS))
        .collect::<Vec<_>>();
    let bytes = |setting: &&Setting| cost::payload_bytes::<P>(plan, setting, &rows);
    let best = settings.iter().min_by_key(bytes);
    best.unwrap_or(&plan.setting).clone()
}

/// Marks the values with rows that are read after the segment in which they are made.
fn keep(plan: &mut Plan) {
    let mut made_in = vec![usize::MAX; plan.values.len()];
    let results = plan.results.iter().map(|result| result.value);
    let mut outlives = results.collect::<Vec<_>>();
    for (index, segment) in plan.segments.iter().enumerate() {
        for step in &segment.steps {
            step.op
                .writes()
                .iter()
                .for_each(|out| made_in[out.0 as usize] = index);
            let reads = step.op.reads().into_iter();
            outlives.extend(reads.filter(|value| made_in[value.0 as usize] != index));
        }
    }
    for value in outlives {
        let value = &mut plan[value];
        value.kept = value.rows.is_some();
    }
}

/// Makes the plan's entry for a result.
fn result(program: &Program, reveal: &Reveal, value: PlanValue) -> ResultPlan {
    let of = &program.main[reveal.value];
    ResultPlan {
        name: reveal.name.clone(),
        value,
        to: PartySet::of(reveal.to.iter().map(|party| PartyId(*party))),
        ty: reveal.ty,
        range: of.range,
        fixed: of.shape.fixed.clone(),
        by_tile: false,
    }
}
