//! Assembly on eight vectors at once: as many as keep the AES units busy.

/// A block of assembly on the vectors at `$states`, which are the registers `{s0}` to `{s7}`:
/// templates, further operands, options.
macro_rules! on_eight {
    ($register:ident, $states:ident, [$($template:tt)*], [$($operand:tt)*], [$($option:ident),*]) => {
        let [mut s0, mut s1, mut s2, mut s3, mut s4, mut s5, mut s6, mut s7] = *$states;
        asm!(
            $($template)*
            $($operand)*
            s0 = inout($register) s0,
            s1 = inout($register) s1,
            s2 = inout($register) s2,
            s3 = inout($register) s3,
            s4 = inout($register) s4,
            s5 = inout($register) s5,
            s6 = inout($register) s6,
            s7 = inout($register) s7,
            options($($option),*)
        );
        *$states = [s0, s1, s2, s3, s4, s5, s6, s7];
    };
}
