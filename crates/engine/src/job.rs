//! A job: a program, planned for its parties and helpers, a protocol and a declared network class.
//! People approve its hash.

use crate::asked::Asked;
use crate::check::{is_secret, options};
use crate::error::EngineError;
use crate::split_plan::SplitPlan;
use sealane_auth::{Auth, Transfers};
use sealane_clear::Clear;
use sealane_diagnostic::{Code, Diagnostic, counted};
use sealane_identity::PublicKey;
use sealane_mixed::{Gmw, Mixed};
use sealane_parties::{NetworkClass, PartyId};
use sealane_party::Party;
use sealane_plan::{CostReport, Form, JobParts, JobText, Plan, at_rows, fewest_helpers, suits};
use sealane_program::builder::Builder;
use sealane_program::graph::{Program, summed_rows};
use sealane_program::without_empty;
use sealane_protocol::{Adversary, Paper, Profile, Protocol, Role, Security};
use sealane_trio::{Guarded, Trio};
use sealane_yao::{ThreeHalves, Yao};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// Calls a function that is generic over the party for the protocol that a [`ProtocolName`]
/// names. Only this macro knows both plans and protocols.
macro_rules! dispatch {
    ($name:expr, $function:ident($($argument:expr),* $(,)?)) => {
        match $name {
            $crate::job::ProtocolName::Yao => {
                $function::<sealane_yao::YaoParty>($($argument),*)
            }
            $crate::job::ProtocolName::YaoThreeHalves => {
                $function::<sealane_yao::YaoParty<sealane_yao::ThreeHalves>>($($argument),*)
            }
            $crate::job::ProtocolName::Trio => {
                $function::<sealane_trio::TrioParty>($($argument),*)
            }
            $crate::job::ProtocolName::TrioMalicious => {
                $function::<sealane_trio::GuardedParty>($($argument),*)
            }
            $crate::job::ProtocolName::Gmw => {
                $function::<sealane_mixed::GmwParty>($($argument),*)
            }
            $crate::job::ProtocolName::Mixed => {
                $function::<sealane_mixed::MixedParty>($($argument),*)
            }
            $crate::job::ProtocolName::Auth => {
                $function::<sealane_auth::AuthParty<sealane_auth::Transfers>>($($argument),*)
            }
            $crate::job::ProtocolName::Clear => {
                $function::<sealane_clear::ClearParty>($($argument),*)
            }
        }
    };
}
pub(crate) use dispatch;

/// Name of a protocol of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProtocolName {
    /// Garbled circuits between two parties.
    Yao,
    /// Garbled circuits between two parties, with smaller tables that take longer to make.
    YaoThreeHalves,
    /// Replicated sharing between three parties.
    Trio,
    /// The same, with proofs, against one of them who deviates.
    TrioMalicious,
    /// XOR and additive sharing between two parties.
    Gmw,
    /// The same, and circuits on labels where these are faster.
    Mixed,
    /// Authenticated garbling between two parties, of whom one may deviate.
    Auth,
    /// The reference in the clear, without any secrecy.
    Clear,
}

impl ProtocolName {
    /// All protocols that can be chosen.
    pub const ALL: [ProtocolName; 8] = [
        ProtocolName::Yao,
        ProtocolName::YaoThreeHalves,
        ProtocolName::Trio,
        ProtocolName::TrioMalicious,
        ProtocolName::Gmw,
        ProtocolName::Mixed,
        ProtocolName::Auth,
        ProtocolName::Clear,
    ];

    /// The protocol that is used unless another is named.
    pub const DEFAULT: ProtocolName = ProtocolName::Yao;

    /// The protocol of this name that withstands what is asked: a name stands for both profiles of
    /// `trio`.
    pub fn against(self, asked: Option<&Asked>) -> ProtocolName {
        match (self, asked.map(|asked| asked.adversary)) {
            (ProtocolName::Trio, Some(Adversary::Malicious)) => ProtocolName::TrioMalicious,
            _ => self,
        }
    }

