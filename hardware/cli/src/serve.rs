//! `sealane-hw serve` and its client, `sealane-hw netlist run`: netlists garbled for many clients.

use crate::args::{NetlistRunArgs, ServeArgs, ServeDevice, ServeMachine, ServeScheme, SideArgs};
use crate::serving::{self, Here};
use crate::simulate::read;
use sealane_block::{Coins, Cpu};
use sealane_diagnostic::Code;
use sealane_files::Accept;
use sealane_garble::Scheme;
use sealane_host::Failure;
use sealane_host::config::Config;
use sealane_host::connect;
use sealane_net::{Mesh, Refused};
use sealane_page::Card;
use sealane_page::units::{bytes, counted};
use sealane_parties::NetworkClass;
use sealane_serve::device::{
    BetterEngines, CpuDevice, Device, DeviceError, ModelDevice, Rtl, RtlMachine, RtlOptions,
};
use sealane_serve::guests::Guests;
use sealane_serve::input::{self, InputError, InputText};
use sealane_serve::server::{Served, refuse_busy, serve as serve_one};
use sealane_serve::{Account, Job, Opened, Promise, client};
use sealane_terminal::CancelOnSignal;
use sealane_terminal::arguments::PartyArgs;
use sealane_terminal::{print_card, print_line};
use serde_json::{Value, json};
use std::io::{Write, stderr};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// Netlist cycles whose outputs a card shows.
const MOST_SHOWN: usize = 64;
/// Longest text of an input: [`sealane_serve::MOST_BITS`] bits, with room for white space.
const MOST_INPUT_BYTES: u64 = 16 << 20;
/// Longest time without a record of the hardware.
const DEVICE_PATIENCE: Duration = Duration::from_secs(120);
/// Time in which at most [`MOST_LINES`] lines are about refused callers.
const PERIOD: Duration = Duration::from_secs(60);
/// Most lines about refused callers in a period.
const MOST_LINES: u64 = 10;
/// Most sessions beyond those that devices take, which are told so.
const MOST_WAITING: u64 = 64;

impl From<ServeScheme> for Scheme {
    fn from(scheme: ServeScheme) -> Scheme {
        match scheme {
            ServeScheme::Mi => Scheme::Mi,
            ServeScheme::Prp => Scheme::Prp,
        }
    }
}

/// A side of a session: its configuration and its name.
struct Side {
    config: Config,
    own: String,
    network: NetworkClass,
}

impl Side {
    fn of(args: &SideArgs) -> Result<Side, Failure> {
        let given: &PartyArgs = &args.own;
        let (party, identity) = (given.party.as_deref(), given.identity.as_deref());
        let config = Config::find(given.config.as_deref())?;
        let own = connect::own_name(party, &config, identity)?;
        let network = connect::network(args.network, Some(&config));
        Ok(Side {
            config,
            own,
            network,
        })
    }
}

