//! Views of each party in whole sessions of `yao`, under every scheme with an offset. The view
//! holds neither the offset nor a label that the evaluator does not hold, nor, at the garbler, a
//! label that the evaluator chose. All wires of the circuit are searched for, and with three-halves
//! halves of labels as well. The same check is applied to parties that leak.

use crate::common::{PARTIES, domain, open, setting, side};
use sealane_block::{Block, Coins, Nonce};
use sealane_circuit::{Builder, Machine, Tape, compile_known};
use sealane_garble::Scheme;
use sealane_ot::traits::CotCost;
use sealane_ot::{Security, SoftSpoken, forms};
use sealane_parties::{PartyId, PartySet};
use sealane_party::{DIGEST_BYTES, Shares, Steps, from_planes};
use sealane_protocol::{Paper, known_to};
use sealane_testkit::leaks::{self, Secret, View};
use sealane_testkit::record::recorded;

use sealane_testkit::side::{on_threads, transfers};
use sealane_yao::{Garbling, Labels, MultiInstance, ThreeHalves};
use std::sync::Arc;

const LANES: usize = 16;
const BITS: usize = 3;
/// Outputs that are revealed.
const RESULTS: usize = 2;

/// Half-gates under the hashes that no user-facing protocol takes.
macro_rules! garblings {
    ($($name:ident => $scheme:ident),*) => {
        $(
            struct $name;
            impl Garbling for $name {
                const SCHEME: Scheme = Scheme::$scheme;
                const NAME: &'static str = stringify!($name);
                const HASH: &'static str = "of a test";
                const ASSUMPTION: &'static str = "for tests";
                const REFERENCES: &'static [Paper] = &[];
            }
        )*
    };
}
garblings! { Prp => Prp, Tccr => Tccr, Circ => Circ }

/// Products of bits of both inputs, of which operands are known, and a chain of sums of these;
/// every wire is an output. The last two are results.
fn tape() -> Tape {
    let mut b = Builder::new();
    let (x, y) = (b.input(BITS), b.input(BITS));
    let mut wires = vec![b.and(x[0], y[0])];
    for i in 1..BITS {
        let (last, sum) = (wires[wires.len() - 1], b.xor(x[i], y[i]));
        let (of_x, of_y) = (b.and(x[i], y[i - 1]), b.and(y[i], sum));
        let carry = b.and(sum, last);
        let both = b.xor(of_x, of_y);
        let last = b.and(x[i], carry);
        wires.extend([sum, of_x, of_y, carry, both, last, b.and(last, both)]);
    }
    let known = PARTIES.map(|party| [known_to(party); BITS]).concat();
    let tape = compile_known(&b.finish(vec![wires]), &Machine::CPU, &known);
    assert!(tape.ands.len() + tape.xors.len() <= tape.outputs.len());
    for kind in [0].into_iter().chain(PARTIES.map(known_to)) {
        assert!(tape.known_to.contains(&kind), "no AND of kind {kind}");
    }
    tape
}

/// The end state of a party: all bytes it received, and its labels of x, y and the results.
struct End {
    heard: Vec<u8>,
    labels: [Vec<Block>; 3],
    /// The offset, at the garbler.
    delta: Block,
    learnt: Vec<u64>,
}

/// A party's input, plane by plane.
fn bits(owner: PartyId) -> Vec<u8> {
    let mut bits = vec![0; LANES * BITS];
    let mut coins = Coins::danger_fixed_seed(100 + u64::from(owner.0));
    coins.secret("bits").fill_bytes(&mut bits);
    bits.iter_mut().for_each(|bit| *bit &= 1);
    bits
}

