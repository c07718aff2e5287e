//! Sessions of a server and its clients over meshes in memory: results, bytes as planned, and
//! nothing by which a client could tell devices apart.

use crate::support::{MACHINES, Which, ours};
use sealane_accel::Netlist;
use sealane_block::{Coins, Cpu};
use sealane_garble::Scheme;
use sealane_hw_testkit::for_devices as random;
use sealane_net::{Mesh, Traffic};
use sealane_parties::{NetworkClass, PartyId};
use sealane_party::Fault;
use sealane_serve::device::{DeviceError, MOST_CLIENTS, RtlMachine};
use sealane_serve::guests::Guests;
use sealane_serve::input::{InputText, hex};
use sealane_serve::server::{Served, serve};
use sealane_serve::{Account, CLIENT, Job, Opened, Refusal, SERVER, ServeError, Span, client};
use sealane_testkit::tamper::tampered;
use std::thread;

const LAN: NetworkClass = NetworkClass::LAN;

/// A function, its cycles, inputs in hexadecimal digits, and the outputs of the last cycle.
type Case = (&'static str, u32, [&'static str; 2], &'static str);

/// The millionaires' problem, FIPS 197, and the mean of a product's upper half and 0.
const CASES: [Case; 4] = [
    ("Mill_8_8", 8, ["a1", "24"], "01"),
    ("Mill_8_8", 8, ["24", "a1"], "00"),
    ("AES_128_11", 10, FIPS, "69c4e0d86a7b0430d8cdb78070b4c55a"),
    // 2^30 * 2^30 >> 33.
    ("MAC_32_1", 1, ["00000040"; 2], "00000008"),
];
const FIPS: [&str; 2] = [
    "000102030405060708090a0b0c0d0e0f",
    "00112233445566778899aabbccddeeff",
];

pub fn job(netlist: &Netlist, cycles: u32, scheme: Scheme) -> Job {
    Job::new(netlist, Span::every(cycles), scheme, LAN).expect("a job")
}

pub fn served(which: Which, netlist: &Netlist, cycles: u32, input: &str) -> Served {
    serving(which, job(netlist, cycles, which.scheme()), input)
}

fn serving(which: Which, job: Job, input: &str) -> Served {
    let text = InputText::parse(input).unwrap();
    let input = text.bits(job.input_bits()[0]).unwrap();
    Served::new(job, input, which.device(), MOST_CLIENTS, u64::MAX).expect("a device")
}

/// All that a client sees of a session.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    outputs: Vec<String>,
    account: Account,
    digests: [[u8; 32]; 2],
    messages: Vec<Traffic>,
}

pub fn meshes() -> [Mesh; 2] {
    Mesh::in_memory(2).try_into().ok().unwrap()
}

/// How a session ends at both parties.
pub struct Ends {
    pub client: Result<(client::Outputs, Account), ServeError>,
    server: Result<(usize, Account), ServeError>,
    pub at_client: Mesh,
}

impl Ends {
    fn errors(self) -> [Option<ServeError>; 2] {
        [self.client.err(), self.server.err()]
    }

    fn refusals(self) -> [Refusal; 2] {
        self.errors().map(|error| match error {
            Some(ServeError::Refused(refusal)) => refusal,
            other => panic!("{other:?}"),
        })
    }
}

/// Runs both parties; `number` is that of their coins.
pub fn run(
    [mut at_server, mut at_client]: [Mesh; 2],
    (served, job): (&[Served], &Job),
    bits: &[u8],
    number: u64,
    admit: impl FnOnce() -> Result<(), Refusal> + Send,
) -> Ends {
    let cpu = Cpu::detect().unwrap();
    let coins = |party| Coins::danger_fixed_seed(2 * number + party);
    let [of_server, of_client] = [0, 1].map(coins);
    let (client, server) = thread::scope(|scope| {
        let server = scope.spawn(move || serve(served, admit, cpu, of_server, &mut at_server));
        let client = client::run(job, bits, cpu, of_client, &mut at_client);
        (client, server.join().unwrap())
    });
    Ends {
        client,
        server,
        at_client,
    }
}

/// Runs a session that succeeds; `number` is that of its coins.
fn session(served: &[Served], job: &Job, input: &str, number: u64) -> (Seen, Account) {
    let text = InputText::parse(input).unwrap();
    let bits = text.bits(job.input_bits()[1]).unwrap();
    let ends = run(meshes(), (served, job), &bits, number, || Ok(()));
    let (outputs, account) = ends.client.expect("outputs");
    let mut mesh = ends.at_client;
    let seen = Seen {
        outputs: outputs.cycles().map(hex).collect(),
        account,
        digests: [mesh.digest_received(SERVER), mesh.digest_sent(SERVER)],
        messages: mesh.counters().messages,
    };
    (seen, ends.server.expect("an account").1)
}

