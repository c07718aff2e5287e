//! From a configuration to the mesh of a run.
//!
//! Parties meet in an order that does not depend on the order of the helpers: those of the program,
//! then the helpers by name. Each then numbers the others as its own job does. So two sides that
//! list the same helpers in different orders can connect, and the handshake reports the difference.

use crate::Failure;
use crate::config::{Config, Party};
use sealane_diagnostic::Code;
use sealane_engine::{Adversary, Asked, EngineError, Job, NetworkClass, ProtocolChoice};
use sealane_identity::{Identity, PublicKey};
use sealane_net::{Cancel, Endpoint, Limits, Mesh, MeshConfig, NetError};
use sealane_parties::PartyId;
use sealane_pool::Pool;
use std::path::{Path, PathBuf};

/// Returns the index of a party of a job, of its program or a helper.
///
/// # Errors
/// The job has no such party.
pub fn party_index(job: &Job, name: &str) -> Result<u8, Failure> {
    let parties = job.parties();
    let index = parties.iter().position(|party| party == name);
    index.map(|index| index as u8).ok_or_else(|| {
        let (what, beside) = match job.helpers() {
            [] => (
                "the program has no party",
                "a helper is named with `--helpers`",
            ),
            _ => ("neither the program nor `--helpers` names", "mend the name"),
        };
        let known = parties.join(", ");
        let hint = format!("the parties are: {known}; {beside}");
        Failure::new(Code::UnknownParty, format!("{what} `{name}`"), hint)
    })
}

/// Selects the helpers: those of the command, else those of the configuration, else none.
pub fn helpers(stated: Option<&[String]>, config: Option<&Config>) -> Vec<String> {
    let configured = config.and_then(|config| config.helpers.as_deref());
    stated.or(configured).unwrap_or_default().to_vec()
}

/// Selects the network class: the one of the command, else of the configuration, else a LAN.
pub fn network(stated: Option<NetworkClass>, config: Option<&Config>) -> NetworkClass {
    let configured = config.and_then(|config| config.network);
    stated.or(configured).unwrap_or(NetworkClass::LAN)
}

/// Selects the protocol: the one of the command, else of the configuration, else `yao` or what
/// withstands more where that is asked.
pub fn protocol(stated: Option<ProtocolChoice>, config: Option<&Config>) -> ProtocolChoice {
    let configured = config.and_then(|config| config.protocol);
    stated.or(configured).unwrap_or(ProtocolChoice::Usual)
}

/// Selects what the protocol has to withstand: what the command asks, else the configuration.
pub fn security(stated: Option<Adversary>, config: Option<&Config>) -> Option<Asked> {
    let configured = || config.and_then(|config| config.security.clone());
    stated.map(Asked::from).or_else(configured)
}

/// Finds the name of this party: the stated one, else `me` of the configuration, else the party
/// whose key matches the private key.
///
/// # Errors
/// None of these gives a name.
pub fn own_name(
    stated: Option<&str>,
    config: &Config,
    identity: Option<&Path>,
) -> Result<String, Failure> {
    if let Some(name) = stated.or(config.me.as_deref()) {
        return Ok(name.to_string());
    }
    let hint = "say so with `--as PARTY`, or write `me = \"PARTY\"` into the configuration, above \
                its first table";
    let Some(file) = identity.or(config.identity.as_deref()) else {
        let what = "nothing says which party this is";
        return Err(Failure::new(Code::WhoAmI, what, hint));
    };
    let key = load(file)?.public_key();
    let mut parties = config.parties.iter();
    let own = parties.find(|(_, party)| party.key == key);
    own.map(|(name, _)| name.clone()).ok_or_else(|| {
        let file = file.display();
        let what = format!("{file} is the key of no party in the configuration");
        Failure::new(Code::WhoAmI, what, hint)
    })
}

