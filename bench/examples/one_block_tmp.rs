//! temp
#![allow(missing_docs, clippy::all)]
#[path = "../src/trio/aes.rs"]
mod aes;
use sealane_engine::{
    Job, Journal, Observer, ProtocolName,
    events::{Event, Phase, Record},
};
use sealane_net::{Limits, LinkSpeed, Mesh};
use sealane_parties::NetworkClass;
use std::thread;
use std::time::{Duration, Instant};
type L = std::sync::Arc<std::sync::Mutex<Vec<(Instant, String)>>>;
struct Log(L);
impl Observer for Log {
    fn event(&mut self, r: &Record) {
        let s = match &r.event {
            Event::Turn(t) => format!(
                "{} turn first {} count {} rounds {} from {} waited {} sent {:?} recv {:?}",
                r.at_us, t.first, t.count, t.rounds, t.from_us, t.waited_us, t.sent, t.received
            ),
            e => {
                let s = format!("{:?}", e);
                format!("{} {}", r.at_us, &s[..s.len().min(100)])
            }
        };
        self.0.lock().unwrap().push((Instant::now(), s));
    }
}
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let blocks: u64 = a[1].parse().unwrap();
    let runs: usize = a[2].parse().unwrap();
    let job = Job::in_tiles(
        aes::program(blocks).unwrap(),
        ProtocolName::Trio,
        NetworkClass::Lan,
        vec![],
        blocks,
    )
    .unwrap();
    let inputs = aes::inputs(blocks).unwrap();
    let mut best = (f64::INFINITY, vec![]);
    let mut all = vec![];
    let mut from = vec![];
    for _ in 0..runs {
        let meshes = Mesh::simulated_with(
            3,
            LinkSpeed {
                round_trip: Duration::from_micros(300),
                bytes_per_s: 125_000_000,
            },
            Limits::default(),
        );
        let logs: Vec<L> = (0..3)
            .map(|_| std::sync::Arc::new(std::sync::Mutex::new(vec![])))
            .collect();
        let party = |mut mesh: Mesh| {
            let me = mesh.me().index();
            let own: Vec<_> = job
                .program()
                .inputs
                .iter()
                .zip(&inputs)
                .map(|(i, d)| (usize::from(i.owner) == me).then(|| d.clone()))
                .collect();
            let mut j = Journal::new(&job, mesh.me(), Log(logs[me].clone()));
            let report = sealane_engine::run(&job, &own, &mut mesh, &mut j).unwrap();
            assert!(report.as_planned());
            report.seconds
        };
        let r: Vec<f64> = thread::scope(|s| {
            let party = &party;
            let th: Vec<_> = meshes
                .into_iter()
                .map(|m| s.spawn(move || party(m)))
                .collect();
            th.into_iter().map(|t| t.join().unwrap()).collect()
        });
        let t = r.iter().cloned().fold(0.0, f64::max);
        all.push(t);
        let at = |what: &str| {
            logs.iter()
                .map(|l| {
                    l.lock()
                        .unwrap()
                        .iter()
                        .find(|x| x.1.contains(what))
                        .unwrap()
                        .0
                })
                .max()
                .unwrap()
        };
        from.push((at("phase: Part") - at("turn first 0 count 1")).as_secs_f64());
        if t < best.0 {
            best = (
                t,
                logs.iter()
                    .map(|l| {
                        l.lock()
                            .unwrap()
                            .iter()
                            .map(|x| x.1.clone())
                            .collect::<Vec<_>>()
                    })
                    .collect(),
            );
        }
    }
    all.sort_by(f64::total_cmp);
    from.sort_by(f64::total_cmp);
    println!(
        "all: best {:.3} ms quarter {:.3} median {:.3}; from inputs: best {:.3} quarter {:.3} median {:.3}",
        all[0] * 1e3,
        all[runs / 4] * 1e3,
        all[runs / 2] * 1e3,
        from[0] * 1e3,
        from[runs / 4] * 1e3,
        from[runs / 2] * 1e3
    );
    if a.len() > 3 {
        for l in best.1 {
            println!("--");
            for s in l {
                println!("{s}");
            }
        }
    }
}
