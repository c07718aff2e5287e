//! Gates: their operands and their functions.

/// A value that a gate or a flip-flop reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operand {
    /// The constant 0.
    Zero,
    /// The constant 1.
    One,
    /// A wire.
    Wire(u32),
}

impl Operand {
    /// Returns the wire, unless the operand is a constant.
    pub fn wire(self) -> Option<u32> {
        match self {
            Operand::Wire(wire) => Some(wire),
            Operand::Zero | Operand::One => None,
        }
    }
}

/// Defines [`GateKind`] with the opcode and the truth table of each kind.
macro_rules! gate_kinds {
    ($($(#[$doc:meta])* $kind:ident $code:literal $truth:literal,)*) => {
        /// The function of a gate, by its opcode in SCD and HSCD.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum GateKind {
            $($(#[$doc])* $kind,)*
        }

        impl GateKind {
            /// All kinds, by opcode.
            pub const ALL: &[GateKind] = &[$(GateKind::$kind,)*];

            /// Returns the opcode.
            pub fn code(self) -> u8 {
                match self { $(GateKind::$kind => $code,)* }
            }

            /// Returns the truth table: bit `2 * in0 + in1` is the output.
            pub fn truth_table(self) -> u8 {
                match self { $(GateKind::$kind => $truth,)* }
            }
        }
    };
}

gate_kinds! {
    /// NOT (in0 OR in1).
    Nor 1 0b0001,
    /// (NOT in0) AND in1.
    Norn 2 0b0010,
    /// in0 AND NOT in1.
    Andn 4 0b0100,
    /// in0 XOR in1.
    Xor 6 0b0110,
    /// NOT (in0 AND in1).
    Nand 7 0b0111,
    /// in0 AND in1.
    And 8 0b1000,
    /// NOT (in0 XOR in1).
    Xnor 9 0b1001,
    /// (NOT in0) OR in1.
    Nandn 11 0b1011,
    /// NOT in0; its opcode is not its truth table.
    Not 12 0b0011,
    /// in0 OR NOT in1.
    Orn 13 0b1101,
    /// in0 OR in1.
    Or 14 0b1110,
}

impl GateKind {
    /// Returns the kind with this opcode.
    pub fn of_code(code: i64) -> Option<GateKind> {
        let mut all = GateKind::ALL.iter().copied();
        all.find(|kind| i64::from(kind.code()) == code)
    }

    /// Returns true for kinds that are free of tables: XOR, XNOR, NOT.
    pub fn is_xor(self) -> bool {
        matches!(self, GateKind::Xor | GateKind::Xnor | GateKind::Not)
    }

    /// Returns which of in0, in1 and the output are inverted around the AND that a kind with tables
    /// is: one row of its truth table differs from the other three.
    pub fn inversions(self) -> [bool; 3] {
        let table = self.truth_table();
        let complement = table.count_ones() == 3;
        let row = if complement { !table & 0b1111 } else { table }.trailing_zeros();
        [row & 2 == 0, row & 1 == 0, complement]
    }
}

/// A gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gate {
    /// Its function.
    pub kind: GateKind,
    /// The first operand.
    pub in0: Operand,
    /// The second operand; nothing for [`GateKind::Not`], and only for it.
    pub in1: Option<Operand>,
}

impl Gate {
    /// Returns its operands, the first one first.
    pub fn operands(&self) -> impl Iterator<Item = Operand> {
        [Some(self.in0), self.in1].into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::GateKind;

    #[test]
    fn kinds_with_tables_are_ands_between_inversions() {
        for kind in GateKind::ALL.iter().filter(|kind| !kind.is_xor()) {
            let [in0, in1, out] = kind.inversions();
            for row in 0..4 {
                let and = ((row & 2 != 0) ^ in0) & ((row & 1 != 0) ^ in1);
                let expected = kind.truth_table() >> row & 1 == 1;
                assert_eq!(and ^ out, expected, "row {row} of {kind:?}");
            }
        }
    }
}