/// Inputs of both, two tapes, and a reveal to both.
fn session<G: Garbling>() -> [End; 2] {
    let (meshes, logs) = recorded(2);
    let ends = on_threads(meshes, |mesh| {
        let me = mesh.me();
        let mut side = side::<G>(mesh, &setting(2), &transfers(LANES * BITS)).unwrap();
        let delta = side.party.constant(domain(), 1, &[1]).data()[0];
        let tape = tape();
        let [x, y] = PARTIES.map(|owner| {
            let elements = from_planes(&bits(owner), BITS);
            side.input(owner, domain(), BITS, &elements).unwrap()
        });
        let [first, z] = [(); 2].map(|()| side.tape(&tape, domain(), &[&x, &y]).unwrap());
        let result = Arc::new(z.resize(z.planes() - RESULTS, RESULTS, false));
        let mut learnt = open(&mut side, [result], PartySet::of(PARTIES)).unwrap();
        side.mesh.finish().unwrap();
        drop(side);
        let labels = |share: &Labels| share.data().to_vec();
        let results = [labels(&first), labels(&z)].concat();
        End {
            heard: logs[me.index()][1 - me.index()].heard(),
            labels: [labels(&x), labels(&y), results],
            delta,
            learnt: learnt.remove(0).unwrap(),
        }
    });
    ends.try_into().ok().unwrap()
}

/// The views of both, and what is secret from each.
struct Views {
    views: [View; 2],
    secrets: [Vec<Secret>; 2],
    delta: Block,
    /// Both labels of the evaluator's first input, the one of its choice first.
    choice: [Block; 2],
    permute_bits: Vec<u8>,
}

/// Messages as they came, so that blocks are counted from where each begins.
fn messages(heard: &[u8], lengths: &[u64]) -> Vec<Vec<u8>> {
    let mut rest = heard;
    let mut messages = Vec::new();
    for length in lengths {
        let (message, after) = rest.split_at(*length as usize);
        messages.push(message.to_vec());
        rest = after;
    }
    messages.push(rest.to_vec());
    messages
}

fn views<G: Garbling>() -> Views {
    let [garbler, evaluator] = session::<G>();
    assert_eq!(garbler.learnt, evaluator.learnt);
    let delta = garbler.delta;
    let roles = sealane_garble::Roles {
        garbler: known_to(PARTIES[0]),
        evaluator: known_to(PARTIES[1]),
    };
    let tables = G::SCHEME.table_bytes(&tape(), LANES as u64, roles);
    let nonce = Nonce::BYTES as u64;
    let extension = SoftSpoken::new(4, Security::Malicious);
    let [points, trees] = extension.set_up()[..] else {
        panic!("two flights")
    };
    let choices = (LANES * BITS) as u64;
    let to_evaluator = [points.from_sender, nonce, tables, tables, DIGEST_BYTES];
    let to_garbler = [
        points.from_receiver,
        trees.from_receiver,
        extension.extend(0, choices)[0].from_receiver,
        forms::given_bytes(choices),
        DIGEST_BYTES,
    ];
    let active = evaluator.labels.concat();
    let zeros = garbler.labels.concat();
    let value = |label: &Block| label.value();
    let held = active.iter().map(value).collect();
    let others = active.iter().map(|label| (*label ^ delta).value());
    let mut from_evaluator: Vec<Secret> = vec![("the offset".into(), delta.value())];
    from_evaluator.extend(others.map(|label| ("a label not held".to_string(), label)));
    let results = garbler.labels[2].iter();
    let permute_bits = results.map(|label| label.lsb()).collect::<Vec<_>>();
    from_evaluator.extend(leaks::bits("a permute bit", &permute_bits));
    from_evaluator.extend(leaks::bits("an input of the garbler", &bits(PARTIES[0])));
    // Labels are right: the evaluator holds one of the two that the garbler has of each wire.
    for (zero, label) in zeros.iter().zip(&active) {
        let sum = (*zero ^ *label).value();
        assert!(sum == 0 || sum == delta.value());
    }
    // Secret from the garbler: the evaluator's labels of its inputs, and of all wires that depend
    // on them.
    let chosen = [&evaluator.labels[1], &evaluator.labels[2]];
    let chosen = chosen.iter().flat_map(|labels| labels.iter());
    let chosen = chosen.map(|label| ("a label of the evaluator".to_string(), label.value()));
    let mut from_garbler = chosen.collect::<Vec<_>>();
    from_garbler.extend(leaks::bits("an input of the evaluator", &bits(PARTIES[1])));
    let choice = evaluator.labels[1][0];
    Views {
        views: [
            View {
                heard: messages(&garbler.heard, &to_garbler),
                ..View::default()
            },
            View {
                heard: messages(&evaluator.heard, &to_evaluator),
                held,
                in_halves: G::SCHEME == Scheme::ThreeHalves,
                ..View::default()
            },
        ],
        secrets: [from_garbler, from_evaluator],
        delta,
        choice: [choice, choice ^ delta],
        permute_bits,
    }
}

