//! Tests that types with secrets are erased before their memory is freed: also vectors and boxes,
//! about which [`needs_drop`](std::mem::needs_drop) tells nothing.

use crate::heap::{copies_in, random_in};
use sealane_aead::{Cipher, Suite};
use sealane_auth::{Auth, AuthParty, Transfers};
use sealane_block::{Aes128, Aes128Dec, Aes128Many, Block, Coins, Cpu};
use sealane_circuit::{Builder, Int, Machine, Tape};
use sealane_engine::{Job, NetworkClass, ProtocolName, simulate};
use sealane_garble::{Garbler, Labels, Scheme};
use sealane_net::{Mesh, Payload};
use sealane_party::{Party, Planes};
use sealane_program::text::parse;
use sealane_program::types::{Data, Type};
use sealane_protocol::{Algebra, Demand, Protocol, Setting, StepShape};
use sealane_testkit::side::{Given, Side, on_threads, two_ands};
use sealane_testkit::walks::TwoWalks;
use sealane_trio::TrioParty;
use sealane_yao::{ThreeHalves, YaoParty};
use std::hint::black_box;
use std::sync::Arc;

/// Counts the blocks with random content that are freed with this value.
fn left_by<T>(secret: T) -> usize {
    random_in(|| drop(black_box(secret)))
}

fn coins() -> Coins {
    Coins::danger_fixed_seed(7)
}

fn random_blocks(count: usize) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; count];
    coins().secret("blocks").fill(&mut blocks);
    blocks
}

fn random_words(count: usize) -> Vec<u64> {
    bytemuck::cast_slice(Block::as_bytes(&random_blocks(count.div_ceil(2))))[..count].to_vec()
}

#[test]
fn what_is_not_erased_is_found() {
    assert_eq!(left_by(random_blocks(3)), 1);
    assert_eq!(left_by(Box::new(random_blocks(1)[0])), 1);
    assert_eq!(left_by(random_words(9)), 1);
    assert_eq!(left_by(vec![0u64; 9]), 0);
    let words = random_words(9);
    let secret = bytemuck::cast_slice(&words[5..7]).to_vec();
    let grown = || {
        let mut grown = words.clone();
        grown.push(1);
        black_box(&mut grown)[..9].fill(0);
    };
    assert_eq!(copies_in(vec![secret], grown), 1, "outgrown memory");
}

#[test]
fn keys_and_generators_are_erased() {
    for cpu in Cpu::available() {
        let [key, seed] = random_blocks(2)[..] else {
            unreachable!("two of them")
        };
        let aes = Aes128::new(cpu, key);
        let left = [
            left_by(Box::new(Aes128Dec::new(&aes))),
            left_by(Box::new(aes)),
            left_by(Box::new(Aes128Many::new(cpu, &random_blocks(37)))),
            left_by(Box::new(coins())),
            left_by(Box::new(coins().secret("stream"))),
            left_by(Box::new(coins().secret("seed").seed())),
            left_by(Box::new(coins().secret("bulk").prg(cpu))),
        ];
        assert_eq!(left, [0; 7], "{}", cpu.tier());
        for scheme in Scheme::ALL {
            let garbler = Garbler::new(cpu, scheme, seed, &mut coins());
            let labels = garbler.fresh_labels(&mut coins(), 40);
            assert_eq!(left_by(labels), 0, "{scheme:?}");
            assert_eq!(left_by(Box::new(garbler)), 0, "{scheme:?}");
        }
        for suite in Suite::names().map(|name| Suite::named(name, None, None)) {
            let suite = suite.expect("a mode of this build");
            let key = Block::as_bytes(&random_blocks(2))[..suite.key_bytes()].to_vec();
            let cipher = Cipher::new(cpu, suite, &key).expect("a key of that length");
            assert_eq!(left_by(cipher), 0, "{suite}");
        }
    }
}