/// Returns the party `name` of the configuration.
///
/// # Errors
/// The configuration lacks it.
pub fn party_config<'a>(name: &str, config: &'a Config) -> Result<&'a Party, Failure> {
    config.parties.get(name).ok_or_else(|| missing_party(name))
}

/// Loads the private key of the party `name`, from the stated file or the configured one.
///
/// # Errors
/// The configuration lacks the party, or its private key is unknown, cannot be read, or belongs to
/// another party.
pub fn identity(name: &str, config: &Config, stated: Option<&Path>) -> Result<Identity, Failure> {
    let own = party_config(name, config)?;
    let file = stated.or(own.identity.as_deref()).ok_or_else(|| {
        let what = format!("the private key of `{name}` is not known");
        let hint = "name its file with `--identity`, or as `identity` in the file";
        Failure::new(Code::NoIdentity, what, hint)
    })?;
    let identity = load(file)?;
    if identity.public_key() != own.key {
        let [shown, pinned] = [identity.public_key(), own.key].map(PublicKey::fingerprint);
        let what = format!(
            "{} is not the key of `{name}`: its fingerprint is {shown}, that of the key in the \
             configuration is {pinned}",
            file.display()
        );
        let hint = "name the right file, or mend the configuration";
        return Err(Failure::new(Code::OtherIdentity, what, hint));
    }
    Ok(identity)
}

fn load(file: &Path) -> Result<Identity, Failure> {
    Identity::load(file).map_err(|error| {
        let hint = "`sealane init NAME` makes a key, in a folder that has none";
        Failure::new(Code::KeyFile, error.to_string(), hint)
    })
}

/// Failure for a configuration that lacks a party.
fn missing_party(name: &str) -> Failure {
    let what = format!("the configuration lacks the party `{name}`");
    let hint = format!(
        "ask it for its card, `sealane card`, and add that with `sealane peer add CARD --name {name}`"
    );
    Failure::new(Code::ConfigParty, what, hint)
}

/// Returns the limits of time and memory in the configuration.
pub fn limits(config: &Config) -> Limits {
    let limits = Limits::default();
    let silence = config.timeout.unwrap_or(limits.silence);
    let connect = config.timeout.unwrap_or(limits.connect);
    Limits {
        connect: config.wait.unwrap_or(connect),
        patience: config.patience.unwrap_or(limits.patience),
        silence,
        ..limits
    }
}

/// Prepared meeting of a party with the others.
pub struct Meeting {
    /// Configuration of the mesh, with the parties in the order in which they meet.
    config: MeshConfig,
    /// Index of each party of the job in that order.
    places: Vec<PartyId>,
    /// Number of this party in its job.
    me: PartyId,
    /// Number of helpers among the job's parties.
    helpers: usize,
    /// Folder of the pools of this party.
    pools: PathBuf,
}

impl Meeting {
    /// Returns the token that ends the meeting.
    pub fn cancel(&self) -> &Cancel {
        &self.config.cancel
    }

    /// Returns the number of this party in its job.
    pub fn me(&self) -> PartyId {
        self.me
    }

    /// Returns the pool of this party with the other, if there are two.
    pub fn pool(&self) -> Option<Pool> {
        let config = &self.config;
        let [one, other] = &config.parties[..] else {
            return None;
        };
        let peer = if config.me.0 == 0 { other } else { one };
        Some(Pool::new(&self.pools, &config.identity, &peer.key))
    }

    /// Returns the names of the parties, in the order of their numbers.
    pub fn names(&self) -> Vec<String> {
        let name = |place: &PartyId| self.config.parties[place.index()].name.clone();
        self.places.iter().map(name).collect()
    }

    /// Lets `cancel` end the meeting, and the run after it.
    pub fn cancelled_by(&mut self, cancel: &Cancel) {
        self.config.cancel = cancel.clone();
    }
}

