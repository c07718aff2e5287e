//! Parallel execution of the blocks of a span on several cores; tables keep the order of the
//! format.
//!
//! Each worker runs the pieces of its blocks. The calling thread alone accesses the stream: it
//! sends garbled tables, or hands out tables to evaluate, piece by piece and block by block. The
//! tables of a piece lie in a buffer. There are two buffers for each block, so memory is bounded: a
//! worker fills or reads one while the other is in transit. A worker gets buffers in the order in
//! which it needs them, so a deadlock cannot occur.
//!
//! The stream sees the same bytes in the same order as on one core. Workers use neither clock nor
//! network, so a run on a simulated machine stays determined by its seed.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, ScopedJoinHandle};

use sealane_block::{Block, Group};

use crate::Ports;
use crate::machine::{LaneBlock, Piece, TapeRun, pieces};
use crate::tables::{Ended, TableStream};

/// Number of ANDs over all lanes of a span from which starting threads pays off: about a
/// millisecond of work.
pub(crate) const FEWEST_ANDS: usize = 1 << 16;

/// Buffer for the tables of a piece on a block.
type Buffer = Vec<Group>;

/// Buffers that no worker holds.
pub(crate) type Stock = Vec<Buffer>;

/// A worker thread with its two buffer channels.
struct Worker<'scope> {
    to: Sender<Buffer>,
    from: Receiver<Buffer>,
    thread: ScopedJoinHandle<'scope, ()>,
}

/// Runs a tape on the blocks of a span, on at most `threads` threads: worker i has the blocks i,
/// i + threads, and so on.
pub(crate) fn run(
    run: &TapeRun<'_>,
    blocks: &mut [LaneBlock],
    threads: usize,
    ports: &dyn Ports,
    stock: &mut Stock,
    tables: &mut dyn TableStream,
) -> Result<(), Ended> {
    let widths: Vec<usize> = blocks.iter().map(|block| block.width).collect();
    let mut shares: Vec<Vec<&mut LaneBlock>> = Vec::new();
    shares.resize_with(threads.min(blocks.len()), Vec::new);
    let count = shares.len();
    for (i, block) in blocks.iter_mut().enumerate() {
        shares[i % count].push(block);
    }
    thread::scope(|scope| {
        let workers = shares.into_iter().map(|share| {
            let ((to, buffers), (done, from)) = (channel(), channel());
            // A garbler's worker begins with empty buffers; an evaluator's waits for full ones.
            let first = if run.gates.garbles() { &to } else { &done };
            for _ in 0..2 * share.len() {
                let _ = first.send(stock.pop().unwrap_or_default());
            }
            let thread = scope.spawn(move || work(run, share, ports, &buffers, &done));
            Worker { to, from, thread }
        });
        let workers = workers.collect::<Vec<_>>();
        let carried = carry(run, &widths, &workers, tables);
        for Worker { to, from, thread } in workers {
            // A closed channel ends a worker, wherever it is.
            drop(to);
            if let Err(panic) = thread.join() {
                resume_unwind(panic);
            }
            stock.extend(from.try_iter());
        }
        carried
    })
}

/// Carries tables between the stream and the workers, in the order of the format. Returns early if
/// a worker has panicked.
fn carry(
    run: &TapeRun<'_>,
    widths: &[usize],
    workers: &[Worker<'_>],
    tables: &mut dyn TableStream,
) -> Result<(), Ended> {
    for piece in pieces(run.tape) {
        for (block, width) in widths.iter().enumerate() {
            let worker = &workers[block % workers.len()];
            let Ok(mut buffer) = worker.from.recv() else {
                return Ok(());
            };
            let mut rest = room(run, &piece, *width, &mut buffer);
            while !rest.is_empty() {
                let stream = tables.next(1)?;
                let count = stream.len().min(rest.len());
                let (now, later) = rest.split_at_mut(count);
                if run.gates.garbles() {
                    stream[..count].copy_from_slice(now)
                } else {
                    now.copy_from_slice(&stream[..count])
                }
                tables.pass(count)?;
                rest = later;
            }
            // A garbler's worker that has its last buffers needs no more.
            let _ = worker.to.send(buffer);
        }
    }
    Ok(())
}

/// Runs the tape on some blocks, a buffer for each piece and block.
fn work(
    run: &TapeRun<'_>,
    mut blocks: Vec<&mut LaneBlock>,
    ports: &dyn Ports,
    buffers: &Receiver<Buffer>,
    done: &Sender<Buffer>,
) {
    for block in &mut blocks {
        run.begin(block, ports);
    }
    for piece in pieces(run.tape) {
        for block in &mut blocks {
            let Ok(mut buffer) = buffers.recv() else {
                return;
            };
            let mut tables = OfPiece(room(run, &piece, block.width, &mut buffer));
            run.piece(block, &piece, &mut tables)
                .unwrap_or_else(|Ended| unreachable!("a buffer has room for its piece"));
            if done.send(buffer).is_err() {
                return;
            }
        }
    }
    // The remaining buffers go back to the stock.
    for buffer in buffers {
        let _ = done.send(buffer);
    }
}

/// The bytes of a buffer that the tables of a piece take.
fn room<'a>(
    run: &TapeRun<'_>,
    piece: &Piece,
    width: usize,
    buffer: &'a mut Buffer,
) -> &'a mut [u8] {
    let bytes = run.table_bytes(piece, width);
    let groups = bytes.div_ceil(size_of::<Group>());
    if buffer.len() < groups {
        buffer.resize(groups, Group::ZERO);
    }
    &mut Block::as_bytes_mut(Group::as_blocks_mut(buffer))[..bytes]
}

/// The tables of one piece on one block that are not yet written or read.
struct OfPiece<'a>(&'a mut [u8]);

impl TableStream for OfPiece<'_> {
    fn next(&mut self, bytes: usize) -> Result<&mut [u8], Ended> {
        assert!(bytes <= self.0.len(), "the tables of a piece are counted");
        Ok(self.0)
    }

    fn pass(&mut self, bytes: usize) -> Result<(), Ended> {
        self.0 = &mut std::mem::take(&mut self.0)[bytes..];
        Ok(())
    }
}
