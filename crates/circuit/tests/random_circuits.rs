//! Random circuits: every form of a circuit computes the same function.

use proptest::prelude::*;
use sealane_circuit::bristol::{Format, read, write};
use sealane_circuit::{Builder, Circuit, Lanes, Machine, Order, Wire, Word, compile};

/// One instruction: a kind of gate and three operands among the wires made so far.
type Instruction = (u8, u16, u16, u16);

/// Two inputs, gates by `program`, and an output of the given wires; the constants are among the
/// operands.
fn build(widths: [usize; 2], program: &[Instruction], outputs: &[u16]) -> Circuit {
    let mut b = Builder::new();
    let mut wires = vec![Wire::ZERO, Wire::ONE];
    wires.extend(widths.into_iter().flat_map(|width| b.input(width)));
    for &(kind, x, y, z) in program {
        let [x, y, z] = [x, y, z].map(|i| wires[i as usize % wires.len()]);
        wires.push(match kind % 6 {
            0 => b.xor(x, y),
            1 => b.and(x, y),
            2 => b.or(x, y),
            3 => b.mux(x, y, z),
            4 => b.majority(x, y, z),
            _ => !x,
        });
    }
    let output = outputs.iter().map(|&i| wires[i as usize % wires.len()]);
    b.finish(vec![output.collect()])
}

/// The same function without a builder, by the meaning of the instructions.
fn interpret(inputs: &[Vec<bool>], program: &[Instruction], outputs: &[u16]) -> Vec<bool> {
    let mut values = vec![false, true];
    values.extend(inputs.iter().flatten());
    for &(kind, x, y, z) in program {
        let [x, y, z] = [x, y, z].map(|i| values[i as usize % values.len()]);
        values.push(match kind % 6 {
            0 => x != y,
            1 => x && y,
            2 => x || y,
            3 => x && y || !x && z,
            4 => [x, y, z].into_iter().filter(|&bit| bit).count() >= 2,
            _ => !x,
        });
    }
    let outputs = outputs.iter();
    outputs
        .map(|&i| values[i as usize % values.len()])
        .collect()
}

fn machines() -> impl Strategy<Value = Machine> {
    let order = prop_oneof![
        Just(Order::None),
        any::<bool>().prop_map(|over_free| Order::Queue { over_free }),
        Just(Order::Levels),
        (0..40u32).prop_map(|window| Order::Window { window }),
    ];
    (0..20u32, order).prop_map(|(lanes, order)| Machine { lanes, order })
}

fn bits(word: u64, width: usize) -> Vec<bool> {
    (0..width).map(|i| word >> i & 1 == 1).collect()
}

proptest! {
    #[test]
    fn all_forms_of_a_circuit_agree(
        widths in [1..8usize, 0..8usize],
        program in prop::collection::vec(any::<Instruction>(), 0..120),
        outputs in prop::collection::vec(any::<u16>(), 0..12),
        words in prop::collection::vec(any::<[u64; 2]>(), 1..20),
        machine in machines(),
    ) {
        let circuit = build(widths, &program, &outputs);
        let tape = compile(&circuit, &machine);
        tape.check().unwrap();
        prop_assert_eq!(tape.ands.len() as u64, circuit.info().ands);
        prop_assert_eq!(u64::from(tape.depth), circuit.info().depth);
        // Rounds of a protocol: a batch for each level.
        let rounds = compile(&circuit, &Machine::ROUNDS);
        let levels = rounds.batches.iter().filter(|batch| !batch.ands.is_empty()).count();
        prop_assert_eq!(levels as u32, rounds.depth);
        let fashion = read(&write(&circuit, Format::BristolFashion).unwrap()).unwrap();
        prop_assert_eq!(fashion.format, Format::BristolFashion);
        let old = read(&write(&circuit, Format::Bristol).unwrap()).unwrap();
        let mut outer = Builder::new();
        let inputs: Vec<Word> = widths.iter().map(|&width| outer.input(width)).collect();
        let called = outer.call(&circuit, &inputs);
        let inlined = outer.finish(called);

        let mut packed = vec![Lanes::default(); widths[0] + widths[1]];
        for (lane, words) in words.iter().enumerate() {
            let inputs = [bits(words[0], widths[0]), bits(words[1], widths[1])];
            for (packed, &bit) in packed.iter_mut().zip(inputs.iter().flatten()) {
                packed[lane / 64] |= u64::from(bit) << (lane % 64);
            }
            let expected = interpret(&inputs, &program, &outputs);
            for circuit in [&circuit, &fashion.circuit, &inlined] {
                prop_assert_eq!(&circuit.eval(&inputs)[0], &expected);
            }
            // A second input of no bits is not there in the old format.
            let inputs = &inputs[..old.circuit.input_widths().len()];
            prop_assert_eq!(&old.circuit.eval(inputs)[0], &expected);
        }
        let found = tape.eval(&packed);
        for (lane, words) in words.iter().enumerate() {
            let inputs = [bits(words[0], widths[0]), bits(words[1], widths[1])];
            let expected = interpret(&inputs, &program, &outputs);
            let found: Vec<bool> =
                found.iter().map(|bit| bit[lane / 64] >> (lane % 64) & 1 == 1).collect();
            prop_assert_eq!(found, expected);
        }
    }
}

#[test]
fn gates_are_folded_shared_and_dropped() {
    let mut b = Builder::new();
    let word = b.input(3);
    let [x, y, z] = word[..] else { unreachable!() };
    assert_eq!(b.xor(x, x), Wire::ZERO);
    assert_eq!(b.xor(x, !x), Wire::ONE);
    assert_eq!(b.xor(x, Wire::ONE), !x);
    assert_eq!(b.and(x, x), x);
    assert_eq!(b.and(x, !x), Wire::ZERO);
    assert_eq!(b.and(x, Wire::ONE), x);
    assert_eq!(!!x, x);
    assert_eq!(b.and(x, y), b.and(y, x));
    assert_eq!(b.or(x, Wire::ONE), Wire::ONE);
    assert_eq!(b.mux(z, x, x), x);
    assert_eq!(b.mux(!z, x, y), b.mux(z, y, x));
    let xor = b.xor(x, y);
    assert_eq!(b.xor(!x, y), !xor);
    assert_eq!(b.xor(xor, x), y);
    let and = b.and(x, y);
    assert_eq!(b.and(and, x), and);
    assert_eq!(b.and(and, !x), Wire::ZERO);
    assert_eq!(b.and(!and, !x), !x);
    let rest = b.and(x, !y);
    assert_eq!(b.and(!and, x), rest);
    b.and(and, z);
    // Of all this only x & y is left.
    let info = b.finish(vec![vec![and]]).info();
    assert_eq!((info.wires, info.gates, info.ands), (4, 1, 1));
}