/// Prepares the meeting of party `me` with the others; nothing is sent yet. The private key is in
/// the stated file or the configured one.
///
/// # Errors
/// The configuration lacks a party or its private key, or that key belongs to another party.
pub fn prepare(
    job: &Job,
    me: u8,
    config: &Config,
    identity: Option<&Path>,
) -> Result<Meeting, Failure> {
    let identity = |name: &str| self::identity(name, config, identity);
    prepare_with(job, me, config, identity)
}

/// Does the same as [`prepare`] with the private key that `identity` finds.
///
/// # Errors
/// The errors of [`prepare`].
pub fn prepare_with(
    job: &Job,
    me: u8,
    config: &Config,
    identity: impl FnOnce(&str) -> Result<Identity, Failure>,
) -> Result<Meeting, Failure> {
    let mut in_order = job.parties().to_vec();
    in_order[job.program().parties.len()..].sort();
    let place = |name: &String| in_order.iter().position(|party| party == name);
    let places = job.parties().iter().filter_map(place);
    let places = places.map(PartyId::from_index).collect::<Vec<_>>();
    let (me, place) = (PartyId(me), places[usize::from(me)]);
    let name = &job.parties()[me.index()];
    let mesh = mesh_config(&in_order, place, config, || identity(name))?;
    let (helpers, pools) = (job.helpers().len(), config.pools.clone());
    Ok(Meeting {
        config: mesh,
        places,
        me,
        helpers,
        pools,
    })
}

/// Tells the other parties of a job, as far as this one knows them, that its configuration lacks
/// some of them, so that they do not wait in vain. It takes a few seconds at most; a party that is
/// not there yet hears nothing. Does nothing if the configuration lacks no party, or this one.
///
/// # Errors
/// The private key of this party cannot be loaded; another failure to tell changes nothing.
pub fn report_missing(
    job: &Job,
    me: u8,
    config: &Config,
    identity: impl FnOnce(&str) -> Result<Identity, Failure>,
) -> Result<(), Failure> {
    let mut in_order = job.parties().to_vec();
    in_order[job.program().parties.len()..].sort();
    let own = &job.parties()[usize::from(me)];
    let is_missing = |name: &String| !config.parties.contains_key(name);
    let places = in_order.iter().enumerate();
    let missing = places.filter(|(_, name)| is_missing(name));
    let missing = missing.map(|(place, _)| PartyId::from_index(place));
    let missing = missing.collect::<Vec<_>>();
    let place = in_order.iter().position(|name| name == own);
    let (Some(place), false, false) = (place, missing.is_empty(), is_missing(own)) else {
        return Ok(());
    };
    // The address and the key of a party that is missing mean nothing.
    let endpoint = |name: &String| match config.parties.get(name) {
        Some(party) => party.endpoint(name),
        None => Endpoint {
            name: name.clone(),
            address: String::new(),
            key: Identity::generate().public_key(),
        },
    };
    let mesh = MeshConfig {
        me: PartyId::from_index(place),
        parties: in_order.iter().map(endpoint).collect(),
        identity: identity(own)?,
        listen: party_config(own, config)?.listen.clone(),
        limits: limits(config),
        cancel: Cancel::default(),
    };
    // The failure that is told here is the one that the caller has already.
    let _ = sealane_net::report_unlisted(&mesh, &missing);
    Ok(())
}

/// Prepares the meeting of this party with one other to fill a pool, without a job. They are
/// numbered by their keys, so that both number them alike.
///
/// # Errors
/// The errors of [`prepare`].
pub fn prepare_pair(
    [own, peer]: [&str; 2],
    config: &Config,
    identity: Option<&Path>,
) -> Result<Meeting, Failure> {
    let (ours, theirs) = (party_config(own, config)?, party_config(peer, config)?);
    if own == peer {
        let what = format!("`{own}` is this party itself");
        let hint = "name the other party with `--with`";
        return Err(Failure::new(Code::UnknownParty, what, hint));
    }
    let second = ours.key.as_bytes() > theirs.key.as_bytes();
    let in_order = if second { [peer, own] } else { [own, peer] }.map(String::from);
    let me = PartyId(second.into());
    let key = || self::identity(own, config, identity);
    let mut mesh = mesh_config(&in_order, me, config, key)?;
    for (name, endpoint) in in_order.iter().zip(&mut mesh.parties) {
        endpoint.address = party_config(name, config)?.for_pools().0;
    }
    mesh.listen = ours.for_pools().1;
    let (places, pools) = (vec![PartyId(0), PartyId(1)], config.pools.clone());
    Ok(Meeting {
        config: mesh,
        places,
        me,
        helpers: 0,
        pools,
    })
}

