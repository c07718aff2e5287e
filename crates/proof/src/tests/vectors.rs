//! Vectors of the wire: the field, names, draws, and whole proofs, right and wrong ones.

use blake3::Hasher;
use sealane_block::{Block, Cpu, Nonce, Seed};
use sealane_testkit::vectors::{
    Value, array, block, bytes, check_in, json, list, number, on_tiers, stated, text,
};

use crate::field::Gf128;
use crate::grid::{embed, lagrange, mul16};
use crate::level::challenge;
use crate::sources::{LeftDraws, LeftKey, RightDraws, RightKey};
use crate::vectors::{Memory, Weights};
use crate::{
    Answer, BitString, Challenges, Context, Kind, Pending, Proven, SeedPart, Segment, Shape,
    ToLeft, ToRight, Verified, WeightSeed,
};

fn context(of: &Value) -> Context {
    Context {
        session: array(&of["session"]),
        segment: number(&of["segment"]),
        prover: number(&of["prover"]) as u8,
    }
}

fn shape(of: &Value) -> Shape {
    let statements = number(&of["statements"]) as usize;
    Shape::new(&[(Kind::AND, statements)]).expect("a shape")
}

fn nonce(of: &Value) -> Nonce {
    Nonce::from_bytes(array(&of["seed"]))
}

fn seed(of: &Value) -> Seed {
    Seed::from_bytes(&array(of))
}

fn all(blocks: &[Block]) -> Value {
    stated(Block::as_bytes(blocks))
}

/// Strings of so many bits, one behind the other.
fn strings(bytes: &[u8], bits: usize) -> Vec<BitString> {
    let string = |bytes: &[u8]| {
        let words = bytes.chunks(8).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        });
        let mut string = BitString::default();
        string.push(&words.collect::<Vec<_>>(), bits);
        string
    };
    bytes.chunks(bits.div_ceil(8)).map(string).collect()
}

/// The strings of prover, left and right verifier, of statements that hold.
fn drawn(of: &Value) -> [Vec<u8>; 3] {
    let bits = number(&of["statements"]) as usize;
    let size = bits.div_ceil(8);
    let mut hasher = Hasher::new_derive_key("sealane vectors statements");
    let mut output = hasher.update(&bytes(&of["strings"])).finalize_xof();
    let [a, b, c, d, right] = [(); 5].map(|()| {
        let mut string = vec![0; size];
        output.fill(&mut string);
        string[size - 1] &= u8::MAX >> (8 * size - bits);
        string
    });
    let left = (0..size).map(|i| a[i] & c[i] ^ b[i] & d[i] ^ right[i]);
    let left = left.collect::<Vec<_>>();
    let prover = [&a[..], &b, &c, &d].concat();
    [
        prover,
        [&a[..], &b, &left].concat(),
        [&c[..], &d, &right].concat(),
    ]
}

/// A proof, in which somebody has or sends something else.
fn proof(of: &Value, cpu: Cpu) -> Result<Value, String> {
    let disputed = || "disputed".to_string();
    let changed = |part: &str, mut honest: Vec<u8>| {
        let changes = list(&of["changes"]).iter();
        for change in changes.filter(|change| text(&change["op"]) == part) {
            let at = number(&change["at"]) as usize;
            for (i, bits) in bytes(&change["bytes"]).into_iter().enumerate() {
                honest[at + i] ^= bits;
            }
        }
        honest
    };
    let (context, shape, memory) = (context(of), shape(of), &mut Memory::default());
    let bits = number(&of["statements"]) as usize;
    let [prover, left, right] = drawn(of);
    let parts = [("prover", prover), ("left", left), ("right", right)];
    let parts = parts.map(|(part, honest)| strings(&changed(part, honest), bits));
    let [prover, left, right] = parts.each_ref().map(|part| part.iter().collect::<Vec<_>>());
    let keys = [0, 1, 2].map(|key| seed(&of["keys"][key]));
    let segment = Segment {
        cpu,
        context,
        shape: &shape,
    };
    let weights = WeightSeed::draw(&context, &keys[2]);
    let shown = [("from-left", 0), ("from-right", 1)].map(|(part, side)| {
        let message = changed(part, weights.part(side).to_bytes().to_vec());
        SeedPart::parse(&message).expect("its length is right")
    });
    let joined = WeightSeed::join(&shown).map_err(|_| disputed())?;
    let (shares, commitments) = segment.prove(
        &mut segment.challenges(&joined),
        [&keys[0], &keys[1]],
        &joined,
        &[Proven {
            left: prover[..2].to_vec(),
            right: prover[2..].to_vec(),
        }][..],
        memory,
    );
    let shares = changed("shares", shares.as_bytes().to_vec());
    let commitments = changed("commitments", commitments.as_bytes().to_vec());
    let of_left = segment.follow_left(
        &mut segment.challenges(&weights),
        &keys[0],
        &weights,
        &[Verified {
            operands: left[..2].to_vec(),
            constant: left[2..].to_vec(),
        }][..],
        &ToLeft::parse(&shares, &shape).expect("its length is right"),
        memory,
    );
    let of_right = segment.follow_right(
        &mut segment.challenges(&weights),
        &keys[1],
        &weights,
        &[Verified {
            operands: right[..2].to_vec(),
            constant: right[2..].to_vec(),
        }][..],
        &ToRight::parse(&commitments, &shape).expect("its length is right"),
        memory,
    );
    let answers = [&of_left, &of_right].map(|pending| pending.answer().to_bytes());
    let heard = [("to-left", 1), ("to-right", 0)].map(|(part, from)| {
        let message = changed(part, answers[from].to_vec());
        Answer::parse(&message).expect("its length is right")
    });
    let decide = |pending: Pending, other: &Answer| {
        let proved = pending.decide(other).map_err(|_| disputed())?;
        assert_eq!(proved.context(), context);
        Ok::<_, String>(())
    };
    let ends = [decide(of_left, &heard[0]), decide(of_right, &heard[1])];
    ends.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(json!({
        "shares": stated(&shares),
        "commitments": stated(&commitments),
        "answers": answers.map(|answer| stated(&answer)),
    }))
}