    /// Returns the properties of the protocol.
    pub fn profile(self) -> Profile {
        match self {
            ProtocolName::Yao => <Yao>::profile(),
            ProtocolName::YaoThreeHalves => Yao::<ThreeHalves>::profile(),
            ProtocolName::Trio => Trio::profile(),
            ProtocolName::TrioMalicious => Guarded::profile(),
            ProtocolName::Gmw => Gmw::profile(),
            ProtocolName::Mixed => Mixed::profile(),
            ProtocolName::Auth => Auth::<Transfers>::profile(),
            ProtocolName::Clear => Clear::profile(),
        }
    }
}

impl fmt::Display for ProtocolName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.profile().name)
    }
}

impl FromStr for ProtocolName {
    type Err = EngineError;

    fn from_str(name: &str) -> Result<ProtocolName, EngineError> {
        let known = ProtocolName::ALL
            .into_iter()
            .find(|protocol| protocol.profile().name == name);
        known.ok_or_else(|| {
            let all = ProtocolName::ALL
                .map(|protocol| protocol.to_string())
                .join(", ");
            let what = format!("there is no protocol `{name}`");
            let finding = Diagnostic::new(Code::UnknownProtocol, what);
            EngineError::from(finding.hint(format!("choose one of: {all}")))
        })
    }
}

/// Creates the refusal of a number of parties. It names the other protocols that compute with so
/// many parties, and the fewest helpers that each of them needs.
fn with_others(
    mut refused: Diagnostic,
    protocol: ProtocolName,
    program: &Program,
    parties: usize,
) -> Diagnostic {
    if refused.code != "parties" {
        return refused;
    }
    let helpers = parties - program.parties.len();
    // Protocols that compute with equally many parties are equivalent here, but where one of them
    // alone lets others give and learn.
    let kind = |profile: &Profile| (profile.roles.len(), profile.outsiders);
    let covers = |one: &(usize, bool), other: (usize, bool)| one.0 == other.0 && one.1 >= other.1;
    let malicious = |profile: &Profile| profile.corruption.covers(Adversary::Malicious);
    let mut seen = vec![kind(&protocol.profile())];
    let mut ways = vec![refused.hint];
    for other in ProtocolName::ALL.into_iter().filter(is_secret) {
        let profile = other.profile();
        // A weaker one is no way out.
        let weaker = malicious(&protocol.profile()) && !malicious(&profile);
        if weaker || seen.iter().any(|one| covers(one, kind(&profile))) {
            continue;
        }
        seen.push(kind(&profile));
        let needed = if suits(&profile, program, helpers) {
            Some(Vec::new())
        } else {
            fewest_helpers(&profile, program)
        };
        ways.extend(needed.map(|helpers| format!("choose {}", options(other, &helpers))));
    }
    ways.retain(|way| !way.is_empty());
    refused.hint = ways.join(", or ");
    refused
}

/// Rest of a job in a run, with the row counts of its own program.
pub(crate) type Rest = (Job, Vec<u64>);

/// Program that is planned and can be approved, simulated and run.
pub struct Job {
    program: Program,
    parties: Vec<String>,
    split_plan: SplitPlan,
    protocol: ProtocolName,
    network: NetworkClass,
    /// Most rows of a tile.
    most_rows: u64,
    parts: JobParts,
}

impl Job {
    /// Checks and plans a program. The parties of its sessions are those of the program and then
    /// the `helpers`, which own nothing and learn nothing but may compute.
    ///
    /// # Errors
    /// The program or a helper's name is invalid, or the parties do not suit the protocol.
    pub fn new(
        program: Program,
        protocol: ProtocolName,
        network: NetworkClass,
        helpers: Vec<String>,
    ) -> Result<Job, EngineError> {
        Job::in_tiles(program, protocol, network, helpers, u64::MAX)
    }