fn results(devices: &[Which]) {
    for (number, (name, cycles, inputs, last)) in (0..).zip(CASES) {
        let netlist = ours(name);
        let sessions = devices.iter().map(|which| {
            let job = job(&netlist, cycles, which.scheme());
            let served = [served(*which, &netlist, cycles, inputs[0])];
            let (seen, account) = session(&served, &job, inputs[1], number);
            assert_eq!(seen.outputs.len(), cycles as usize);
            assert_eq!(seen.outputs.last().unwrap(), last, "{name}");
            for account in [seen.account, account] {
                let both = [account.planned, account.measured];
                assert_eq!(both, [job.promise(); 2], "{name}");
            }
            seen
        });
        let sessions: Vec<Seen> = sessions.collect();
        // The same coins: the same bytes in the same messages, whatever the device.
        for other in &sessions[1..] {
            assert_eq!(&sessions[0], other, "{name}");
        }
    }
}

/// Unless asked to, a session opens no output of an earlier cycle: nothing crosses that would.
#[test]
fn the_last_cycle_alone_is_opened() {
    for (number, (name, cycles, inputs, expected)) in (300..).zip(CASES) {
        let netlist = ours(name);
        let which = Which::Model(Scheme::Mi, MACHINES[0]);
        let job = |span| Job::new(&netlist, span, Scheme::Mi, LAN).unwrap();
        let [every, last] = [Span::every(cycles), Span::last(cycles)].map(job);
        let served = [serving(which, last.clone(), inputs[0])];
        let (seen, account) = session(&served, &last, inputs[1], number);
        assert_eq!(seen.outputs, [expected], "{name}");
        let measured = [account, seen.account].map(|account| account.measured);
        assert_eq!(measured, [last.promise(); 2], "{name}");
        let [every, last] = [every, last].map(|job| job.promise().from_server);
        let outputs = netlist.parts().outputs.len() as u32;
        let masks = |cycles: u32| u64::from((outputs * cycles).div_ceil(8));
        assert_eq!(every - last, masks(cycles) - masks(1), "{name}");
    }
}

fn indistinguishable(scheme: Scheme, which: fn(Scheme, RtlMachine) -> Which) {
    let machines = MACHINES.map(|machine| which(scheme, machine));
    results(&[&[Which::Cpu(scheme)][..], &machines].concat());
}

#[test]
fn a_client_cannot_tell_the_model_from_the_cpu() {
    indistinguishable(Scheme::Prp, Which::Model);
    indistinguishable(Scheme::Mi, Which::Model);
}

#[test]
#[ignore = "needs the bench of rtl/: make test-rtl"]
fn rtl_small_cannot_be_told_from_the_cpu() {
    indistinguishable(Scheme::Prp, Which::Rtl);
}

#[test]
#[ignore = "needs the bench of rtl/: make test-rtl"]
fn rtl_mi_cannot_be_told_from_the_cpu() {
    indistinguishable(Scheme::Mi, Which::Rtl);
}

/// Without inputs of the client there are no transfers, and without those of the server no labels.
#[test]
fn promises_hold_for_any_netlist() {
    let mut without = [false; 2];
    for seed in 0..12 {
        let netlist = random(seed);
        let job = job(&netlist, 3, Scheme::Mi);
        for (without, bits) in without.iter_mut().zip(job.input_bits()) {
            *without |= bits == 0;
        }
        let bytes = job.input_bits().map(|bits| bits.div_ceil(8) as usize);
        let zeros = bytes.map(|bytes| "00".repeat(bytes));
        let which = Which::Model(Scheme::Mi, MACHINES[0]);
        let served = [served(which, &netlist, 3, &zeros[0])];
        let (seen, account) = session(&served, &job, &zeros[1], seed);
        let measured = [account, seen.account].map(|account| account.measured);
        assert_eq!(measured, [job.promise(); 2], "seed {seed}");
        let circuit = netlist.sequential().unwrap();
        let words = |widths: &[usize]| widths.iter().map(|width| vec![false; *width]).collect();
        let mut run = circuit.run(words(circuit.held_widths()));
        let fresh: Vec<Vec<bool>> = words(circuit.fresh_widths());
        for output in seen.outputs {
            let clear = run.cycle(&fresh).concat().into_iter().map(u8::from);
            assert_eq!(output, hex(&clear.collect::<Vec<_>>()), "seed {seed}");
        }
    }
    assert_eq!(without, [true; 2], "netlists without inputs of a party");
}