/// Serves netlists until a signal, or until so many sessions have ended well.
///
/// # Errors
/// The configuration, the netlists, their inputs or the device; this party cannot listen.
pub fn serve(args: &ServeArgs) -> Result<(), Failure> {
    let side = Side::of(&args.side)?;
    let cpu = tier()?;
    let machine = machine(args)?;
    let mut names = Vec::<String>::new();
    let mut served = Vec::<Served>::new();
    for path in netlists(&args.path)? {
        let input = args.input.clone().or_else(|| beside(&path));
        let text = input_text(input.as_deref())?;
        let job = job(&path, &text, args.scheme, side.network)?;
        let bits = bits(&text, input.as_deref(), &job, 0, &path)?;
        let same = |(other, _): &(&Served, &String)| other.job().is_of_netlist(&job);
        if let Some((_, other)) = served.iter().zip(&names).find(same) {
            return Err(twice(&path, other));
        }
        let most = args.most_ands.unwrap_or(u64::MAX);
        let netlist = Served::new(job, bits, device(args, machine, cpu)?, args.clients, most);
        served.push(netlist.map_err(|error| serving::of_device(&error))?);
        names.push(path.file_name().unwrap_or_default().display().to_string());
    }
    let work = CancelOnSignal::begin();
    let (config, own) = (&side.config, side.own.as_str());
    let identity = args.side.own.identity.as_deref();
    let (reception, clients) =
        serving::listen(own, config, identity, args.patience, work.cancel())?;
    announce(args, &side, &names, &served)?;
    let news = News {
        json: args.side.json,
        failed: Mutex::new(None),
        strangers: Mutex::new(Strangers::default()),
    };
    let (running, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let guests = Guests::new(args.sessions_each);
    let serve = |guest: usize, mut mesh: Mesh| {
        let client = &clients[guest];
        let before = running.fetch_add(1, Ordering::SeqCst);
        let outcome = match before {
            _ if before >= u64::from(args.clients) + MOST_WAITING => None,
            _ if before >= u64::from(args.clients) => Some(Err(refuse_busy(&mut mesh))),
            _ => Some(match Coins::from_os() {
                Ok(coins) => serve_one(&served, || guests.admit(guest), cpu, coins, &mut mesh),
                Err(error) => Err(DeviceError::Broken(error.to_string()).into()),
            }),
        };
        drop(mesh);
        running.fetch_sub(1, Ordering::SeqCst);
        match outcome {
            None => {}
            Some(Ok((number, account))) => {
                news.session(client, &names[number], &served[number], &account);
                let done = done.fetch_add(1, Ordering::SeqCst) + 1;
                if args.sessions.is_some_and(|sessions| done >= sessions) {
                    work.cancel().cancel();
                }
            }
            Some(Err(error)) => {
                guests.failed(guest, &error);
                let failure = serving::failure(error, [own, client.as_str()], Here::Server);
                news.failure(client, &failure);
            }
        }
    };
    reception.receive_and_report(serve, |refused| news.refusal(&refused));
    news.end()
}

/// Lines about sessions, of which each ends in its own thread.
struct News {
    json: bool,
    /// The first failure to print.
    failed: Mutex<Option<Failure>>,
    strangers: Mutex<Strangers>,
}

/// Bounds the lines about refused callers: anybody may call, as often as they like.
#[derive(Default)]
struct Strangers {
    /// Begin of the current period.
    since: Option<Instant>,
    /// Lines in it.
    lines: u64,
    /// Callers since the last line that have none.
    left_out: u64,
}

impl Strangers {
    /// Tells whether a caller has a line, and how many had none since the last one.
    fn next(&mut self, now: Instant) -> Option<u64> {
        if self.since.is_none_or(|since| now - since >= PERIOD) {
            (self.since, self.lines) = (Some(now), 0);
        }
        if self.lines >= MOST_LINES {
            self.left_out += 1;
            return None;
        }
        self.lines += 1;
        Some(std::mem::take(&mut self.left_out))
    }
}

impl News {
    fn session(&self, client: &str, netlist: &str, served: &Served, account: &Account) {
        let (device, machine) = (served.device(), served.machine());
        let measured = account.measured;
        let clock = account.clock_cycles;
        let value = json!({
            "client": client,
            "netlist": netlist,
            "device": device,
            "machine": machine.map(|machine| machine.to_string()),
            "planned": promise_json(&account.planned),
            "measured": promise_json(&measured),
            "clock_cycles": clock,
        });
        let all = bytes(measured.from_server + measured.from_client);
        let of = device_line(device, machine);
        let cycles = clock.map(|clock| format!(", {} of {of}", counted(clock, "clock cycle")));
        let (as_planned, cycles) = (compared(account), cycles.unwrap_or_default());
        let rounds = counted(measured.rounds.into(), "round");
        let line =
            format!("{client}: {netlist}, {all} of payload in {rounds}, {as_planned}{cycles}");
        self.line(&value, &line);
    }

    fn failure(&self, client: &str, failure: &Failure) {
        let finding = failure.finding();
        let value = json!({
            "client": client,
            "error": { "code": finding.code.name(), "message": finding.message },
        });
        self.line(&value, &format!("{client}: {}", finding.line()));
    }

    /// One line about a caller that is none of the clients.
    fn refusal(&self, refused: &Refused) {
        let strangers = self.strangers.lock().ok();
        let next = strangers.and_then(|mut strangers| strangers.next(Instant::now()));
        let Some(left_out) = next else { return };
        let address = refused.address.map(|address| address.to_string());
        let fingerprint = refused.key.map(|key| key.fingerprint().to_string());
        let value = json!({
            "refused": address,
            "fingerprint": fingerprint,
            "reason": refused.reason,
            "left_out": left_out,
        });
        let from = address.unwrap_or_else(|| "an address that is gone".to_string());
        let hint = match refused.key {
            Some(_) => "; to admit it, add its card with `sealane peer add CARD` and serve anew",
            None => "",
        };
        let more = match left_out {
            0 => String::new(),
            _ => format!(
                " ({} before it without a line)",
                counted(left_out, "caller")
            ),
        };
        let line = format!("refused {from}: {}{hint}{more}", refused.reason);
        self.line(&value, &line);
    }

    fn line(&self, value: &Value, line: &str) {
        let printed = if self.json {
            print_line(value)
        } else {
            print_line(line)
        };
        if let Err(failure) = printed
            && let Ok(mut failed) = self.failed.lock()
        {
            failed.get_or_insert(failure);
        }
    }

    fn end(self) -> Result<(), Failure> {
        match self.failed.into_inner() {
            Ok(Some(failure)) => Err(failure),
            _ => Ok(()),
        }
    }
}

/// Says what is served, once the address is listened at.
fn announce(
    args: &ServeArgs,
    side: &Side,
    names: &[String],
    served: &[Served],
) -> Result<(), Failure> {
    let address = &connect::party_config(&side.own, &side.config)?.address;
    let mut card = Card::new(format!("{} serves at {address}", side.own));
    let mut all = Vec::new();
    for (name, served) in names.iter().zip(served) {
        let job = served.job();
        card.line("netlist", format!("{name}: {}", plan_line(job)));
        all.push(plan_json(name, job));
    }
    if let Some(first) = served.first() {
        card.line("device", device_line(first.device(), first.machine()));
    }
    let ends = match args.sessions {
        Some(count) => format!("after {}, or with Ctrl-C", counted(count, "session")),
        None => "with Ctrl-C".to_string(),
    };
    card.line("ends", ends);
    let device = served.first().map(Served::device);
    let machine = served.first().and_then(Served::machine);
    let machine = machine.map(|machine| machine.to_string());
    let value = json!({
        "server": side.own,
        "address": address,
        "device": device,
        "machine": machine,
        "serves": all,
    });
    print_card(args.side.json, &card, &value)
}

/// Runs a netlist with a server, and prints what this party learns.
///
/// # Errors
/// The configuration, the netlist or the input; the server cannot be reached or refuses; the
/// network.
pub fn run(args: &NetlistRunArgs) -> Result<(), Failure> {
    let text = input_text(args.input.as_deref())?;
    let side = Side::of(&args.side)?;
    let job = job(&args.netlist, &text, args.scheme, side.network)?;
    let name = args.netlist.file_name().unwrap_or_default();
    let name = name.display().to_string();
    if args.plan {
        let mut card = Card::new(name.clone());
        card.line("session", plan_line(&job));
        card.line("job", hex::encode(job.hash()));
        return print_card(args.side.json, &card, &plan_json(&name, &job));
    }
    let bits = bits(&text, args.input.as_deref(), &job, 1, &args.netlist)?;
    let cpu = tier()?;
    let coins = Coins::from_os().map_err(|error| {
        let hint = "see that the operating system gives random numbers";
        Failure::new(Code::NoRandomness, error.to_string(), hint)
    })?;
    let work = CancelOnSignal::begin();
    let (own, server) = (side.own.as_str(), args.with.as_str());
    let identity = args.side.own.identity.as_deref();
    let mut mesh = serving::connect([own, server], &side.config, identity, work.cancel())?;
    let outcome = client::run(&job, &bits, cpu, coins, &mut mesh);
    let (outputs, account) =
        outcome.map_err(|error| serving::failure(error, [server, own], Here::Client))?;
    drop(mesh);
    let outputs: Vec<String> = outputs.cycles().map(input::hex).collect();
    let measured = account.measured;
    let mut card = Card::new(format!("{name} with {server}"));
    card.line("output", outputs.last().cloned().unwrap_or_default());
    card.line("netlist cycles", job.cycles());
    if outputs.len() > 1 {
        let (shown, rest) = outputs.split_at(outputs.len().min(MOST_SHOWN));
        let more = match rest.len() {
            0 => String::new(),
            more => format!(", and {more} more with --json"),
        };
        card.line("of each", format!("{}{more}", shown.join(" ")));
    }
    let [there, back] = [measured.from_server, measured.from_client].map(bytes);
    let (rounds, same) = (counted(measured.rounds.into(), "round"), compared(&account));
    let crossed = format!("{there} from {server}, {back} from {own}, {rounds}, {same}");
    card.line("crossed", crossed);
    let value = json!({
        "outputs": outputs,
        "planned": promise_json(&account.planned),
        "measured": promise_json(&measured),
    });
    print_card(args.side.json, &card, &value)
}

/// Tells how the traffic of a session compares with its plan.
fn compared(account: &Account) -> &'static str {
    let same = account.measured == account.planned;
    if same { "as planned" } else { "not as planned" }
}

