//! Meshes in simulated models: parties that write far more than their links hold, in any order,
//! over slow links; and models with parties that never end.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sealane_net::{Limits, Mesh, NetError, Runtime, full_links};
use sealane_parties::PartyId;
use sealane_testkit::random::Random;
use sealane_testkit::simulator::network::Wire;
use sealane_testkit::simulator::{Bounds, Ending, Event, Happening, Model};

const BOUNDS: Bounds = Bounds {
    time: Duration::from_secs(7200),
    steps: 1_000_000,
};

/// A wire of low bandwidth.
fn wire(random: &mut Random) -> Wire {
    let latency = random.time(Duration::from_micros(10), Duration::from_millis(200));
    Wire {
        latency,
        jitter: latency,
        bytes_per_s: 10_000_000,
        window_bytes: 4 << 10,
        keeps: true,
    }
}

/// Links that hold a few KiB, and a backlog that holds all.
fn tiny() -> Limits {
    Limits {
        inbound_bytes: 1 << 10,
        outbound_bytes: 1 << 10,
        patience: Duration::from_secs(600),
        ..Limits::default()
    }
}

/// Actions of a party with its mesh; returns the error that ends it, if any.
type Party = dyn Fn(&mut Mesh) -> Result<(), NetError> + Send + Sync;

/// Outcome of a model, and of each of its parties that did not die.
type Outcome = (Ending, Vec<Option<Result<(), NetError>>>);

/// Runs the same party everywhere, with events at links of some.
fn run(seed: u64, parties: usize, events: &[(usize, Event)], party: Arc<Party>) -> Outcome {
    let mut random = Random::new(seed);
    let model = Model::new(seed, parties, BOUNDS, false);
    let rows = full_links(parties, |one, other| {
        let connection = model.connect([one, other], [(); 2].map(|()| wire(&mut random)));
        [one, other].map(|me| {
            let events = events.iter().filter(|(of, _)| *of == me);
            let events = events.map(|(_, event)| *event).collect();
            let process = model.process(me);
            let transport = process.transport(&connection, tiny()).unwrap();
            process.link(transport, &connection, events)
        })
    });
    let endings = Arc::new(Mutex::new(vec![None; parties]));
    for (me, row) in rows.into_iter().enumerate() {
        let (party, endings) = (Arc::clone(&party), Arc::clone(&endings));
        let process = model.process(me);
        let body = move || {
            let mesh = Mesh::on_machine(&process, PartyId::from_index(me), row, tiny());
            let ending = party(&mut mesh.unwrap());
            endings.lock().unwrap()[me] = Some(ending);
        };
        let machine = model.process(me);
        machine.spawn("party", Box::new(body)).unwrap();
    }
    let ending = model.run();
    assert!(ending.panics.is_empty(), "{:?}", ending.panics);
    let endings = endings.lock().unwrap().clone();
    (ending, endings)
}

/// Event at the first frame of each link of a party.
fn first(party: usize, after: bool, what: Happening) -> (usize, Event) {
    (party, Event { at: 0, after, what })
}

/// Bytes that one party writes to another, in a pattern of prime period.
fn flight(from: PartyId, to: PartyId) -> Vec<u8> {
    let length = 300_000 + 30_000 * from.index() + 7_000 * to.index();
    (from.0..251).cycle().take(length).collect()
}

/// The peers of a party in an order of its own.
fn shuffled(mesh: &Mesh, random: &mut Random) -> Vec<PartyId> {
    let mut peers = mesh.peers().collect::<Vec<_>>();
    for last in (1..peers.len()).rev() {
        peers.swap(last, random.below(last + 1));
    }
    peers
}