/// Configuration of a mesh of the parties of these names, in which this one has the number `me`.
///
/// # Errors
/// The configuration lacks one of the parties, or `identity` fails.
pub fn mesh_config(
    names: &[String],
    me: PartyId,
    config: &Config,
    identity: impl FnOnce() -> Result<Identity, Failure>,
) -> Result<MeshConfig, Failure> {
    let endpoint = |name: &String| Ok(party_config(name, config)?.endpoint(name));
    let parties = names.iter().map(endpoint);
    Ok(MeshConfig {
        me,
        parties: parties.collect::<Result<_, Failure>>()?,
        identity: identity()?,
        listen: party_config(&names[me.index()], config)?.listen.clone(),
        limits: limits(config),
        cancel: Cancel::default(),
    })
}

/// Connects to the other parties.
///
/// # Errors
/// A party cannot be reached, has another key, or runs another version.
pub fn connect(meeting: &Meeting) -> Result<Mesh, Failure> {
    let Meeting { config, places, .. } = meeting;
    let met = sealane_net::connect_transports(config);
    let mut met = met.map_err(|error| refused(meeting, error))?;
    let transports = places.iter().map(|place| met[place.index()].take());
    let mesh = Mesh::from_transports(meeting.me, transports.collect(), config.limits);
    let mut mesh = mesh.map_err(|error| refused(meeting, error))?;
    mesh.cancelled_by(&config.cancel);
    let keys = places.iter().map(|place| config.parties[place.index()].key);
    mesh.pin(keys.collect());
    Ok(mesh)
}

