//! Measurements, not tests: they print a speed and never judge it. Run with `cargo test -p
//! sealane-net --release throughput:: -- --ignored --nocapture`.

use std::thread;
use std::time::{Duration, Instant};

use crate::common::{A, B, hear, pair, plain, say};
use sealane_net::{Limits, Mesh};

/// Bytes that cross in one window.
const WINDOW_BYTES: usize = 256 << 20;

/// Bytes given to `send` and taken from `recv` at a time.
const PIECE_BYTES: usize = 64 << 10;

#[test]
#[ignore = "a measure"]
fn one_way() {
    one_way_over("memory", Mesh::in_memory(2).try_into().ok().unwrap());
    let (a, b) = plain(Limits::default());
    one_way_over("TCP without TLS", [a, b]);
    let (a, b) = pair(Limits::default());
    one_way_over("TLS", [a, b]);
}

#[test]
#[ignore = "a measure"]
fn ping_pong() {
    let (mut a, mut b) = pair(Limits::default());
    let turns = 5000;
    thread::scope(|threads| {
        threads.spawn(move || {
            for _ in 0..turns {
                hear(&mut b, A, 16);
                say(&mut b, A, &[0; 16]);
            }
        });
        let started = Instant::now();
        for _ in 0..turns {
            say(&mut a, B, &[0; 16]);
            hear(&mut a, B, 16);
        }
        let trip = micros(started.elapsed()) / f64::from(turns);
        println!("TLS: {trip:.1} us a round trip");
    });
}

/// Prints the best of several windows, since other work shares the machine.
fn one_way_over(what: &str, [mut a, mut b]: [Mesh; 2]) {
    let mut best = Duration::MAX;
    let piece = vec![7u8; PIECE_BYTES];
    for _ in 0..5 {
        thread::scope(|threads| {
            let sender = threads.spawn(|| {
                for _ in 0..WINDOW_BYTES / PIECE_BYTES {
                    a.send(B, &piece).unwrap();
                }
                a.flush().unwrap();
                hear(&mut a, B, 1);
            });
            let started = Instant::now();
            let mut into = vec![0; PIECE_BYTES];
            for _ in 0..WINDOW_BYTES / PIECE_BYTES {
                b.recv(A, &mut into).unwrap();
            }
            best = best.min(started.elapsed());
            say(&mut b, A, &[0]);
            sender.join().unwrap();
        });
    }
    let rate = WINDOW_BYTES as f64 / micros(best) / 1000.0;
    println!("{what}: {rate:.2} GB/s one way");
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