fn plan_line(job: &Job) -> String {
    let promise = job.promise();
    let shape = job.netlist().shape();
    let opened = match job.opened() {
        Opened::Every if job.cycles() > 1 => ", whose outputs are all opened",
        _ => "",
    };
    format!(
        "{}, {} each{opened}, scheme {}, {} to the client, {} back, {}",
        counted(job.cycles().into(), "netlist cycle"),
        counted(shape.ands.into(), "AND"),
        job.scheme(),
        bytes(promise.from_server),
        bytes(promise.from_client),
        counted(promise.rounds.into(), "round")
    )
}

fn plan_json(name: &str, job: &Job) -> Value {
    json!({
        "netlist": name,
        "cycles": job.cycles(),
        "opened": job.opened(),
        "ands": job.netlist().shape().ands,
        "scheme": job.scheme().name(),
        "inputs": job.input_bits(),
        "planned": promise_json(&job.promise()),
        "job": hex::encode(job.hash()),
    })
}

fn promise_json(promise: &Promise) -> Value {
    json!({
        "from_server": promise.from_server,
        "from_client": promise.from_client,
        "rounds": promise.rounds,
    })
}

fn tier() -> Result<Cpu, Failure> {
    Cpu::detect().map_err(|error| {
        let hint = "`sealane doctor` lists the tiers of this CPU";
        Failure::new(Code::CpuTier, error.to_string(), hint)
    })
}