/// Failure of a meeting, with a hint if the two sides may not even list the same parties.
fn refused(meeting: &Meeting, error: NetError) -> Failure {
    let names = meeting.config.parties.iter();
    let names = names.map(|party| party.name.clone()).collect::<Vec<_>>();
    let unlike = match &error {
        // The error is about the other side's list, which may name helpers that this one does not.
        NetError::WrongParty { .. } => true,
        NetError::WrongKey { .. } => meeting.helpers > 0,
        _ => false,
    };
    let error = EngineError::from_net(error, &names);
    let hint = &error.finding().hint;
    let hint = format!("{hint}; all sides have to name the same helpers: compare `--helpers`");
    if unlike { error.hint(hint) } else { error }.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sealane_engine::{Journal, ProtocolName, RunReport};
    use sealane_program::text;
    use sealane_program::types::{Data, Type};
    use std::thread;
    use std::time::{Duration, Instant};

    const PROGRAM: &str = "sealane program 1\nname p\nparty a\nparty b\ninput x : a u8 in 0..255\n\
        main {\n  %0 = param 0 : u8 in 0..255 known a\n}\nreveal r = %0 : u8 to b\n";

    /// Configuration with keys of this test, and ports of loopback.
    fn config(folder: &Path) -> Config {
        let party = |name: &str| {
            let (identity, file) = (Identity::generate(), folder.join(format!("{name}.key")));
            identity.save(&file).unwrap();
            let port = sealane_net::free_loopback_port().unwrap();
            let party = Party {
                address: format!("127.0.0.1:{port}"),
                listen: None,
                pool_port: None,
                key: identity.public_key(),
                identity: Some(file),
            };
            (name.to_string(), party)
        };
        Config {
            parties: ["a", "b", "ada", "cyd"].map(party).into(),
            pools: folder.join("pools"),
            timeout: Some(Duration::from_secs(20)),
            ..Config::default()
        }
    }

    #[test]
    fn waiting_for_others_is_bounded_by_itself() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = config(folder.path());
        let seconds = |config: &Config| {
            let limits = limits(config);
            (limits.connect.as_secs(), limits.silence.as_secs())
        };
        assert_eq!(seconds(&config), (20, 20));
        config.wait = Some(Duration::from_secs(600));
        assert_eq!(seconds(&config), (600, 20));
        assert_eq!(limits(&config).patience, Limits::default().patience);
        config.patience = Some(Duration::from_secs(7));
        assert_eq!(limits(&config).patience.as_secs(), 7);
    }

    /// Meets the others over TLS and runs a job.
    fn run(job: &Job, me: u8, config: &Config) -> Result<RunReport, Failure> {
        let mut mesh = connect(&prepare(job, me, config, None)?)?;
        let x = Data::from_numbers(Type::U8, vec![], &[7]);
        let (inputs, mut silent) = ([x.filter(|_| me == 0)], Journal::silent());
        Ok(sealane_engine::run(job, &inputs, &mut mesh, &mut silent)?)
    }

    /// Runs a session over TLS, in which each party lists its own helpers.
    fn session(sides: &[(&str, &[&str])]) -> Vec<Result<RunReport, String>> {
        let folder = tempfile::tempdir().unwrap();
        let config = &config(folder.path());
        let run = |(name, helpers): &(&str, &[&str])| {
            let helpers = helpers.iter().map(|helper| helper.to_string()).collect();
            let program = text::parse(PROGRAM, "p").unwrap();
            let job = Job::new(program, ProtocolName::Clear, NetworkClass::LAN, helpers)?;
            let me = party_index(&job, name)?;
            run(&job, me, config)
        };
        let text = |result: Result<_, Failure>| result.map_err(|error| error.to_string());
        thread::scope(|scope| {
            let begin = |side| scope.spawn(move || text(run(side)));
            let threads: Vec<_> = sides.iter().map(begin).collect();
            let ends = threads.into_iter().map(thread::ScopedJoinHandle::join);
            ends.map(|end| end.expect("no panic")).collect()
        })
    }

    #[test]
    fn a_party_is_who_it_says_or_whose_key_it_has() {
        let folder = tempfile::tempdir().unwrap();
        let mut config = config(folder.path());
        let key_of = |name: &str| config.parties[name].identity.clone();
        let (ada, cyd) = (key_of("ada"), key_of("cyd"));
        let whose = |config: &Config, stated, identity: Option<&PathBuf>| {
            let name = own_name(stated, config, identity.map(PathBuf::as_path));
            name.map_err(|failure| failure.finding().code)
        };
        // Every party names a key of its own, as in a file for all, so the key does not identify
        // this one.
        assert_eq!(whose(&config, None, None), Err(Code::WhoAmI));
        assert_eq!(whose(&config, None, ada.as_ref()), Ok("ada".to_string()));
        config.identity = ada.clone();
        assert_eq!(whose(&config, None, None), Ok("ada".to_string()));
        assert_eq!(whose(&config, None, cyd.as_ref()), Ok("cyd".to_string()));
        config.me = Some("b".to_string());
        assert_eq!(whose(&config, None, None), Ok("b".to_string()));
        assert_eq!(whose(&config, Some("a"), cyd.as_ref()), Ok("a".to_string()));
        config.me = None;
        config.parties.remove("ada");
        assert_eq!(whose(&config, None, None), Err(Code::WhoAmI));
        let refused = |name: &str, file: Option<&PathBuf>| {
            let identity = identity(name, &config, file.map(PathBuf::as_path));
            let failure = identity.err().expect("it is not the right key");
            failure.finding().code
        };
        assert_eq!(refused("ada", None), "config-party");
        assert_eq!(refused("cyd", ada.as_ref()), "other-identity");
    }

    #[test]
    fn helpers_in_any_order_are_met_and_numbered_as_the_job_does() {
        let helpers: &[&str] = &["cyd", "ada"];
        let reports = session(&["a", "b", "ada", "cyd"].map(|name| (name, helpers)));
        for (report, learns) in reports.into_iter().zip([false, true, false, false]) {
            let report = report.unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(report.parties, ["a", "b", "cyd", "ada"]);
            assert!(report.as_planned());
            let learnt = report.results[0].data.as_ref();
            let learnt = learnt.map(|data| data.elements.clone());
            assert_eq!(learnt, learns.then_some(vec![7]));
        }
    }

    /// The party in the middle lacks one of the others: all hear which configuration lacks whom.
    #[test]
    fn a_configuration_that_lacks_a_party_is_reported_to_all() {
        for lacking in ["a", "b", "ada"] {
            let folder = tempfile::tempdir().unwrap();
            let unused = tempfile::tempdir().unwrap();
            let whole = &config(folder.path());
            let part = &{
                let mut part = config(unused.path());
                part.parties.clone_from(&whole.parties);
                part.parties.remove("cyd");
                part
            };
            let names = ["a", "b", "ada", "cyd"];
            let started = Instant::now();
            let ends: Vec<String> = thread::scope(|threads| {
                let ends = names.map(|name| {
                    threads.spawn(move || {
                        let helpers = ["ada", "cyd"].map(String::from).to_vec();
                        let program = text::parse(PROGRAM, "p").unwrap();
                        let class = NetworkClass::LAN;
                        let job = Job::new(program, ProtocolName::Clear, class, helpers);
                        let job = job.unwrap();
                        let me = party_index(&job, name).unwrap();
                        if name == lacking {
                            // The others are there already.
                            thread::sleep(Duration::from_millis(300));
                            let key = |name: &str| identity(name, part, None);
                            report_missing(&job, me, part, key).unwrap();
                            return String::new();
                        }
                        // Who has met all before it is told so hears it from the job.
                        let met = run(&job, me, whole).err();
                        met.expect("no run").finding().to_string()
                    })
                });
                ends.map(|end| end.join().unwrap()).into()
            });
            assert!(started.elapsed().as_secs() < 10, "{ends:?}");
            let told = names.iter().zip(&ends);
            for (name, end) in told.filter(|(name, _)| **name != lacking) {
                let lacks = end.contains("its configuration lacks cyd");
                let unknown = end.contains("has no party with this one's key");
                // The party that is lacked may hear it first, and tell the others why it gives up.
                assert!(lacks || unknown, "{name}: {end}");
                assert!(end.contains(lacking), "{name}: {end}");
            }
        }
    }

    #[test]
    fn another_order_is_found_in_the_handshake() {
        let (right, turned): (&[&str], &[&str]) = (&["ada", "cyd"], &["cyd", "ada"]);
        let ends = session(&[("a", right), ("b", right), ("ada", turned), ("cyd", right)]);
        let ends = ends
            .into_iter()
            .map(|end| end.err().expect("no job is run"));
        let ends = ends.collect::<Vec<_>>();
        let part = "the list of parties and helpers";
        assert!(ends.iter().all(|text| text.contains(part)), "{ends:?}");
        let lists = ["[a, b, ada, cyd]", "[a, b, cyd, ada]"];
        let shown = |text: &String| lists.iter().all(|list| text.contains(list));
        assert!(ends.iter().all(shown), "{ends:?}");
    }

    #[test]
    fn a_helper_that_others_do_not_name_is_reported_what_to_compare() {
        let ends = session(&[("a", &["ada"]), ("b", &[])]);
        for end in ends {
            let text = end.err().expect("no job is run");
            assert!(text.contains("compare `--helpers`"), "{text}");
        }
    }
}
