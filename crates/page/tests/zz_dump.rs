//! temporary
use sealane_engine::events::Record;
use sealane_page::Run;
use std::path::Path;
#[test]
fn dump() {
    let root = std::env::var("DUMP").unwrap();
    let read = |p: &Path| -> Vec<Record> {
        std::fs::read_to_string(p)
            .unwrap()
            .lines()
            .map(|l| {
                serde_json::from_str(&l.replace("\"seconds\":", "\"took_us\":1000000,\"x\":"))
                    .unwrap_or_else(|e| panic!("{e} {l}"))
            })
            .collect()
    };
    for run in std::fs::read_dir(root).unwrap() {
        let run = run.unwrap().path();
        let plan =
            serde_json::from_str(&std::fs::read_to_string(run.join("plan.json")).unwrap()).unwrap();
        let mut sides = vec![];
        if run.join("events.jsonl").is_file() {
            sides.push(read(&run.join("events.jsonl")));
        }
        for d in std::fs::read_dir(&run).unwrap() {
            let e = d.unwrap().path().join("events.jsonl");
            if e.is_file() {
                sides.push(read(&e));
            }
        }
        std::fs::write(run.join("report.html"), Run::new(plan, sides).page()).unwrap();
    }
}