#[test]
fn parties_may_all_write_before_they_read_in_any_order() {
    for seed in 0..12 {
        let party = move |mesh: &mut Mesh| {
            let mut random = Random::new(seed * 8 + u64::from(mesh.me().0));
            for _ in 0..2 {
                for peer in shuffled(mesh, &mut random) {
                    mesh.send(peer, &flight(mesh.me(), peer))?;
                }
                mesh.flush()?;
                for peer in shuffled(mesh, &mut random) {
                    let wanted = flight(peer, mesh.me());
                    let mut heard = vec![0; wanted.len()];
                    mesh.recv(peer, &mut heard)?;
                    assert_eq!(heard, wanted);
                }
            }
            mesh.finish()
        };
        let (ending, endings) = run(seed, 3 + seed as usize % 2, &[], Arc::new(party));
        assert_eq!(ending.stuck, None, "seed {seed}");
        let done = endings.iter().all(|ending| *ending == Some(Ok(())));
        assert!(done, "seed {seed}: {endings:?}");
        // The payload takes time on the wire.
        let after = ending.after;
        assert!(after > Duration::from_millis(2), "{after:?}");
    }
}

/// Lets two parties write something and wait for more than the other writes.
fn say_and_wait(mesh: &mut Mesh) -> Result<(), NetError> {
    let peer = PartyId(1 - mesh.me().0);
    mesh.send(peer, b"first words")?;
    mesh.flush()?;
    mesh.recv(peer, &mut [0; 20])
}

#[test]
fn what_a_process_said_before_it_died_is_heard() {
    for seed in 0..80 {
        // Its payload arrives together with its end, at about the time at which the other reads.
        let ms = |time| Duration::from_millis(time);
        let events = [
            first(0, false, Happening::Stalls(ms(3000))),
            first(0, true, Happening::Dies),
            first(1, true, Happening::Computes(ms(2850 + 2 * seed))),
        ];
        let party = |mesh: &mut Mesh| {
            let peer = PartyId(1 - mesh.me().0);
            mesh.send(peer, b"last words")?;
            mesh.flush()?;
            let mut heard = [0; 10];
            mesh.recv(peer, &mut heard).expect("what was said");
            mesh.recv(peer, &mut [0])
        };
        let (ending, endings) = run(seed, 2, &events, Arc::new(party));
        assert_eq!(ending.stuck, None);
        let gone = [None, Some(Err(NetError::Vanished { party: PartyId(0) }))];
        assert_eq!(endings, gone);
        assert!(ending.after < Duration::from_secs(20), "{:?}", ending.after);
    }
}

#[test]
fn a_link_that_is_lost_is_silent_at_both_ends() {
    for seed in 0..40 {
        let lost = [first(0, false, Happening::Lost)];
        let (ending, endings) = run(seed, 2, &lost, Arc::new(say_and_wait));
        let silence = tiny().silence;
        let silent = |peer| {
            let (party, silent_s) = (PartyId(peer), silence.as_secs());
            Some(Err(NetError::Stalled { party, silent_s }))
        };
        assert_eq!(endings, [silent(1), silent(0)]);
        assert!(ending.after >= silence && ending.after < 2 * silence);
    }
}

#[test]
fn what_is_held_up_for_less_than_the_silence_arrives() {
    let silence = tiny().silence;
    for (seed, what) in [
        (1, Happening::Stalls(silence / 2)),
        (2, Happening::Freezes(silence / 2)),
        (3, Happening::Computes(silence * 5)),
    ] {
        let party = |mesh: &mut Mesh| {
            let peer = PartyId(1 - mesh.me().0);
            mesh.send(peer, &[7])?;
            mesh.flush()?;
            mesh.recv(peer, &mut [0])?;
            mesh.finish()
        };
        let (ending, endings) = run(seed, 2, &[first(0, false, what)], Arc::new(party));
        assert_eq!(endings, [Some(Ok(())), Some(Ok(()))]);
        assert!(ending.after >= silence / 2, "{:?}", ending.after);
    }
}

#[test]
fn a_model_that_does_not_end_is_reported() {
    let rests = [first(0, false, Happening::Computes(2 * BOUNDS.time))];
    let (ending, endings) = run(1, 2, &rests, Arc::new(say_and_wait));
    let stuck = ending.stuck.unwrap();
    assert!(stuck.starts_with("still going on at 14400s"), "{stuck}");
    assert!(stuck.contains("party of party 0"), "{stuck}");
    assert_eq!(endings[0], None);
}