/// The files of netlists that are served.
fn netlists(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let failed = |error: std::io::Error| {
        let what = format!("cannot read {}", path.display());
        let hint = "name a netlist, or a folder of netlists";
        Failure::new(Code::NetlistFile, what, hint).because(error.to_string())
    };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let file = entry.map_err(failed)?.path();
        let is_netlist = |ending: &std::ffi::OsStr| ending == "scd" || ending == "hscd";
        if file.is_file() && file.extension().is_some_and(is_netlist) {
            found.push(file);
        }
    }
    found.sort();
    if found.is_empty() {
        let what = format!("{} holds no netlist", path.display());
        let hint = "put files `NAME.scd` or `NAME.hscd` there";
        return Err(Failure::new(Code::NetlistFile, what, hint));
    }
    Ok(found)
}

/// The refusal of a netlist that is served already: a client could not say which of both it means.
fn twice(path: &Path, other: &str) -> Failure {
    let what = format!("{} is the same netlist as {other}", path.display());
    let hint = "serve each netlist once, with one input; another input needs a server of its own";
    Failure::new(Code::NetlistFile, what, hint)
}

/// The input beside a netlist, if there is one.
fn beside(netlist: &Path) -> Option<PathBuf> {
    let input = netlist.with_extension("input");
    input.exists().then_some(input)
}

fn input_text(path: Option<&Path>) -> Result<InputText, Failure> {
    let read = |path: &Path| {
        let text = sealane_files::read_text(path, Accept::FileOrPipe, MOST_INPUT_BYTES);
        text.map_err(|error| {
            let what = format!("cannot read {}", path.display());
            let hint = "name a file of hexadecimal bytes with `--input`";
            Failure::new(Code::CircuitValue, what, hint).because(error.to_string())
        })
    };
    let text = Zeroizing::new(path.map_or(Ok(String::new()), read)?);
    InputText::parse(&text).map_err(|error| unfit(&error, path))
}

/// The bits of this party's input, the garbler's (0) or the evaluator's (1), of a job for the
/// netlist in a file.
fn bits(
    text: &InputText,
    path: Option<&Path>,
    job: &Job,
    side: usize,
    netlist: &Path,
) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let (count, parts) = (job.input_bits()[side], job.input_parts()[side]);
    text.bits(count).map_err(|error| {
        let Some(path) = path else {
            let (file, bits) = (netlist.display(), counted(count, "bit"));
            let what =
                format!("{file} takes an input of {bits} from this party, and none is given");
            let beside = match side {
                0 => format!(", or as `{}`", netlist.with_extension("input").display()),
                _ => String::new(),
            };
            let hint = format!(
                "give a file of hexadecimal bytes with `--input FILE`{beside}; its first line is \
                 `cycles COUNT` where a session has several netlist cycles"
            );
            return Failure::new(Code::CircuitValue, what, hint);
        };
        let failure = unfit(&error, Some(path));
        match (text.states_cycles, &error) {
            (false, InputError::Length { .. } | InputError::Rest(_)) => {
                failure.hint(without_cycles(text.byte_count(), parts))
            }
            _ => failure,
        }
    })
}

