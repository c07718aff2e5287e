//! Rounds equal the depth of the computation: scalar code sends one message a round to each peer,
//! and independent steps and tiles share rounds.

use crate::common::{in_tiles, job_of, named, numbers, parse};
use sealane_engine::{Job, Journal, NetworkClass, ProtocolName, RunReport, run, simulate};
use sealane_net::{Counters, Mesh};
use sealane_plan::Lookups;
use sealane_program::builder::{Builder, Handle, Index};
use sealane_program::graph::{Binary, Input, Program};
use sealane_program::types::{Data, Shape, Type};
use sealane_protocol::Choice;
use sealane_testkit::side::on_threads;

/// AES-128 (FIPS 197) written naively: bytes are scalars, each S-box is a separate lookup, and
/// nothing marks independent work. Inner rounds look into the T-box of the 2012 paper (section 4),
/// whose entries hold a byte of each row.
struct Aes {
    b: Builder,
    sbox: Handle,
    tbox: Handle,
}

type Column = Vec<Handle>;

impl Aes {
    /// Program for one block: the text from one party, the key from another, the ciphertext to a
    /// third (figure 7 of the paper).
    fn program() -> Program {
        let mut b = Builder::new("aes").unwrap();
        for name in ["text", "key", "receiver"] {
            b.party(name).unwrap();
        }
        let mut input = |name: &str, owner: u8| {
            let input = Input::new(name, owner, Type::U8, Shape::fixed([16]));
            b.input(input).unwrap()
        };
        let (block, key) = (input("block", 0), input("key", 1));
        let sbox = (0..=255).map(substitute).collect::<Vec<_>>();
        let rows = |s: &u8| [double(*s), *s, *s, double(*s) ^ s];
        let tbox = sbox.iter().flat_map(rows).collect::<Vec<_>>();
        let mut table = |bytes: &[u8], shape: Vec<u64>| {
            let numbers: Vec<_> = bytes.iter().map(|byte| i128::from(*byte)).collect();
            let data = Data::from_numbers(Type::U8, shape, &numbers).unwrap();
            b.constant(data, None).unwrap()
        };
        let (sbox, tbox) = (table(&sbox, vec![256]), table(&tbox, vec![256, 4]));
        let mut aes = Aes { b, sbox, tbox };
        let (block, key) = (aes.columns(block), aes.columns(key));
        let ciphertext = aes.encrypt(block, key);
        let bytes: Vec<_> = ciphertext.concat().into_iter().map(Into::into).collect();
        let result = aes.b.stack(&bytes, 0, None).unwrap();
        let to = [2];
        let revealed = aes
            .b
            .reveal("ciphertext", result.into(), &to, Type::U8, None);
        revealed.unwrap();
        aes.b.finish().unwrap().0
    }

    fn encrypt(&mut self, block: Vec<Column>, key: Vec<Column>) -> Vec<Column> {
        let mut words = key;
        let mut constant = 1;
        for index in 4..44 {
            let mut word = words[index - 1].clone();
            if index % 4 == 0 {
                word.rotate_left(1);
                word = word.iter().map(|byte| self.look_up(*byte)).collect();
                let (first, added) = (word[0].into(), i128::from(constant).into());
                word[0] = self.b.binary(Binary::Xor, first, added, None).unwrap();
                constant = double(constant);
            }
            let before = words[index - 4].clone();
            words.push(self.xor(&before, &word));
        }
        let mut state = self.add(&block, &words[..4]);
        for round in 1..10 {
            let shifted = shift_rows(&state);
            let mixed: Vec<_> = shifted.iter().map(|column| self.mix(column)).collect();
            state = self.add(&mixed, &words[4 * round..][..4]);
        }
        let mut last = shift_rows(&state);
        for byte in last.iter_mut().flatten() {
            *byte = self.look_up(*byte);
        }
        self.add(&last, &words[40..])
    }