#[test]
fn values_labels_and_messages_are_erased() {
    let data = Data {
        ty: Type::unsigned(64),
        shape: vec![9],
        elements: random_words(9),
    };
    assert_eq!(left_by(data), 0);
    assert_eq!(left_by(Planes::new(3, 3, random_words(9))), 0);
    assert_eq!(left_by(Planes::new(3, 3, random_blocks(9))), 0);
    let bytes = Block::as_bytes(&random_blocks(9)).to_vec();
    assert_eq!(left_by(Planes::new(12, 12, bytes.clone())), 0);
    let mut payload = Payload::with_capacity(20);
    let left = random_in(|| {
        payload.append(&bytes[..16]);
        payload.append(&bytes);
        drop(payload);
    });
    assert_eq!(left, 0, "a message that grows");
    let mut labels = Labels::new(&tape(), 5, 1);
    labels.inputs.copy_from_slice(&random_blocks(16 * 5));
    labels.outputs.copy_from_slice(&random_blocks(8 * 5));
    assert_eq!(left_by(labels), 0);
}

/// A product of bytes.
fn tape() -> Tape {
    let mut b = Builder::new();
    let (x, y) = (b.input(8), b.input(8));
    let product = b.mul(Int::unsigned(&x), Int::unsigned(&y), 8);
    sealane_circuit::compile(&b.finish(vec![product]), &Machine::CPU)
}

#[test]
fn parties_and_their_shares_are_erased() {
    party_is_erased::<YaoParty>();
    party_is_erased::<YaoParty<ThreeHalves>>();
    party_is_erased::<TrioParty>();
}

/// Leaves random bytes on the stack, which the next value made there may have between its fields.
#[inline(never)]
fn litter_the_stack() {
    let mut bytes = [0; 1 << 16];
    coins().secret("stack").fill_bytes(&mut bytes);
    black_box(&mut bytes);
}

/// Parties after an input of each, with the shares of these inputs.
fn party_is_erased<P: Party>() {
    const LANES: usize = 20;
    const BITS: usize = 8;
    let profile = P::Protocol::profile();
    let parties = profile.roles.len();
    let domain = P::Protocol::input_domain(Algebra::Z2);
    let setting = &Setting::in_order(&profile, parties);
    let mut demand = Demand::default();
    for owner in setting.everyone() {
        let work = StepShape::input(owner, domain, LANES as u64, BITS as u64);
        demand.merge(&P::Protocol::demand(setting, &work), 1);
    }
    on_threads(Mesh::in_memory(parties), |mesh| {
        let me = mesh.me();
        litter_the_stack();
        let given = Given::seeded(Cpu::best(), me.0.into());
        litter_the_stack();
        let side = Side::<P>::set_up(mesh, setting, &demand, given);
        let mut side = side.expect("honest parties");
        let shares = setting.everyone().map(|owner| {
            let elements = [(1 << BITS) - 1; LANES];
            let share = side.input(owner, domain, BITS, &elements);
            Arc::into_inner(share.expect("honest parties"))
        });
        let shares = shares.collect::<Vec<_>>();
        side.mesh.finish().expect("honest parties");
        for share in shares {
            assert_eq!(left_by(share), 0, "{}: a share at {me}", profile.name);
        }
        assert_eq!(left_by(side.party), 0, "{}: {me}", profile.name);
    });
}

/// Both parties of `auth` and a value of each in both walks, after a batch of products, a tape and
/// its settlement.
#[test]
fn authenticated_parties_and_their_wires_are_erased() {
    type Protocol = Auth<Transfers>;
    const LANES: usize = 20;
    let setting = &Setting::in_order(&Protocol::profile(), 2);
    let (bits, tape) = (Protocol::domain(Algebra::Z2), two_ands());
    let mut demand = Demand::default();
    let inputs = setting
        .everyone()
        .map(|owner| StepShape::input(owner, bits, LANES as u64, 1));
    for work in inputs.chain([StepShape::tape(&tape, bits, LANES as u64)]) {
        demand.merge(&Protocol::offline_demand(setting, &work), 1);
    }
    on_threads(Mesh::in_memory(2), |mesh| {
        let me = mesh.me();
        litter_the_stack();
        let given = Given::seeded(Cpu::best(), me.0.into());
        litter_the_stack();
        let side = Side::<AuthParty<Transfers>>::set_up(mesh, setting, &demand, given);
        let mut run = TwoWalks::new(side.expect("honest parties"));
        let mut values = setting.everyone().map(|owner| {
            let given = (owner == me).then(|| vec![1; LANES].into());
            run.input(owner, [LANES, 1], given).expect("honest parties")
        });
        let (x, y) = (values.next().expect("two"), values.next().expect("two"));
        drop(values);
        let z = run.tape(&tape, &[&x, &y]).expect("honest parties");
        run.settle().expect("honest parties");
        let mut side = run.side;
        side.mesh.finish().expect("honest parties");
        for value in [x, y, z] {
            assert_eq!(left_by(value), 0, "a value at {me}");
        }
        assert_eq!(left_by(side.party), 0, "{me}");
    });
}