#[test]
fn proofs_are_those_of_the_vectors() {
    check_in(
        "guarded",
        "proof",
        &[
            ("proof-field", |of| {
                let [a, b] = ["a", "b"].map(|field| number(&of[field]) as u8);
                let image = embed::<Gf128>(a).to_bytes();
                Ok(json!({ "product": mul16(a, b), "image": stated(&image) }))
            }),
            ("proof-line", |of| {
                let points = number(&of["points"]) as usize;
                let factors = |cpu| lagrange::<Gf128>(cpu, points, block(&of["at"]));
                Ok(on_tiers(|cpu| json!({ "factors": all(&factors(cpu)) })))
            }),
            ("proof-seed", |of| {
                let drawn = WeightSeed::draw(&context(of), &seed(&of["key"]));
                let [left, right] = [0, 1].map(|side| drawn.part(side).to_bytes());
                assert_eq!(left[32..], right[32..]);
                Ok(json!({
                    "left": stated(&left[..32]),
                    "right": stated(&right[..32]),
                    "check": stated(&left[32..]),
                    "seed": stated(drawn.nonce().as_bytes()),
                }))
            }),
            ("proof-weights", |of| {
                Ok(on_tiers(|cpu| {
                    let (context, shape, nonce) = (context(of), shape(of), nonce(of));
                    let weights = Weights::new::<Gf128>(cpu, &context, &shape, &nonce);
                    let at = list(&of["at"]).iter().map(|at| number(at) as usize);
                    let weights = at.map(|at| weights.of::<Gf128>(cpu, &shape, at));
                    json!({ "weights": all(&weights.collect::<Vec<_>>()) })
                }))
            }),
            ("proof-challenges", |of| {
                let mut source = crate::ByHash::new(&context(of), &shape(of), &nonce(of));
                let mut found = Vec::new();
                for commitment in list(&of["commitments"]) {
                    source.commit(&array(commitment));
                    found.extend([8, 2].map(|points| challenge::<Gf128>(&mut source, points)));
                }
                Ok(json!({ "challenges": all(&found) }))
            }),
            ("proof-draws", |of| {
                let (context, nonce) = (context(of), nonce(of));
                let mut left = LeftKey::new(&context, &nonce, &seed(&of["left"]));
                let mut right = RightKey::new(&context, &nonce, &seed(&of["right"]));
                let counts = list(&of["counts"])
                    .iter()
                    .map(|count| number(count) as usize);
                let shares = counts.map(|count| right.shares(count)).collect::<Vec<_>>();
                let commitments = shares.iter().map(|shares| stated(&left.commit(shares)));
                Ok(json!({
                    "commitments": commitments.collect::<Vec<_>>(),
                    "masks": all(&[left.mask(), right.mask()]),
                    "shares": shares.iter().map(|shares| all(shares)).collect::<Vec<_>>(),
                }))
            }),
            ("proof", |of| {
                let tiers = Cpu::available().into_iter();
                let found = tiers.map(|cpu| proof(of, cpu)).collect::<Vec<_>>();
                assert!(found.iter().all(|one| *one == found[0]), "tiers differ");
                found[0].clone()
            }),
        ],
    );
}