    /// SubBytes and MixColumns of a column: four entries of the T-box, each rotated by its row.
    fn mix(&mut self, column: &Column) -> Column {
        let mut sum: Option<Column> = None;
        for (row, byte) in column.iter().enumerate() {
            let entry = self.b.lookup(self.tbox, *byte, None).unwrap();
            let mut entry = self.bytes(entry, 4);
            entry.rotate_right(row);
            sum = Some(match sum {
                None => entry,
                Some(sum) => self.xor(&sum, &entry),
            });
        }
        sum.unwrap()
    }

    fn look_up(&mut self, byte: Handle) -> Handle {
        self.b.lookup(self.sbox, byte, None).unwrap()
    }

    fn add(&mut self, a: &[Column], b: &[Column]) -> Vec<Column> {
        a.iter().zip(b).map(|(a, b)| self.xor(a, b)).collect()
    }

    fn xor(&mut self, a: &Column, b: &Column) -> Column {
        let mut xor = |(a, b): (&Handle, &Handle)| {
            let sum = self.b.binary(Binary::Xor, (*a).into(), (*b).into(), None);
            sum.unwrap()
        };
        a.iter().zip(b).map(&mut xor).collect()
    }

    fn columns(&mut self, bytes: Handle) -> Vec<Column> {
        let bytes = self.bytes(bytes, 16);
        bytes.chunks(4).map(<[Handle]>::to_vec).collect()
    }

    fn bytes(&mut self, of: Handle, count: i64) -> Column {
        let byte = |at| self.b.index(of, &[Index::At(at)], None).unwrap();
        (0..count).map(byte).collect()
    }
}

fn shift_rows(state: &[Column]) -> Vec<Column> {
    let column = |at: usize| (0..4).map(|row| state[(at + row) % 4][row]).collect();
    (0..4).map(column).collect()
}

/// Multiplication by x in GF(2^8).
fn double(byte: u8) -> u8 {
    (byte << 1) ^ (0x1b * (byte >> 7))
}

fn times(a: u8, b: u8) -> u8 {
    let bits = (0..8).rev();
    bits.fold(0, |sum, bit| double(sum) ^ (a * (b >> bit & 1)))
}

/// The S-box (section 5.1.1): the inverse, then an affine map.
fn substitute(byte: u8) -> u8 {
    let inverse = (0..=255).find(|x| times(*x, byte) == 1).unwrap_or(0);
    let turns = (1..5).map(|turn| inverse.rotate_left(turn));
    turns.fold(inverse, |sum, turned| sum ^ turned) ^ 0x63
}

fn bytes(values: impl IntoIterator<Item = u8>) -> Data {
    let numbers = values.into_iter().map(i128::from).collect::<Vec<_>>();
    Data::from_numbers(Type::U8, vec![numbers.len() as u64], &numbers).unwrap()
}

/// Runs all parties in memory. Returns for each its report and its counters.
pub(crate) fn session(job: &Job, inputs: &[Data]) -> Vec<(RunReport, Counters)> {
    on_threads(Mesh::in_memory(job.parties().len()), |mut mesh| {
        let owns = |owner: u8| mesh.me().index() == usize::from(owner);
        let own = job.program().inputs.iter().zip(inputs);
        let own = own.map(|(input, data)| owns(input.owner).then(|| data.clone()));
        let own = own.collect::<Vec<_>>();
        let report = run(job, &own, &mut mesh, &mut Journal::silent()).unwrap();
        (report, mesh.counters())
    })
}

