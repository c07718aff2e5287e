//! Client requests to the Valgrind that a program runs under.
//!
//! Valgrind recognises one sequence of instructions that changes nothing: four rotations of a
//! register by 128 bits in all, and an exchange of a register with itself. There it finds a request
//! and its operands by the address in `rax`, and leaves the answer in `rdx` (Valgrind manual, "The
//! Client Request mechanism"). On a bare processor the same instructions do nothing.
//!
//! Memcheck follows each bit of memory and registers that is *undefined*, and reports a conditional
//! jump, an address or a system call that depends on one. So a secret that is declared undefined
//! must not show in the flow of control, nor in which memory is touched: the check of constant time
//! that Langley published as `ctgrind`.

use sealane_block::Block;

#[cfg(not(target_arch = "x86_64"))]
compile_error!("the requests to Valgrind are written for x86-64");

/// The number of Valgrinds that this runs under.
const RUNNING_ON_VALGRIND: usize = 0x1001;
/// The number of errors reported so far.
const COUNT_ERRORS: usize = 0x1201;
/// Turns the reports of this thread off (1) or on (-1).
const CHANGE_SILENCE: usize = 0x1801;
/// Base of Memcheck's requests: `MC` in the two highest bytes.
const MEMCHECK: usize = 0x4d43_0000;
const MAKE_MEM_UNDEFINED: usize = MEMCHECK + 1;
const MAKE_MEM_DEFINED: usize = MEMCHECK + 2;
const CHECK_MEM_IS_DEFINED: usize = MEMCHECK + 5;
const GET_VBITS: usize = MEMCHECK + 8;

/// Returns true if this runs under Valgrind.
pub fn is_watched() -> bool {
    request(RUNNING_ON_VALGRIND, 0, 0) != 0
}

/// Returns the number of errors that Valgrind has counted so far.
pub fn errors() -> usize {
    request(COUNT_ERRORS, 0, 0)
}

/// Runs code that handles no secret with reports off: it may move memory that was never written.
pub fn unwatched<T>(run: impl FnOnce() -> T) -> T {
    request(CHANGE_SILENCE, 1, 0);
    let result = run();
    request(CHANGE_SILENCE, usize::MAX, 0);
    result
}

/// Declares `bytes` secret: from here on, no branch may depend on values computed from them.
pub fn secret(bytes: &mut [u8]) {
    request(MAKE_MEM_UNDEFINED, bytes.as_ptr().addr(), bytes.len());
}

/// Declares words secret, as [`secret`] does bytes.
pub fn secret_words(words: &mut [u64]) {
    let bytes = size_of_val(words);
    request(MAKE_MEM_UNDEFINED, words.as_ptr().addr(), bytes);
}

/// Declares `bytes` public, although computed from secrets: the protocol sends or reveals them.
pub fn public(bytes: &[u8]) {
    request(MAKE_MEM_DEFINED, bytes.as_ptr().addr(), bytes.len());
}

/// Lets Valgrind report `bytes` bytes of memory, with the caller, if any of them is secret.
pub fn report(memory: *const u8, bytes: usize) {
    request(CHECK_MEM_IS_DEFINED, memory.addr(), bytes);
}

/// Counts the units of so many bytes, a power of two up to 4096, that are secret throughout.
pub fn undefined_units(memory: *const u8, bytes: usize, unit: usize) -> usize {
    const PIECE: usize = 4096;
    let mut masks = [0u8; PIECE];
    let mut count = 0;
    for first in (0..bytes).step_by(PIECE) {
        let piece = PIECE.min(bytes - first);
        get_masks(memory.addr() + first, &mut masks[..piece]);
        let units = masks[..piece].chunks_exact(unit);
        count += units
            .filter(|unit| unit.iter().all(|mask| *mask != 0))
            .count();
    }
    count
}

/// Returns true if all blocks are secret, though maybe not each of their bits. A check whose
/// results are not has watched nothing.
pub fn is_secret(blocks: &[Block]) -> bool {
    let bytes = Block::as_bytes(blocks);
    let mut masks = vec![0u8; bytes.len()];
    get_masks(bytes.as_ptr().addr(), &mut masks);
    masks
        .chunks(16)
        .all(|block| block.iter().any(|mask| *mask != 0))
}

/// Writes the masks of undefined bits of as many bytes at an address.
fn get_masks(address: usize, masks: &mut [u8]) {
    let (to, bytes) = (masks.as_mut_ptr().addr(), masks.len());
    request_of([GET_VBITS, address, to, bytes]);
}

fn request(code: usize, address: usize, bytes: usize) -> usize {
    request_of([code, address, bytes, 0])
}

fn request_of([code, one, two, three]: [usize; 4]) -> usize {
    let operands = [code, one, two, three, 0, 0];
    let mut answer = 0;
    // SAFETY: the rotations of `rdi` add up to two whole turns and the exchange is of a register
    // with itself, so no register but `rdx` changes, which is declared; flags may change, which is
    // the default. Valgrind reads the six operands, which live for the whole block. Of the requests
    // above one has it write, to a buffer that its caller lends for this.
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
