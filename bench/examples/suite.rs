//! `cargo run --release -p sealane-bench --example suite -- garble`: one suite, one JSON line a
//! figure.

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    let Some(suite) = sealane_bench::SUITES
        .iter()
        .find(|suite| suite.name == name)
    else {
        let names: Vec<&str> = sealane_bench::SUITES
            .iter()
            .map(|suite| suite.name)
            .collect();
        eprintln!("no suite `{name}`; there are: {}", names.join(", "));
        std::process::exit(2);
    };
    let options = match sealane_bench::Options::detect() {
        Ok(mut options) => {
            options.again = std::env::args_os().take(1).collect();
            options
        }
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2);
        }
    };
    let ended = (suite.run)(
        &options,
        &mut |record| match serde_json::to_string(&record) {
            Ok(line) => println!("{line}"),
            Err(error) => eprintln!("{error}"),
        },
    );
    if let Err(error) = ended {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