/// Appendix C.1 of FIPS 197.
#[test]
fn scalar_aes_takes_a_round_for_each_level_of_its_lookups() {
    let block = bytes((0..16).map(|i| 0x11 * i));
    let key = bytes(0..16);
    let ciphertext = 0x69c4e0d8_6a7b0430_d8cdb780_70b4c55a_u128.to_be_bytes();
    let helpers = named(&["ada", "bob", "cyd"]);
    let job = Job::new(
        Aes::program(),
        ProtocolName::Trio,
        NetworkClass::LAN,
        helpers,
    );
    let job = job.unwrap();
    // One block takes few bytes, so each table is a level: ten of them, after what is dealt for the
    // first. The inputs; settling, opening. Owners and receiver wait.
    let levels = 10 + 1;
    let rounds = 1 + levels + 2;
    let parties = session(&job, &[block, key]);
    for (party, (report, counters)) in parties.iter().enumerate() {
        assert!(report.as_planned());
        assert_eq!(report.rounds, rounds);
        let computes = party >= 3;
        let sent = |to: usize| counters.messages[to].sent;
        let busiest = (0..parties.len()).map(sent).max().unwrap();
        // Two computing parties send to each other in each level, the third to one of them, and at
        // the end all to everybody. Before that they agree on a seed.
        let most = if computes { levels + 4 } else { 3 };
        let few = busiest <= most;
        assert!(few, "party {party} sent {busiest} messages to a peer");
        let enough = !computes || busiest >= levels - 1;
        assert!(enough, "not one message a round");
    }
    let learnt = |party: usize| parties[party].0.results[0].data.as_ref();
    let got = learnt(2).unwrap().numbers().collect::<Vec<_>>();
    assert_eq!(got, ciphertext.map(i128::from));
    assert!((0..6).all(|party| (party == 2) == learnt(party).is_some()));
}

/// An S-box of each row.
fn bytes_looked_up() -> Program {
    let sbox = (0..=255).map(|byte| substitute(byte).to_string());
    let sbox = sbox.collect::<Vec<_>>().join(", ");
    let program = format!(
        "sealane program 1\nname bytes\nparty ann\nparty ben\nparty cat\nrows n <= 300000\n\
         input x : ann u8[n] in 0..255\ninput y : ben u8 in 0..255\nmain {{\n\
         \x20 %0 = param 0 : u8[n] in 0..255 known ann\n\
         \x20 %1 = param 1 : u8 in 0..255 known ben\n\
         \x20 %2 = xor %0, %1 : u8[n] in 0..255 secret\n\
         \x20 %3 = const [{sbox}] : u8[256] in 0..255 public\n\
         \x20 %4 = lookup %3, %2 : u8[n] in 0..255 secret\n}}\nreveal found = %4 : u8 to cat\n"
    );
    parse(&program)
}

/// Few rows take the form of the fewest rounds, many that of the fewest bytes; all are exact.
#[test]
fn the_form_of_lookups_follows_rows_and_network() {
    let chosen = |(protocol, count), network, rows: usize, y: u8| {
        let job = Job::new(bytes_looked_up(), protocol, network, vec![]).unwrap();
        let x = (0..rows).map(|row| (row * 37 % 256) as u8);
        let one = Data::from_numbers(Type::U8, vec![], &[i128::from(y)]).unwrap();
        let parties = session(&job, &[bytes(x.clone()), one]);
        assert!(parties.iter().all(|(report, _)| report.as_planned()));
        let found = parties[2].0.results[0].data.as_ref().unwrap();
        let wanted = x.map(|x| i128::from(substitute(x ^ y)));
        assert!(found.numbers().eq(wanted));
        let cost = job.cost(&[rows as u64]).unwrap();
        assert!(cost.forms[usize::from(cost.form.plan)].chosen);
        let forms = cost.forms;
        let chosen = forms.iter().find(|form| form.chosen).unwrap();
        assert_eq!(forms.len(), count);
        assert_eq!(job.plan_at(&[rows as u64]).unwrap().lookups, chosen.lookups);
        assert_eq!(parties[0].0.rounds, chosen.rounds);
        let links = parties.iter().flat_map(|(_, counters)| &counters.payload);
        let sent = links.map(|link| link.sent);
        assert_eq!(sent.sum::<u64>(), chosen.payload_bytes);
        chosen.lookups
    };
    let [lan, wan] = [NetworkClass::LAN, NetworkClass::WAN];
    let trio = (ProtocolName::Trio, 4);
    assert_eq!(chosen(trio, lan, 10, 0x35), Lookups::Tables);
    assert_eq!(chosen(trio, wan, 3000, 0), Lookups::Tables);
    assert_eq!(chosen(trio, lan, 6000, 0x7f), Lookups::ShortTower);
    assert_eq!(chosen(trio, wan, 200_000, 0xff), Lookups::Tower);
    // Deals and openings are proved in one form.
    let proved = (ProtocolName::TrioMalicious, 2);
    assert_eq!(chosen(proved, lan, 70, 0x35), Lookups::Gates);
    assert_eq!(chosen(proved, lan, 6000, 0x7f), Lookups::Tower);
    assert_eq!(chosen(proved, wan, 200_000, 0xff), Lookups::Tower);
}