/// Many clients at once, of several netlists, at devices that they share.
#[test]
fn clients_share_devices() {
    let scheme = Scheme::Mi;
    let netlists = [ours("Mill_8_8"), ours("Add_8_8")];
    let served = [
        served(Which::Model(scheme, MACHINES[0]), &netlists[0], 8, "a1"),
        served(Which::Cpu(scheme), &netlists[1], 8, "0f"),
    ];
    thread::scope(|scope| {
        let sessions = (0..12u64).map(|number| {
            let (served, netlists) = (&served, &netlists);
            scope.spawn(move || {
                let which = number as usize % 2;
                let job = job(&netlists[which], 8, scheme);
                let own = 16 * number + 5;
                let (seen, _) = session(served, &job, &format!("{own:02x}"), number);
                let bit = |cycle: &String| u64::from(cycle != "00");
                let bits: Vec<u64> = seen.outputs.iter().map(bit).collect();
                match which {
                    0 => assert_eq!(bits[7], u64::from(0xa1 >= own)),
                    _ => {
                        let sum = bits.iter().zip(0..).map(|(bit, place)| bit << place);
                        assert_eq!(sum.sum::<u64>(), (own + 15) % 256);
                    }
                }
            })
        });
        let sessions: Vec<_> = sessions.collect();
        for session in sessions {
            session.join().unwrap();
        }
    });
}

/// A server refuses with the reason, before anything is garbled.
#[test]
fn other_jobs_are_refused() {
    let scheme = Scheme::Mi;
    let netlist = ours("Mill_8_8");
    let served = [served(Which::Cpu(scheme), &netlist, 8, "a1")];
    let other = |job: Job| {
        let bits = vec![0; job.input_bits()[1] as usize];
        let ends = run(meshes(), (&served, &job), &bits, 0, || Ok(()));
        assert_eq!(ends.at_client.payload_received(SERVER), 0);
        ends.refusals()
    };
    let mut hashes = vec![job(&netlist, 8, scheme).hash()];
    let mut refused = |job: Job, expected: Refusal| {
        hashes.push(job.hash());
        assert_eq!(other(job), [expected.clone(), expected]);
    };
    refused(job(&netlist, 9, scheme), Refusal::Cycles(8));
    let closed = Job::new(&netlist, Span::last(8), scheme, LAN).unwrap();
    refused(closed, Refusal::Opened(Opened::Every));
    refused(job(&ours("Add_8_8"), 8, scheme), Refusal::Netlist);
    let wan = Job::new(&netlist, Span::every(8), scheme, NetworkClass::WAN).unwrap();
    refused(wan, Refusal::Network(LAN));
    let prp = job(&netlist, 8, Scheme::Prp);
    hashes.push(prp.hash());
    let [refused, _] = other(prp).map(|refusal| refusal.to_string());
    assert_eq!(refused, "it garbles under the scheme `mi`");
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 6);
}

/// A session of more ANDs than a key may serve is refused before it begins.
#[test]
fn a_session_beyond_the_limit_of_a_key_is_refused() {
    let netlist = ours("Hamm_32_1");
    let device = || Which::Cpu(Scheme::Prp).device();
    let made = |cycles, most| {
        let job = job(&netlist, cycles, Scheme::Prp);
        let input = vec![0; job.input_bits()[0] as usize].into();
        Served::new(job, input, device(), 1, most).map(|_| ())
    };
    assert_eq!(made(3, 3 * 31), Ok(()));
    assert_eq!(made(3, 3 * 31 - 1), Err(DeviceError::Limit));
    // The limit of the scheme holds whatever the operator allows.
    let large = Job::new(&ours("MAC_32_1"), Span::every(1 << 20), Scheme::Prp, LAN);
    assert!(large.is_err());
}