/// A program with squares that ann computes alone and in the clear, followed by joint work.
const PROGRAM: &str = "\
sealane program 1
name squares
party ann
party ben
rows n <= 100
input x : ann u8[n] in 0..255
input y : ben u8[n] in 0..255
main {
  %0 = param 0 : u8[n] in 0..255 known ann
  %1 = param 1 : u8[n] in 0..255 known ben
  %2 = cast %0 : u32[n] in 0..255 known ann
  %3 = cast %1 : u32[n] in 0..255 known ben
  %4 = mul %2, %2 : u32[n] in 0..65025 known ann
  %5 = add %4, %3 : u32[n] in 0..65280 secret
  %6 = reduce max %5 axis 0 : u32 in 0..65280 secret
}
reveal largest = %6 : u32 to ben
";

/// Rows: as many as bits in a word.
const ROWS: usize = 64;

#[test]
fn a_session_leaves_no_input_and_no_value_of_local_work() {
    let program = parse(PROGRAM, "squares").unwrap_or_else(|error| panic!("{error}"));
    let (x, y) = (bytes_of(1), bytes_of(2));
    let squares = x.iter().map(|x| x * x).collect::<Vec<_>>();
    let secrets = [(&x, 8), (&y, 8), (&squares, 16)];
    let secrets = secrets.map(|(values, bits)| forms(values, bits)).concat();
    // The protocol `clear` sends inputs as they are, and has no secrets; its local computation for
    // one party is a part of all other protocols.
    let secret = |protocol: &ProtocolName| *protocol != ProtocolName::Clear;
    let all = ProtocolName::ALL.into_iter().filter(secret);
    // Both owners compute, where a protocol has two roles; helpers compute for both.
    let cases = all.flat_map(|protocol| [0, protocol.profile().roles.len()].map(|n| (protocol, n)));
    for (protocol, helpers) in cases {
        let profile = protocol.profile();
        if helpers == 0 && profile.roles.len() != 2 || helpers > 0 && !profile.outsiders {
            continue;
        }
        let helpers = ["ada", "bob", "cyd"][..helpers].iter();
        let helpers = helpers.map(|name| name.to_string()).collect();
        let job = Job::new(program.clone(), protocol, NetworkClass::LAN, helpers);
        let job = job.unwrap_or_else(|error| panic!("{error}"));
        let left = copies_in(secrets.clone(), || {
            let inputs = [&x, &y].map(|values| Data {
                ty: Type::U8,
                shape: vec![ROWS as u64],
                elements: values.clone(),
            });
            let report = simulate(&job, inputs.into());
            let report = report.unwrap_or_else(|error| panic!("{error}"));
            let largest = squares.iter().zip(&y).map(|(square, y)| square + y).max();
            let found = report.results[0].data.as_ref().expect("ben learns it");
            assert_eq!(found.elements.first().copied(), largest);
        });
        assert_eq!(left, 0, "{protocol}");
    }
}

/// Random bytes, as elements.
fn bytes_of(number: u64) -> Vec<u64> {
    let mut bytes = [0; ROWS];
    let mut coins = Coins::danger_fixed_seed(number);
    coins.secret("input").fill_bytes(&mut bytes);
    bytes.map(u64::from).to_vec()
}

/// The forms of values in memory: elements; of each plane a bit a byte, and 64 bits a word.
fn forms(values: &[u64], planes: usize) -> Vec<Vec<u8>> {
    let mut forms = vec![bytemuck::cast_slice(&values[..8]).to_vec()];
    for plane in 0..planes {
        let bits = values.iter().map(|value| (value >> plane & 1) as u8);
        let bits = bits.collect::<Vec<_>>();
        let word = bits
            .iter()
            .rev()
            .fold(0u64, |word, bit| word << 1 | u64::from(*bit));
        forms.extend([bits, word.to_le_bytes().to_vec()]);
    }
    // A plane that is the same in all rows carries no information, and much else looks like it;
    // values that begin with zeros are not searched for either.
    forms.retain(|form| form.iter().any(|byte| *byte != form[0]) && form[..8] != [0; 8]);
    forms
}