/// Two independent chains: a product of three factors and a comparison of two, over other shapes,
/// so that nothing fuses them.
const CHAINS: &str = "\
sealane program 1
name chains
party ann
party ben
party cat
input x : ann u8[3] in 0..255
input y : ben u8[5] in 0..255
input z : cat u8 in 0..255
main {
  %0 = param 0 : u8[3] in 0..255 known ann
  %1 = param 1 : u8[5] in 0..255 known ben
  %2 = param 2 : u8 in 0..255 known cat
  %3 = xor %0, %2 : u8[3] in 0..255 secret
  %4 = and %1, %2 : u8[5] in 0..255 secret
  %5 = and %3, %2 : u8[3] in 0..255 secret
  %6 = reduce max %5 axis 0 : u8 in 0..255 secret
  %7 = reduce min %4 axis 0 : u8 in 0..255 secret
}
";

fn rounds_of(results: &str) -> u64 {
    let text = format!("{CHAINS}{results}");
    let job = job_of(&text, ProtocolName::Trio, NetworkClass::LAN);
    let inputs = [bytes([1, 200, 30]), bytes([7, 6, 5, 4, 3])];
    let one = Data::from_numbers(Type::U8, vec![], &[77]).unwrap();
    let parties = session(&job, &[inputs[0].clone(), inputs[1].clone(), one]);
    assert!(parties.iter().all(|(report, _)| report.as_planned()));
    parties[0].0.rounds
}

#[test]
fn steps_that_do_not_wait_for_each_other_share_rounds() {
    let largest = "reveal largest = %6 : u8 to ann\n";
    let least = "reveal least = %7 : u8 to ann\n";
    let together = rounds_of(&format!("{largest}{least}"));
    assert_eq!(together, rounds_of(largest).max(rounds_of(least)));
}

/// Comparison of rows with a secret.
const ROWS: &str = "\
sealane program 1
name rows
party ann
party ben
party cat
rows n <= 1000
input x : ann u8[n] in 0..255
input y : ben u8 in 0..255
main {
  %0 = param 0 : u8[n] in 0..255 known ann
  %1 = param 1 : u8 in 0..255 known ben
  %2 = lt %0, %1 : bool[n] in 0..1 secret
}
reveal below = %2 : bool to cat
";

#[test]
fn tiles_in_flight_share_rounds_and_others_follow() {
    let rounds = |tile: u64| {
        let job = in_tiles(parse(ROWS), ProtocolName::Trio, &[], tile);
        let one = Data::from_numbers(Type::U8, vec![], &[99]).unwrap();
        let parties = session(&job, &[bytes(0..48), one]);
        assert!(parties.iter().all(|(report, _)| report.as_planned()));
        parties[0].0.rounds
    };
    let one = rounds(48);
    // Depth of a comparison of eight bits.
    let depth = 4;
    // Seeds, inputs, the comparison, settling, opening.
    assert_eq!(one, 1 + 1 + depth + 2);
    // Twelve rows a tile are four tiles, all in flight; six are eight, four after four. A party
    // that waits for nothing shares its rows while others still finish, at most one round early.
    assert_eq!(rounds(12), one);
    let follow = |groups: u64| one + groups * depth..=one + groups * (1 + depth);
    assert!(follow(1).contains(&rounds(6)));
    assert!(follow(3).contains(&rounds(3)));
}