/// A byte that changes on its way ends the session, or changes nothing: no output is wrong.
#[test]
fn no_output_is_wrong_whatever_byte_changes() {
    let netlist = ours("Mill_8_8");
    let job = job(&netlist, 8, Scheme::Mi);
    let served = [served(Which::Cpu(Scheme::Mi), &netlist, 8, "a1")];
    let bits = InputText::parse("24").unwrap().bits(8).unwrap();
    // Other coins each time: a device refuses a key that it knows.
    let mut numbers = 100..;
    let mut outputs = |to: PartyId, at: u64, flips: u8| {
        let number = numbers.next().unwrap();
        let meshes = tampered(to, at, flips);
        let ends = run(meshes, (&served, &job), &bits, number, || Ok(()));
        let (outputs, _) = ends.client.ok()?;
        Some(outputs.cycles().map(hex).collect::<Vec<_>>())
    };
    let right = outputs(CLIENT, 0, 0).expect("an honest session");
    assert_eq!(right.last().map(String::as_str), Some("01"));
    let promise = job.promise();
    // Masks and digests stand at the end.
    let places = |to, bytes: u64| {
        let places = (0..bytes).step_by(131).chain(bytes - 40..bytes);
        places.map(move |at| (to, at))
    };
    let to_client = places(CLIENT, promise.from_server);
    let places = to_client.chain(places(SERVER, promise.from_client));
    let (mut ended, mut same) = (0, 0);
    for (to, at) in places {
        match outputs(to, at, 1 << (at % 8)) {
            None => ended += 1,
            Some(got) => {
                assert_eq!(got, right, "byte {at} to {to}");
                same += 1;
            }
        }
    }
    assert!(ended > 80, "{ended} ended, {same} did not");
    // A session without a change succeeds each time: that it ends is due to the change.
    assert_eq!(outputs(CLIENT, promise.from_server, 255), Some(right));
}

/// A client has as many sessions as it is given, however they end, and none after it has deviated.
#[test]
fn a_client_has_as_many_sessions_as_it_is_given() {
    let netlist = ours("Mill_8_8");
    let [job, other] = [8, 9].map(|cycles| job(&netlist, cycles, Scheme::Mi));
    let served = [served(Which::Cpu(Scheme::Mi), &netlist, 8, "a1")];
    let guests = Guests::new(Some(2));
    // Other coins each time: a device refuses a key that it knows.
    let mut numbers = 50..;
    let mut session = |client: usize, job: &Job| {
        let bits = vec![0; job.input_bits()[1] as usize];
        let (number, admit) = (numbers.next().unwrap(), || guests.admit(client));
        run(meshes(), (&served, job), &bits, number, admit)
    };
    let succeeds = |ends: Ends| assert!(ends.errors().iter().all(Option::is_none));
    // A refusal for another reason does not count.
    session(0, &other).refusals();
    succeeds(session(0, &job));
    succeeds(session(0, &job));
    assert_eq!(
        session(0, &job).refusals(),
        [Refusal::Spent, Refusal::Spent]
    );
    // Others are not affected, but by what they do.
    succeeds(session(1, &job));
    guests.failed(1, &ServeError::Device(DeviceError::NotNow));
    assert_eq!(guests.admit(1), Ok(()));
    guests.failed(2, &deviated());
    let both = session(2, &job).refusals();
    assert_eq!(both, [Refusal::Deviated, Refusal::Deviated]);
    // A session counts from its beginning, whether it ends well or not.
    let admitted = [(); 3].map(|()| guests.admit(3).is_ok());
    assert_eq!(admitted, [true, true, false]);
    let any = Guests::default();
    assert!((0..1000).all(|_| any.admit(0).is_ok()));
}

fn deviated() -> ServeError {
    let check = "a check of oblivious transfers";
    let party = CLIENT;
    ServeError::Fault(Fault::Deviated { party, check })
}

/// A client that vanishes leaves its place at the device to the next one.
#[test]
fn a_client_that_vanishes_leaves_its_place() {
    let netlist = ours("Mill_8_8");
    let job = job(&netlist, 8, Scheme::Mi);
    let input = InputText::parse("a1").unwrap().bits(8).unwrap();
    let device = Which::Cpu(Scheme::Mi).device();
    let served = [Served::new(job.clone(), input, device, 1, u64::MAX).unwrap()];
    for number in 0..3 {
        let [mut at_server, at_client] = meshes();
        drop(at_client);
        let (cpu, coins) = (Cpu::detect().unwrap(), Coins::danger_fixed_seed(number));
        let gone = serve(&served, || Ok(()), cpu, coins, &mut at_server);
        assert!(matches!(gone, Err(ServeError::Fault(_))));
        session(&served, &job, "24", number);
    }
}

/// Messages are read back as they were written, and the corpus of `fuzz/` has one of each kind.
#[test]
fn messages_have_one_form() {
    let names = ["ask", "granted", "refused"];
    for (name, message) in names.into_iter().zip(sealane_serve::examples()) {
        let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus/served");
        let file = std::fs::read(corpus.join(name));
        assert_eq!(file.expect("a corpus"), message, "{name}");
        let again = sealane_serve::fuzzing(&message);
        assert!(again.contains(&Some(message)), "{name}");
    }
}
