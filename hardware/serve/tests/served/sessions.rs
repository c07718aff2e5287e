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
use sealane_serve::device::{DeviceError, MOST_CLIENTS};
use sealane_serve::guests::Guests;
use sealane_serve::input::{InputText, hex};
use sealane_serve::server::{Served, serve};
use sealane_serve::{
    Account, CLIENT, Job, Opened, Promise, Refusal, SERVER, ServeError, Span, client,
};
use sealane_testkit::tamper::tampered;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

const LAN: NetworkClass = NetworkClass::LAN;

/// Inputs in hexadecimal digits, and the outputs of the last cycle that they give.
struct Case {
    name: &'static str,
    cycles: u32,
    inputs: [&'static str; 2],
    last: &'static str,
}

/// The millionaires' problem, FIPS 197, and the mean of a product's upper half and 0.
const CASES: [Case; 4] = [
    Case {
        name: "Mill_8_8",
        cycles: 8,
        inputs: ["a1", "24"],
        last: "01",
    },
    Case {
        name: "Mill_8_8",
        cycles: 8,
        inputs: ["24", "a1"],
        last: "00",
    },
    Case {
        name: "AES_128_11",
        cycles: 10,
        inputs: [
            "000102030405060708090a0b0c0d0e0f",
            "00112233445566778899aabbccddeeff",
        ],
        last: "69c4e0d86a7b0430d8cdb78070b4c55a",
    },
    // 2^30 * 2^30 >> 33.
    Case {
        name: "MAC_32_1",
        cycles: 1,
        inputs: ["00000040", "00000040"],
        last: "00000008",
    },
];

/// A session that opens the outputs of every cycle, so that tests see them.
fn every(cycles: u32) -> Span {
    Span {
        cycles,
        opened: Opened::Every,
    }
}

fn job(netlist: &Netlist, cycles: u32, scheme: Scheme) -> Job {
    Job::new(netlist, every(cycles), scheme, LAN).expect("a job")
}

fn served(which: Which, netlist: &Netlist, cycles: u32, input: &str) -> Served {
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

fn coins(party: u64) -> Coins {
    Coins::danger_fixed_seed(party)
}

/// Runs a session; `number` is that of its coins.
fn session(served: &[Served], job: &Job, input: &str, number: u64) -> (Seen, Account) {
    let [mut at_server, mut at_client] = <[Mesh; 2]>::try_from(Mesh::in_memory(2)).ok().unwrap();
    let cpu = Cpu::detect().unwrap();
    thread::scope(|scope| {
        let server =
            scope.spawn(move || serve(served, || Ok(()), cpu, coins(2 * number), &mut at_server));
        let text = InputText::parse(input).unwrap();
        let bits = text.bits(job.input_bits()[1]).unwrap();
        let coins = coins(2 * number + 1);
        let mesh = &mut at_client;
        let (outputs, account) = client::run(job, &bits, cpu, coins, mesh).expect("outputs");
        let seen = Seen {
            outputs: outputs.cycles().map(hex).collect(),
            account,
            digests: [mesh.digest_received(SERVER), mesh.digest_sent(SERVER)],
            messages: mesh.counters().messages,
        };
        let (_, account) = server.join().unwrap().expect("an account");
        (seen, account)
    })
}

fn results(devices: &[Which]) {
    for (number, case) in CASES.iter().enumerate() {
        let Case {
            name,
            cycles,
            inputs,
            last,
        } = *case;
        let netlist = ours(name);
        let sessions = devices.iter().map(|which| {
            let job = job(&netlist, cycles, which.scheme());
            let served = [served(*which, &netlist, cycles, inputs[0])];
            let (seen, account) = session(&served, &job, inputs[1], number as u64);
            assert_eq!(seen.outputs.len(), cycles as usize);
            assert_eq!(
                seen.outputs.last().map(String::as_str),
                Some(last),
                "{name}"
            );
            let promise = job.promise();
            for account in [seen.account, account] {
                assert_eq!(
                    (account.planned, account.measured),
                    (promise, promise),
                    "{name}"
                );
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

fn last(cycles: u32) -> Span {
    Span {
        cycles,
        opened: Opened::Last,
    }
}

/// Unless asked to, a session opens no output of an earlier cycle: nothing crosses that would.
#[test]
fn the_last_cycle_alone_is_opened() {
    for (number, case) in (300..).zip(&CASES) {
        let netlist = ours(case.name);
        let which = Which::Model(Scheme::Mi, MACHINES[0]);
        let job = |span| Job::new(&netlist, span, Scheme::Mi, LAN).unwrap();
        let [every, last] = [every(case.cycles), last(case.cycles)].map(job);
        let served = [serving(which, last.clone(), case.inputs[0])];
        let (seen, account) = session(&served, &last, case.inputs[1], number);
        assert_eq!(seen.outputs, [case.last], "{}", case.name);
        assert_eq!(account.measured, last.promise(), "{}", case.name);
        assert_eq!(seen.account.measured, last.promise(), "{}", case.name);
        let [every, last] = [every, last].map(|job| job.promise().from_server);
        let masks =
            |cycles: u32| u64::from((netlist.parts().outputs.len() as u32 * cycles).div_ceil(8));
        assert_eq!(every - last, masks(case.cycles) - masks(1), "{}", case.name);
    }
}

#[test]
fn a_client_cannot_tell_the_model_from_the_cpu() {
    for scheme in [Scheme::Prp, Scheme::Mi] {
        let models = MACHINES.map(|machine| Which::Model(scheme, machine));
        results(&[&[Which::Cpu(scheme)][..], &models].concat());
    }
}

#[test]
#[ignore = "needs the bench of rtl/: make test-rtl"]
fn rtl_small_cannot_be_told_from_the_cpu() {
    let rtl = MACHINES.map(|machine| Which::Rtl(Scheme::Prp, machine));
    results(&[&[Which::Cpu(Scheme::Prp)][..], &rtl].concat());
}

#[test]
#[ignore = "needs the bench of rtl/: make test-rtl"]
fn rtl_mi_cannot_be_told_from_the_cpu() {
    let rtl = MACHINES.map(|machine| Which::Rtl(Scheme::Mi, machine));
    results(&[&[Which::Cpu(Scheme::Mi)][..], &rtl].concat());
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
        let zeros = job
            .input_bits()
            .map(|bits| "00".repeat(bits.div_ceil(8) as usize));
        let served = [served(
            Which::Model(Scheme::Mi, MACHINES[0]),
            &netlist,
            3,
            &zeros[0],
        )];
        let (seen, account) = session(&served, &job, &zeros[1], seed);
        assert_eq!(account.measured, job.promise(), "seed {seed}");
        assert_eq!(seen.account.measured, job.promise(), "seed {seed}");
        let circuit = netlist.sequential().unwrap();
        let words = |widths: &[usize]| widths.iter().map(|width| vec![false; *width]).collect();
        let mut run = circuit.run(words(circuit.held_widths()));
        let fresh: Vec<Vec<bool>> = words(circuit.fresh_widths());
        for output in seen.outputs {
            let clear: Vec<u8> = run
                .cycle(&fresh)
                .concat()
                .into_iter()
                .map(u8::from)
                .collect();
            assert_eq!(output, hex(&clear), "seed {seed}");
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
        sessions
            .into_iter()
            .for_each(|session| session.join().unwrap());
    });
}

/// A server refuses with the reason, before anything is garbled.
#[test]
fn other_jobs_are_refused() {
    let scheme = Scheme::Mi;
    let netlist = ours("Mill_8_8");
    let served = [served(Which::Cpu(scheme), &netlist, 8, "a1")];
    let other = |job: Job| {
        let [mut at_server, mut at_client] =
            <[Mesh; 2]>::try_from(Mesh::in_memory(2)).ok().unwrap();
        let cpu = Cpu::detect().unwrap();
        let bits = vec![0; job.input_bits()[1] as usize];
        let errors = thread::scope(|scope| {
            let served = &served;
            let server =
                scope.spawn(move || serve(served, || Ok(()), cpu, coins(0), &mut at_server));
            let run = client::run(&job, &bits, cpu, coins(1), &mut at_client);
            [run.err(), server.join().unwrap().err()]
        });
        assert_eq!(at_client.payload_received(SERVER), 0);
        errors.map(|error| match error {
            Some(ServeError::Refused(refusal)) => refusal,
            other => panic!("{other:?}"),
        })
    };
    let refused = |job, expected: Refusal| assert_eq!(other(job), [expected.clone(), expected]);
    refused(job(&netlist, 9, scheme), Refusal::Cycles(8));
    let last = last(8);
    let closed = Job::new(&netlist, last, scheme, LAN).unwrap();
    let hash = closed.hash();
    refused(closed, Refusal::Opened(Opened::Every));
    refused(job(&ours("Add_8_8"), 8, scheme), Refusal::Netlist);
    let wan = Job::new(&netlist, every(8), scheme, NetworkClass::WAN).unwrap();
    refused(wan, Refusal::Network(LAN));
    let [scheme_refused, _] = other(job(&netlist, 8, Scheme::Prp));
    assert_eq!(
        scheme_refused.to_string(),
        "it garbles under the scheme `mi`"
    );
    let mut hashes = vec![hash, job(&netlist, 8, scheme).hash()];
    hashes.push(job(&netlist, 9, scheme).hash());
    hashes.push(job(&netlist, 8, Scheme::Prp).hash());
    hashes.push(
        Job::new(&netlist, every(8), scheme, NetworkClass::WAN)
            .unwrap()
            .hash(),
    );
    hashes.push(job(&ours("Add_8_8"), 8, scheme).hash());
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
    let large = Job::new(&ours("MAC_32_1"), every(1 << 20), Scheme::Prp, LAN);
    assert!(large.is_err());
}

/// A byte that changes on its way ends the session, or changes nothing: no output is wrong.
#[test]
fn no_output_is_wrong_whatever_byte_changes() {
    let netlist = ours("Mill_8_8");
    let job = job(&netlist, 8, Scheme::Mi);
    let served = [served(Which::Cpu(Scheme::Mi), &netlist, 8, "a1")];
    let cpu = Cpu::detect().unwrap();
    let bits = InputText::parse("24").unwrap().bits(8).unwrap();
    let number = AtomicU64::new(200);
    let outputs = |to: PartyId, at: u64, flips: u8| {
        // Other coins each time: a device refuses a key that it knows.
        let number = number.fetch_add(2, Ordering::SeqCst);
        let [mut at_server, mut at_client] = tampered(to, at, flips);
        thread::scope(|threads| {
            let served = &served;
            threads.spawn(move || {
                let _ = serve(served, || Ok(()), cpu, coins(number), &mut at_server);
            });
            let run = client::run(&job, &bits, cpu, coins(number + 1), &mut at_client);
            run.ok()
                .map(|(outputs, _)| outputs.cycles().map(hex).collect::<Vec<_>>())
        })
    };
    let right = outputs(CLIENT, 0, 0).expect("an honest session");
    assert_eq!(right.last().map(String::as_str), Some("01"));
    let Promise {
        from_server,
        from_client,
        ..
    } = job.promise();
    // Masks and digests stand at the end.
    let to_client = (0..from_server)
        .step_by(131)
        .chain(from_server - 40..from_server);
    let to_server = (0..from_client)
        .step_by(131)
        .chain(from_client - 40..from_client);
    let places = to_client.map(|at| (CLIENT, at));
    let places = places.chain(to_server.map(|at| (SERVER, at)));
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
    assert_eq!(outputs(CLIENT, from_server, 255), Some(right));
}

/// A client has as many sessions as it is given, however they end, and none after it has deviated.
#[test]
fn a_client_has_as_many_sessions_as_it_is_given() {
    let netlist = ours("Mill_8_8");
    let job = job(&netlist, 8, Scheme::Mi);
    let served = [served(Which::Cpu(Scheme::Mi), &netlist, 8, "a1")];
    let guests = Guests::new(Some(2));
    let cpu = Cpu::detect().unwrap();
    let number = AtomicU64::new(100);
    let session = |client: usize, job: &Job| {
        // Other coins each time: a device refuses a key that it knows.
        let number = number.fetch_add(2, Ordering::SeqCst);
        let [mut at_server, mut at_client] =
            <[Mesh; 2]>::try_from(Mesh::in_memory(2)).ok().unwrap();
        thread::scope(|threads| {
            let (served, guests) = (&served, &guests);
            let server = threads.spawn(move || {
                let admit = || guests.admit(client);
                serve(served, admit, cpu, coins(number), &mut at_server).err()
            });
            let bits = vec![0; job.input_bits()[1] as usize];
            let seen = client::run(job, &bits, cpu, coins(number + 1), &mut at_client).err();
            drop(at_client);
            [seen, server.join().unwrap()]
        })
    };
    let refused = |errors: [Option<ServeError>; 2]| {
        errors.map(|error| match error {
            Some(ServeError::Refused(refusal)) => refusal,
            other => panic!("{other:?}"),
        })
    };
    // A refusal for another reason does not count.
    let other = Job::new(&netlist, every(9), Scheme::Mi, LAN).unwrap();
    refused(session(0, &other));
    assert!(session(0, &job).iter().all(Option::is_none));
    assert!(session(0, &job).iter().all(Option::is_none));
    assert_eq!(refused(session(0, &job)), [Refusal::Spent, Refusal::Spent]);
    // Others are not affected, but by what they do.
    assert!(session(1, &job).iter().all(Option::is_none));
    guests.failed(1, &ServeError::Device(DeviceError::NotNow));
    assert_eq!(guests.admit(1), Ok(()));
    guests.failed(2, &deviated());
    let both = refused(session(2, &job));
    assert_eq!(both, [Refusal::Deviated, Refusal::Deviated]);
    // A session counts from its beginning, whether it ends well or not.
    assert_eq!(
        [(); 3].map(|()| guests.admit(3).is_ok()),
        [true, true, false]
    );
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
        let [mut at_server, at_client] = <[Mesh; 2]>::try_from(Mesh::in_memory(2)).ok().unwrap();
        drop(at_client);
        let cpu = Cpu::detect().unwrap();
        let gone = serve(&served, || Ok(()), cpu, coins(number), &mut at_server);
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