    /// Does the same as [`Job::new`], with at most `most_rows` rows a tile, for tests of effects
    /// between tiles. The result is a different job.
    ///
    /// # Errors
    /// The errors of [`Job::new`].
    pub fn in_tiles(
        program: Program,
        protocol: ProtocolName,
        network: NetworkClass,
        helpers: Vec<String>,
        most_rows: u64,
    ) -> Result<Job, EngineError> {
        fn planned<P: Party>(
            program: &Program,
            parties: &[String],
            network: NetworkClass,
            most_rows: u64,
        ) -> Result<(SplitPlan, JobParts), Diagnostic> {
            let helpers = parties.len() - program.parties.len();
            let split_plan = SplitPlan::plan::<P::Protocol>(program, helpers, network, most_rows)?;
            let parts = split_plan
                .text::<P::Protocol>(program, parties, network)
                .parts();
            Ok((split_plan, parts))
        }
        let parties = session(&program, helpers)?;
        let planned = dispatch!(protocol, planned(&program, &parties, network, most_rows));
        let refused = |finding| with_others(finding, protocol, &program, parties.len());
        let (split_plan, parts) = planned.map_err(refused)?;
        Ok(Job {
            program,
            parties,
            split_plan,
            protocol,
            network,
            most_rows,
            parts,
        })
    }

    /// Returns the job of what is left of the program in a run in which tables have no rows, and
    /// its row counts; none if all tables have rows.
    ///
    /// # Errors
    /// A result has no meaning without those rows.
    pub(crate) fn rest(&self, rows: &[u64]) -> Result<Option<Rest>, EngineError> {
        let known = rows.iter().map(|count| Some(*count)).collect::<Vec<_>>();
        let Some(program) = without_empty(&self.program, &known)? else {
            return Ok(None);
        };
        let mut counts = Vec::new();
        for (place, table) in program.rows.iter().enumerate() {
            let sum = summed_rows(table, &counts);
            // An input without rows has one that nothing reads.
            counts.push(sum.or_else(|| Some(rows[place].max(1))));
        }
        let counts = counts.into_iter().flatten().collect();
        let helpers = self.helpers().to_vec();
        let mut job = Job::new(program, self.protocol, self.network, helpers)?;
        if self.is_pooled() {
            job = job.from_pool()?;
        }
        Ok(Some((job, counts)))
    }

    /// Returns the same job with its oblivious transfers from the pool of its two parties, planned
    /// with them: another job, which all of them have to approve.
    ///
    /// # Errors
    /// The protocol has no use for a pool, or there are more than two parties.
    pub fn from_pool(mut self) -> Result<Job, EngineError> {
        fn planned<P: Party>(job: &mut Job) -> Result<(), Diagnostic> {
            let (program, most) = (&job.program, job.most_rows);
            (job.split_plan).plan_from_pool::<P::Protocol>(program, job.network, most)
        }
        if !self.protocol.profile().pools || self.parties.len() != 2 {
            let (protocol, count) = (self.protocol, self.parties.len());
            let what = format!("`{protocol}` between {count} parties cannot use a pool");
            let pools = ProtocolName::ALL.into_iter();
            let pools = pools.filter(|of| of.profile().pools);
            let names = pools.map(|of| format!("`{of}`")).collect::<Vec<_>>();
            let finding = Diagnostic::new(Code::NoPool, what)
                .because("A pool holds oblivious transfers between two parties.")
                .hint(format!(
                    "leave `--pool` out, or choose one of {} between two parties",
                    names.join(", ")
                ));
            return Err(EngineError::from(finding));
        }
        dispatch!(self.protocol, planned(&mut self))?;
        self.parts = self.text().parts();
        Ok(self)
    }

    /// Returns whether runs take their oblivious transfers from a pool.
    pub fn is_pooled(&self) -> bool {
        self.plan().setting.pooled
    }

