//! What a program tells the Valgrind that it runs under.
//!
//! Valgrind watches for one sequence of instructions that changes nothing: four rotations of a
//! register by 128 bits in all, and an exchange of a register with itself. There it finds a request
//! and its operands by the address in `rax`, and leaves the answer in `rdx` (Valgrind manual,
//! "The Client Request mechanism"). On a bare processor the same instructions do nothing.
//!
//! Memcheck follows each bit of memory and registers that is *undefined*, and reports a conditional
//! jump, an address or a system call that depends on one. So a secret that is declared undefined
//! must not show in the flow of control, nor in which memory is touched: the check of constant time
//! that Langley published as `ctgrind`.

#[cfg(not(target_arch = "x86_64"))]
compile_error!("the requests to Valgrind are written for x86-64");

/// Whether this runs under Valgrind, and under how many.
const RUNNING_ON_VALGRIND: usize = 0x1001;
/// How many errors have been reported so far.
const COUNT_ERRORS: usize = 0x1201;
/// Requests of Memcheck begin here: `MC` in the two highest bytes.
const MEMCHECK: usize = 0x4d43_0000;
const MAKE_MEM_UNDEFINED: usize = MEMCHECK + 1;
const MAKE_MEM_DEFINED: usize = MEMCHECK + 2;

/// Whether anybody is watching.
pub fn is_watched() -> bool {
    request(RUNNING_ON_VALGRIND, 0, 0) != 0
}

/// Errors that Valgrind has counted so far.
pub fn errors() -> usize {
    request(COUNT_ERRORS, 0, 0)
}

/// Declares `bytes` secret: from here on, what is computed from them must not be branched on.
pub fn secret(bytes: &mut [u8]) {
    request(MAKE_MEM_UNDEFINED, bytes.as_ptr().addr(), bytes.len());
}

/// Declares `bytes` public, whatever they were computed from: the protocol sends or reveals them.
pub fn public(bytes: &[u8]) {
    request(MAKE_MEM_DEFINED, bytes.as_ptr().addr(), bytes.len());
}

fn request(code: usize, address: usize, bytes: usize) -> usize {
    let operands = [code, address, bytes, 0, 0, 0];
    let mut answer = 0;
    // SAFETY: the rotations of `rdi` add up to two whole turns and the exchange is of a register
    // with itself, so no register but `rdx` changes, which is declared; flags may change, which is
    // the default. Valgrind reads the six operands, which live for the whole block, and for the
    // requests above writes only to its own records of which bytes are defined.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3",
            "rol rdi, 13",
            "rol rdi, 61",
            "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") operands.as_ptr(),
            inout("rdx") answer,
        );
    }
    answer
}
