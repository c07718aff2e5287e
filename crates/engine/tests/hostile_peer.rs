//! One honest party against a peer whose messages are altered on the way, or who lies. Whatever
//! comes, the honest party ends in time without a panic, with the right result or none.

use sealane_engine::{EngineError, Job, NetworkClass, ProtocolName, RunReport, run};
use sealane_net::{
    Farewell, Frame, FrameKind, Limits, LinkError, Mesh, PartyId, Traffic, Transport, memory_pair,
};
use sealane_program::text;
use sealane_program::types::Data;
use std::time::{Duration, Instant};

const PROGRAM: &str = "sealane program 1
name richer
party alice
party bob
rows people <= 1000
input a : alice u8[people] in 0..255
input b : bob u8[people] in 0..255
main {
  %0 = param 0 : u8[people] in 0..255 known alice
  %1 = param 1 : u8[people] in 0..255 known bob
  %2 = gt %0, %1 : bool[people] in 0..1 secret
}
reveal richer = %2 : bool to alice, bob
";

const ROWS: u64 = 20;

/// What happens to the frames that reach the honest party.
type Tamper = Box<dyn FnMut(usize, &mut Frame) -> Fate + Send>;

/// Whether a frame arrives.
#[derive(Clone, Copy)]
enum Fate {
    Once,
    Twice,
    Never,
}

struct Tampered {
    inner: Box<dyn Transport>,
    tamper: Tamper,
    count: usize,
    again: Option<Frame>,
}

impl Transport for Tampered {
    fn send(&mut self, frame: Frame, deadline: Instant) -> Result<(), LinkError> {
        self.inner.send(frame, deadline)
    }

    fn recv(&mut self, deadline: Instant) -> Result<Frame, LinkError> {
        if let Some(frame) = self.again.take() {
            return Ok(frame);
        }
        loop {
            let mut frame = self.inner.recv(deadline)?;
            self.count += 1;
            match (self.tamper)(self.count - 1, &mut frame) {
                Fate::Never => continue,
                Fate::Once => {}
                Fate::Twice => self.again = Some(frame.clone()),
            }
            return Ok(frame);
        }
    }

    fn shutdown(&mut self, farewell: Farewell<'_>) {
        self.inner.shutdown(farewell);
    }

    fn wire(&self) -> Traffic {
        self.inner.wire()
    }
}

fn job() -> Job {
    let program = text::parse(PROGRAM, "program").expect("a sound program");
    Job::new(program, ProtocolName::Yao, NetworkClass::Lan).expect("a plan")
}

fn inputs(job: &Job, party: u8) -> Vec<Option<Data>> {
    let input = |owner: u8| {
        let numbers = (0..ROWS).map(|i| i128::from((i * (7 + 30 * u64::from(owner))) % 256));
        let ty = job.program().inputs[usize::from(owner)].ty;
        Data::from_numbers(ty, vec![ROWS], &numbers.collect::<Vec<_>>())
    };
    let own = |owner| (owner == party).then(|| input(owner).expect("numbers of the type"));
    vec![own(0), own(1)]
}

/// Runs both parties; what reaches `victim` passes through `tamper`. Returns the victim's end.
fn attack(job: &Job, victim: u8, tamper: Tamper) -> Result<RunReport, EngineError> {
    attack_within(job, victim, tamper, Duration::from_secs(60))
}

/// As [`attack`], where a receive takes at most `patience`.
fn attack_within(
    job: &Job,
    victim: u8,
    tamper: Tamper,
    patience: Duration,
) -> Result<RunReport, EngineError> {
    let limits = Limits {
        patience,
        ..Limits::default()
    };
    let (honest, other) = memory_pair(&limits);
    let honest = Tampered {
        inner: Box::new(honest),
        tamper,
        count: 0,
        again: None,
    };
    let peer = 1 - victim;
    std::thread::scope(|threads| {
        let party = |me: u8, transport: Box<dyn Transport>| {
            let mut transports = vec![None, None];
            transports[usize::from(1 - me)] = Some(transport);
            let mut mesh = Mesh::from_transports(PartyId(me), transports, limits).expect("a mesh");
            run(job, &inputs(job, me), &mut mesh, &mut |_, _| ())
        };
        let other: Box<dyn Transport> = Box::new(other);
        let other = threads.spawn(move || party(peer, other));
        let end = party(victim, Box::new(honest));
        other.join().expect("the other party does not panic").ok();
        end
    })
}