    /// Returns the program.
    pub fn program(&self) -> &Program {
        &self.program
    }
    /// Returns the names of all parties of a session: those of the program, then the helpers. A
    /// [`PartyId`] is an index into them.
    pub fn parties(&self) -> &[String] {
        &self.parties
    }
    /// Returns the names of the helpers.
    pub fn helpers(&self) -> &[String] {
        &self.parties[self.program.parties.len()..]
    }
    /// Returns the name of each role of the protocol with the party that plays it. Empty if the
    /// protocol has no roles, so that all parties compute alike.
    pub fn roles(&self) -> Vec<(&'static str, PartyId)> {
        let profile = self.protocol.profile();
        let roles = profile.roles.iter().zip(&self.plan().setting.roles);
        let players = |(role, players): (&Role, &Vec<PartyId>)| {
            let name = role.name;
            players
                .iter()
                .map(move |party| (name, *party))
                .collect::<Vec<_>>()
        };
        roles.flat_map(players).collect()
    }
    /// Returns the plan of the work that all parties do together.
    pub fn plan(&self) -> &Plan {
        &self.split_plan.joint
    }
    /// Returns the joint and local plans of the job.
    pub(crate) fn split_plan(&self) -> &SplitPlan {
        &self.split_plan
    }
    /// Returns the protocol.
    pub fn protocol(&self) -> ProtocolName {
        self.protocol
    }
    /// Returns the declared network class.
    pub fn network(&self) -> NetworkClass {
        self.network
    }
    /// Returns the papers that a run of this cost rests on: those of its protocol, then those of
    /// every session.
    pub fn references<'a>(&self, cost: &'a CostReport) -> impl Iterator<Item = &'a Paper> {
        cost.basis.references.iter().chain(SESSION)
    }
    /// Returns the text of its parts, which their hashes cover.
    pub fn text(&self) -> JobText<'_> {
        fn of<P: Party>(job: &Job) -> JobText<'_> {
            let (program, parties) = (&job.program, &job.parties);
            job.split_plan
                .text::<P::Protocol>(program, parties, job.network)
        }
        dispatch!(self.protocol, of(self))
    }
    /// Returns the hash that people approve, in hex.
    pub fn hash(&self) -> String {
        hex::encode(self.parts.hash())
    }
    /// Returns the hash of each part.
    pub fn parts(&self) -> &JobParts {
        &self.parts
    }
    /// Returns the hash of the job with row counts, the form of the plan that they lead to, and
    /// public keys, which machines compare. There are as many counts as the program has tables, and
    /// a key for each party or no key at all, so the encoding is unambiguous.
    pub(crate) fn instance_hash(&self, rows: &[u64], form: Form, keys: &[PublicKey]) -> [u8; 32] {
        instance_hash(&self.parts.hash(), rows, form, keys)
    }

    /// Returns the exact cost of a run with these row counts.
    ///
    /// # Errors
    /// There are not as many counts as tables, one is above its bound, or a result has no meaning
    /// without rows.
    pub fn cost(&self, rows: &[u64]) -> Result<CostReport, EngineError> {
        fn of<P: Party>(split_plan: &SplitPlan, rows: &[u64]) -> CostReport {
            split_plan.cost::<P::Protocol>(rows)
        }
        self.check_rows(rows)?;
        if let Some((job, counts)) = self.rest(rows)? {
            return job.cost(&counts).map(|cost| self.cost_of(cost, rows));
        }
        Ok(dispatch!(self.protocol, of(&self.split_plan, rows)))
    }

    /// Returns the cost of what is left of a run with these row counts as that of the whole.
    pub(crate) fn cost_of(&self, mut rest: CostReport, rows: &[u64]) -> CostReport {
        let tables = self.program.rows.iter().map(|table| table.name.clone());
        rest.rows = tables.zip(rows.iter().copied()).collect();
        rest
    }

    /// Returns the plan that a run with these row counts follows: of several forms of lookups, the
    /// one that is estimated to take the least time.
    ///
    /// # Errors
    /// As [`Job::cost`].
    pub fn plan_at(&self, rows: &[u64]) -> Result<Cow<'_, Plan>, EngineError> {
        fn of<'a, P: Party>(plan: &'a Plan, rows: &[u64]) -> Cow<'a, Plan> {
            at_rows::<P::Protocol>(plan, rows)
        }
        self.check_rows(rows)?;
        if let Some((job, counts)) = self.rest(rows)? {
            return Ok(Cow::Owned(job.plan_at(&counts)?.into_owned()));
        }
        Ok(dispatch!(self.protocol, of(self.plan(), rows)))
    }

    /// Checks that each table may have so many rows.
    fn check_rows(&self, rows: &[u64]) -> Result<(), EngineError> {
        let tables = &self.program.rows;
        if rows.len() != tables.len() {
            let want = tables.len();
            let finding = Diagnostic::new(
                Code::RowCount,
                format!("the program has {}", counted(want as u64, "table")),
            );
            let hint = "give one number of rows for each, in the order of the program";
            return Err(EngineError::from(finding.hint(hint)));
        }
        for (count, table) in rows.iter().zip(tables) {
            if !table.allows(*count) {
                let (name, bound) = (&table.name, table.bound);
                let message = format!("`{name}` has at most {bound} rows, and not {count}");
                let finding = Diagnostic::new(Code::RowCount, message);
                let hint = format!("state at most {bound} rows");
                return Err(EngineError::from(finding.hint(hint)));
            }
            let known = rows.iter().map(|count| Some(*count)).collect::<Vec<_>>();
            let sum = summed_rows(table, &known).unwrap_or(*count);
            if sum != *count {
                let name = &table.name;
                let message = format!(
                    "{} of `{name}`, whose parts have {sum}",
                    counted(*count, "row")
                );
                let finding = Diagnostic::new(Code::RowCount, message);
                let hint = "leave it out: it follows from the others";
                return Err(EngineError::from(finding.hint(hint)));
            }
        }
        Ok(())
    }

    /// Returns the row counts for a person who has not given any: every table at its bound.
    pub fn bounds(&self) -> Vec<u64> {
        self.program.rows.iter().map(|table| table.bound).collect()
    }
}