/// The hint for an input that has another length than that of one netlist cycle, and no line
/// `cycles`.
fn without_cycles(found: u64, [once, each]: [u64; 2]) -> String {
    let fits = |cycles: &u64| (once + each * cycles).div_ceil(8) == found;
    let most = (8 * found).saturating_sub(once).checked_div(each);
    let cycles = most.filter(|most| *most > 1).filter(fits);
    let line = match cycles {
        Some(cycles) => format!("`cycles {cycles}`, if these are the bytes of so many"),
        None => "`cycles COUNT`, if a session has several".to_string(),
    };
    format!(
        "the file has no line `cycles COUNT`, so it is the input of one netlist cycle: begin it \
         with the line {line}"
    )
}

fn unfit(error: &InputError, path: Option<&Path>) -> Failure {
    let whose = path.map_or("the input".to_string(), |path| path.display().to_string());
    let hint = "bits are given from the lowest bit of the first byte on: those given once, then \
                those of each netlist cycle; a line `cycles COUNT` before them states how many";
    Failure::new(Code::CircuitValue, format!("{whose}: {error}"), hint)
}

fn job(
    path: &Path,
    text: &InputText,
    scheme: ServeScheme,
    network: NetworkClass,
) -> Result<Job, Failure> {
    let netlist = read(path)?.netlist;
    let job = Job::new(&netlist, text.span, scheme.into(), network);
    job.map_err(|error| serving::of_job(&error))
}

/// The machine that is asked for.
fn machine(args: &ServeArgs) -> Result<RtlMachine, Failure> {
    let other = |what: &str, hint: &str| Err(Failure::new(Code::Device, what, hint));
    match (args.device, args.machine, args.engines) {
        (ServeDevice::Cpu, Some(_), _) | (ServeDevice::Cpu, _, Some(_)) => other(
            "`--machine` and `--engines` are given, and the device is this CPU",
            "name the device with `--device model` or `--device rtl`",
        ),
        (_, Some(ServeMachine::Banked), engines) => {
            Ok(RtlMachine::Better(BetterEngines::new(engines.unwrap_or(1))))
        }
        (_, _, Some(2..)) => other(
            "FASE's machine has one engine",
            "name the better engine with `--machine 1a3x`",
        ),
        _ => Ok(RtlMachine::Fase),
    }
}

/// A device, and its machine if it is not FASE's.
fn device_line(device: &str, machine: Option<RtlMachine>) -> String {
    match machine {
        None | Some(RtlMachine::Fase) => device.to_string(),
        Some(machine) => format!("{device}, {machine}"),
    }
}

fn device(args: &ServeArgs, machine: RtlMachine, cpu: Cpu) -> Result<Box<dyn Device>, Failure> {
    let scheme = Scheme::from(args.scheme);
    let failed = |error| serving::of_device(&error);
    Ok(match (args.device, &args.bench) {
        (ServeDevice::Rtl, Some(bench)) => {
            // Nobody is harmed if standard error is closed.
            let (shown, most) = (bench.display(), DEVICE_PATIENCE.as_secs());
            let _ = writeln!(
                stderr(),
                "waits for {shown} to take a netlist, {most} s at most"
            );
            Box::new(Rtl::new(RtlOptions {
                bench: bench.clone(),
                scheme,
                machine,
                patience: DEVICE_PATIENCE,
            }))
        }
        (ServeDevice::Model, _) => {
            Box::new(ModelDevice::new(cpu, scheme, machine).map_err(failed)?)
        }
        _ => Box::new(CpuDevice::new(cpu, scheme).map_err(failed)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_about_strangers_are_bounded() {
        let mut strangers = Strangers::default();
        let now = Instant::now();
        let reported = (0..25).filter_map(|_| strangers.next(now));
        assert_eq!(reported.collect::<Vec<_>>(), [0; MOST_LINES as usize]);
        // The next period says how many had none.
        assert_eq!(strangers.next(now + PERIOD), Some(15));
        assert_eq!(strangers.next(now + PERIOD), Some(0));
    }
}