/// Turns of a loop over `lanes` numbers: to a running sum comes the square of a difference of both
/// parties' numbers, and the smaller of it and 2^32 goes on.
fn turns(count: u64, lanes: u64) -> String {
    let mut text = format!(
        "sealane program 1\nname turns\nparty alice\nparty bob\n\
         input x : alice u16[{count}, {lanes}] in 0..65535\n\
         input y : bob u16[{count}, {lanes}] in 0..65535\nmain {{\n\
         \x20 %0 = param 0 : u16[{count}, {lanes}] in 0..65535 known alice\n\
         \x20 %1 = param 1 : u16[{count}, {lanes}] in 0..65535 known bob\n\
         \x20 %2 = const [4294967296] : u64 in 4294967296..4294967296 public\n"
    );
    let (square, far) = (65_535u64 * 65_535, 1 << 32);
    let (mut next, mut most, mut least) = (3, 0, 0);
    for turn in 0..count {
        let at = |place: u64| next + place;
        for (place, party, input) in [(0, "alice", 0), (2, "bob", 1)] {
            let (row, number) = (at(place), at(place + 1));
            text += &format!(
                "  %{row} = slice %{input} axis 0 from {turn} take 1 squeeze : u16[{lanes}] in \
                 0..65535 known {party}\n  %{number} = cast %{row} : i64[{lanes}] in 0..65535 known \
                 {party}\n"
            );
        }
        let [x, y, apart, product, cast] = [1, 3, 4, 5, 6].map(at);
        text += &format!(
            "  %{apart} = sub %{x}, %{y} : i64[{lanes}] in -65535..65535 secret\n\
             \x20 %{product} = mul %{apart}, %{apart} : i64[{lanes}] in 0..{square} secret\n\
             \x20 %{cast} = cast %{product} : u64[{lanes}] in 0..{square} secret\n"
        );
        if turn == 0 {
            (next, most, least) = (at(7), square, cast);
            continue;
        }
        let (sum, smaller) = (at(7), at(8));
        most += square;
        text += &format!("  %{sum} = add %{least}, %{cast} : u64[{lanes}] in 0..{most} secret\n");
        most = most.min(far);
        text += &format!("  %{smaller} = min %{sum}, %2 : u64[{lanes}] in 0..{most} secret\n");
        (next, least) = (smaller + 1, smaller);
    }
    text + &format!(
        "  %{next} = reduce min %{least} axis 0 : u64 in 0..{most} secret\n}}\n\
         reveal result = %{next} : u64 to bob\n"
    )
}

/// Sums of products, of which comparisons follow, are gates on labels where a chain of turns would
/// change from one sharing to the other at each: its rounds do not grow with its turns.
#[test]
fn a_chain_of_sums_and_comparisons_stays_on_labels() {
    let (count, lanes) = (12, 60);
    let job = job_of(&turns(count, lanes), ProtocolName::Mixed, NetworkClass::WAN);
    let cost = job.cost(&[]).unwrap_or_else(|error| panic!("{error}"));
    let chosen = cost.forms.iter().find(|form| form.chosen);
    assert_eq!(chosen.map(|form| form.choice), Some(Choice::Sums(1)));
    assert!(cost.promise.rounds < 2 * count, "{}", cost.promise.rounds);
    let column = |by: u64| {
        let all = (0..count * lanes).map(|at| i128::from(at * by % 65_521));
        numbers(
            Type::unsigned(16),
            vec![count, lanes],
            &all.collect::<Vec<_>>(),
        )
    };
    let [x, y] = [30_011, 50_021].map(column);
    let apart = x.numbers().zip(y.numbers()).map(|(x, y)| (x - y).pow(2));
    let mut sums = vec![0; lanes as usize];
    for (at, square) in apart.enumerate() {
        let sum = &mut sums[at % lanes as usize];
        *sum = (*sum + square).min(1 << 32);
    }
    let report = simulate(&job, vec![x, y]).unwrap_or_else(|error| panic!("{error}"));
    let learnt = report.results[0].data.as_ref().expect("a result of bob");
    let least = sums.into_iter().min().expect("lanes");
    assert_eq!(learnt.numbers().collect::<Vec<_>>(), [least]);
    assert!(report.as_planned());
}