/// The frames that reach a party in an untouched run: their kinds and lengths.
fn frames(job: &Job, victim: u8) -> Vec<(FrameKind, usize)> {
    let (tell, told) = std::sync::mpsc::channel();
    let watch = move |_, frame: &mut Frame| {
        tell.send((frame.kind, frame.payload.len()))
            .expect("a listener");
        Fate::Once
    };
    attack(job, victim, Box::new(watch)).expect("an untouched run ends well");
    told.iter().collect()
}

fn expected(job: &Job) -> Vec<u64> {
    let [a, b] = [0, 1].map(|party| inputs(job, party).swap_remove(usize::from(party)));
    let (a, b) = (a.expect("alice's").elements, b.expect("bob's").elements);
    a.iter().zip(&b).map(|(a, b)| u64::from(a > b)).collect()
}

/// The victim's result is right, or it has an error that says something.
fn judge(job: &Job, end: Result<RunReport, EngineError>, what: &str) -> bool {
    match end {
        Ok(report) => {
            let data = report.results[0].data.as_ref().expect("both learn it");
            assert!(data.elements == expected(job), "{what}: a wrong result");
            // Sums of what a peer claims must not overflow either.
            report.payload_bytes();
            report.as_planned()
        }
        Err(error) => {
            assert!(!error.to_string().is_empty(), "{what}");
            false
        }
    }
}

#[test]
fn a_flipped_bit_anywhere_gives_the_right_result_or_none() {
    let job = job();
    for victim in [0, 1] {
        let frames = frames(&job, victim);
        assert!(
            frames.len() >= 6,
            "handshake, set-up, tables, settling, reveal, farewell"
        );
        let is_data = |(kind, _): &(FrameKind, usize)| *kind != FrameKind::Control;
        let reveal = frames.iter().rposition(is_data).expect("a reveal");
        for (index, (kind, length)) in frames.into_iter().enumerate() {
            for at in [0, 1, length / 3, length / 2, length - 1] {
                let at = at.min(length - 1);
                let flip = move |count, frame: &mut Frame| {
                    if count == index {
                        frame.payload[at] ^= 1 << (at % 8);
                    }
                    Fate::Once
                };
                let what = format!("party {victim}, frame {index} of {length} bytes at {at}");
                let as_planned = judge(&job, attack(&job, victim, Box::new(flip)), &what);
                // What the protocol sent before is settled by a digest. In the reveal, a flip in
                // the hash of a label that nobody holds makes no difference.
                let settled = kind != FrameKind::Control && index < reveal;
                assert!(!settled || !as_planned, "{what}");
            }
        }
    }
}

#[test]
fn lost_repeated_cut_and_grown_frames_end_the_run() {
    let job = job();
    for victim in [0, 1] {
        for index in 0..frames(&job, victim).len() {
            for way in 0..5 {
                let alter = move |count, frame: &mut Frame| match (count == index, way) {
                    (false, _) => Fate::Once,
                    (true, 0) => Fate::Never,
                    (true, 1) => Fate::Twice,
                    (true, 2) => {
                        frame.payload.pop();
                        Fate::Once
                    }
                    (true, 3) => {
                        frame.payload.push(0);
                        Fate::Once
                    }
                    (true, _) => {
                        frame.kind = match frame.kind {
                            FrameKind::Control => FrameKind::Data { end: true },
                            FrameKind::Data { .. } => FrameKind::Control,
                        };
                        Fate::Once
                    }
                };
                let what = format!("party {victim}, frame {index}, way {way}");
                // Where bytes are missing, the wait for them has to end too.
                let patience = Duration::from_millis(if way == 1 { 60_000 } else { 250 });
                let end = attack_within(&job, victim, Box::new(alter), patience);
                judge(&job, end, &what);
            }
        }
    }
}

#[test]
fn a_peer_who_claims_to_have_sent_everything_twice_over_is_refused() {
    let job = job();
    let last = frames(&job, 0).len() - 1;
    let boast = move |count, frame: &mut Frame| {
        if count == last {
            // Two counters, what went to this party and to the peer itself, and the rounds: the
            // second counter becomes the largest number, in the ten bytes of its wire form.
            let sent = frame.payload[1..].iter().position(|byte| byte & 0x80 == 0);
            let itself = 2 + sent.expect("the end of the first number");
            assert_eq!(frame.payload[itself], 0, "nobody sends to himself");
            let largest = [&[0xff; 9][..], &[1]].concat();
            frame.payload.splice(itself..=itself, largest);
        }
        Fate::Once
    };
    let end = attack(&job, 0, Box::new(boast));
    assert!(
        matches!(end, Err(EngineError::Net { .. })),
        "its account is not believed"
    );
}