fn nothing_is_shown<G: Garbling>() {
    let Views { views, secrets, .. } = views::<G>();
    for (party, (view, secrets)) in views.iter().zip(&secrets).enumerate() {
        assert_eq!(leaks::find(view, secrets), None, "{} at {party}", G::SCHEME);
    }
}

#[test]
fn no_party_can_read_a_secret_off_what_it_receives() {
    nothing_is_shown::<Prp>();
    nothing_is_shown::<Tccr>();
    nothing_is_shown::<Circ>();
    nothing_is_shown::<MultiInstance>();
    nothing_is_shown::<ThreeHalves>();
}

/// Checks that the messages of a party that leaks, in place of the messages that it sent, are
/// noticed.
fn is_noticed<G: Garbling>() {
    let Views {
        views,
        secrets,
        delta,
        choice,
        permute_bits,
    } = views::<G>();
    let [garbler, evaluator] = views;
    let [from_garbler, from_evaluator] = secrets;
    let leaks = |leak: &str, (message, at): (usize, usize), bytes: &[u8]| {
        let mut view = evaluator.clone();
        let bytes = bytes[..bytes.len().min(view.heard[message].len() - at)].to_vec();
        view.heard[message][at..][..bytes.len()].copy_from_slice(&bytes);
        let found = leaks::find(&view, &from_evaluator);
        assert!(found.is_some(), "{}: {leak}", G::SCHEME);
    };
    let held = choice[0];
    let row = Block::from_bytes(evaluator.heard[2][16..32].try_into().unwrap());
    let digest = Block::from_bytes(evaluator.heard[4][..16].try_into().unwrap());
    // The nonce is message 1, tables are 2 and 3, digests 4, hashes of results 5.
    let block = |leak: &str, at, block: Block| leaks(leak, at, &block.to_bytes());
    block("the offset as nonce", (1, 0), delta);
    block("the offset in the nonce's end", (1, 16), delta);
    block("the offset out of place", (2, 5), delta);
    block("the offset under a label", (2, 0), delta ^ held);
    block("a row of the other value", (3, 0), choice[1] ^ row);
    block("one under two rows", (3, 0), choice[1] ^ row ^ digest);
    block("the label of the other choice", (2, 0), choice[1]);
    leaks("a result's other label", (5, 0), &{
        let mut last = from_evaluator.iter();
        let last = last.rfind(|(name, _)| name == "a label not held");
        last.unwrap().1.to_le_bytes()
    });
    if G::SCHEME == Scheme::ThreeHalves {
        let [left, right] = leaks::halves(delta.value());
        let [held, _] = leaks::halves(held.value());
        leaks("half of the offset", (2, 3), &left.to_le_bytes());
        leaks("halves of it", (3, 8), &(left ^ right).to_le_bytes());
        leaks("half under half", (2, 8), &(right ^ held).to_le_bytes());
    }
    leaks("permute bits", (2, 0), &permute_bits[..16]);
    leaks("inputs of the garbler", (2, 1), &bits(PARTIES[0])[..16]);
    // At the garbler, the evaluator's label of its choice, open or under what it has sent besides.
    let masks = [
        Block::ZERO,
        Block::from_bytes(garbler.heard[1][..16].try_into().unwrap()),
    ];
    for mask in masks {
        let mut view = garbler.clone();
        view.heard[2][..16].copy_from_slice(&(held ^ mask).to_bytes());
        assert!(leaks::find(&view, &from_garbler).is_some(), "{}", G::SCHEME);
    }
}

#[test]
fn views_of_parties_that_leak_are_noticed() {
    is_noticed::<Prp>();
    is_noticed::<Tccr>();
    is_noticed::<Circ>();
    is_noticed::<MultiInstance>();
    is_noticed::<ThreeHalves>();
}