/// Computes [`Job::instance_hash`] of the job with this hash.
pub(crate) fn instance_hash(
    job: &[u8; 32],
    rows: &[u64],
    form: Form,
    keys: &[PublicKey],
) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("sealane instance 2");
    hasher.update(job);
    for count in rows {
        hasher.update(&count.to_le_bytes());
    }
    hasher.update(&form.to_bytes());
    for key in keys {
        hasher.update(key.as_bytes());
    }
    *hasher.finalize().as_bytes()
}

/// Papers that every session rests on.
const SESSION: &[Paper] = &[
    Paper {
        part: "channels",
        authors: "Rescorla",
        venue: "RFC 8446, 2018",
        section: "",
        assumption: "TLS 1.3; pinned Ed25519 keys were compared by people",
        security: Security::Computational(128),
    },
    Paper {
        part: "digests",
        authors: "O'Connor, Aumasson, Neves, Wilcox-O'Hearn",
        venue: "BLAKE3, 2020",
        section: "",
        assumption: "collision resistance; what they settle guards against accident alone",
        security: Security::Computational(128),
    },
];

/// Checks the names of all parties of a session: unique, and valid as names of a program's parties.
fn session(program: &Program, helpers: Vec<String>) -> Result<Vec<String>, EngineError> {
    let mut names = Builder::new(&program.name)?;
    for party in &program.parties {
        names.party(party)?;
    }
    for (at, helper) in helpers.iter().enumerate() {
        let refused = |what: String| Diagnostic::new(Code::HelperName, what);
        if program.parties.contains(helper) {
            let what = format!("`{helper}` cannot be a helper: it is a party of the program");
            let finding = refused(what)
                .because("Parties of the program compute wherever the protocol lets them.")
                .hint("name helpers otherwise");
            return Err(EngineError::from(finding));
        }
        if helpers[..at].contains(helper) {
            let finding = refused(format!("two helpers are called `{helper}`"));
            return Err(EngineError::from(
                finding.hint("give each a name of its own"),
            ));
        }
        if let Err(finding) = names.party(helper) {
            let (nth, count) = (at + 1, helpers.len());
            let what = format!("helper {nth} of {count}: {}", finding.message);
            let finding = refused(what).because(finding.reason).hint(finding.hint);
            return Err(EngineError::from(finding));
        }
    }
    Ok([program.parties.clone(), helpers].concat())
}