/// Turns of a loop over fewer and fewer numbers, `by` in the last one: the smaller of each and of a
/// number that both parties share.
fn shrinking(count: u64, by: u64) -> String {
    let (lanes, range) = (count * by, "in 0..4294967295");
    let mut text = "sealane program 1\nname shrinking\nparty alice\nparty bob\n".to_string();
    for (input, party) in [("x", "alice"), ("y", "bob")] {
        text += &format!("input {input} : {party} u32[{count}, {lanes}] {range}\n");
    }
    text += "main {\n";
    for (input, party) in [(0, "alice"), (1, "bob")] {
        text +=
            &format!("  %{input} = param {input} : u32[{count}, {lanes}] {range} known {party}\n");
    }
    let (mut next, mut least) = (2, 0);
    for turn in 0..count {
        let left = lanes - turn * by;
        for (input, party) in [(0, "alice"), (1, "bob")] {
            let row = next + 2 * input;
            text += &format!(
                "  %{row} = slice %{input} axis 0 from {turn} take 1 squeeze : u32[{lanes}] {range} \
                 known {party}\n  %{} = slice %{row} axis 0 from 0 take {left} : u32[{left}] \
                 {range} known {party}\n",
                row + 1
            );
        }
        let [x, y, both, kept, smaller] = [1, 3, 4, 5, 6].map(|at| next + at);
        text += &format!("  %{both} = xor %{x}, %{y} : u32[{left}] {range} secret\n");
        (next, least) = if turn == 0 {
            (kept, both)
        } else {
            text += &format!(
                "  %{kept} = slice %{least} axis 0 from {by} take {left} : u32[{left}] {range} \
                 secret\n  %{smaller} = min %{kept}, %{both} : u32[{left}] {range} secret\n"
            );
            (smaller + 1, smaller)
        };
    }
    text + &format!("}}\nreveal result = %{least} : u32 to bob\n")
}

/// In a program of many steps wide ones are on shares, and narrow ones on labels, as a game finds.
#[test]
fn a_long_program_has_its_steps_improved_together() {
    for (network, part) in [(NetworkClass::LAN, 0.97), (NetworkClass::WAN, 0.93)] {
        let job = job_of(&shrinking(60, 40), ProtocolName::Mixed, network);
        let cost = job.cost(&[]).unwrap_or_else(|error| panic!("{error}"));
        let (improved, others): (Vec<_>, Vec<_>) =
            (cost.forms.iter()).partition(|form| form.choice == Choice::Improved);
        let others = others.iter().map(|form| form.seconds);
        let least = others.reduce(f64::min).expect("other forms");
        assert!(improved[0].chosen && improved[0].seconds < part * least);
        let gap = job.gap(&[]).expect("a plan").expect("a choice");
        assert!(gap.tried.is_none() && gap.above() < 0.02, "{gap:?}");
    }
}

/// Shares alone are planned as under `gmw`, in the same tiles, so that a run is never slower.
#[test]
fn shares_alone_have_the_tiles_of_gmw() {
    let text = "sealane program 1\nname largest\nparty alice\nparty bob\nrows n <= 100000\n\
        input x : alice u32[n] in 0..4294967295\ninput y : bob u32[n] in 0..4294967295\nmain {\n\
        \x20 %0 = param 0 : u32[n] in 0..4294967295 known alice\n\
        \x20 %1 = param 1 : u32[n] in 0..4294967295 known bob\n\
        \x20 %2 = xor %0, %1 : u32[n] in 0..4294967295 secret\n\
        \x20 %3 = reduce max %2 axis 0 : u32 in 0..4294967295 secret\n}\n\
        reveal result = %3 : u32 to alice\n";
    for network in ["lan", "wan", "10us/10Gbps", "100us/10Gbps", "1ms/10Gbps"] {
        let network = network.parse::<NetworkClass>().expect("a network");
        let seconds = |protocol| {
            let cost = job_of(text, protocol, network).cost(&[100_000]);
            cost.expect("a plan").estimate_s(network)
        };
        let [gmw, mixed] = [ProtocolName::Gmw, ProtocolName::Mixed].map(seconds);
        assert!(mixed <= gmw, "{network}: {mixed} s, and {gmw} s under gmw");
    }
}
