//! Ways to find ANDs that can be worked on at the same time.

use sealane_circuit::{Machine, Order};

use super::sides::RowOrder;

/// How ANDs are found that can be worked on at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// None: the reference.
    None,
    /// A queue of ANDs in written order, run early when a gate needs one of them.
    Queue,
    /// The same, but free gates that need one wait behind it.
    QueueOverFree,
    /// All ANDs of the same depth.
    Levels,
    /// SIMD gates: rows fill the lanes, gates stay near the written order.
    Simd,
    /// RowOrder, and a static order within a window: what Sealane does.
    Window,
}

impl Strategy {
    /// All of them, the reference first.
    pub const ALL: [Strategy; 6] = [
        Strategy::None,
        Strategy::Queue,
        Strategy::QueueOverFree,
        Strategy::Levels,
        Strategy::Simd,
        Strategy::Window,
    ];
    /// What Sealane does.
    pub const DEFAULT: Strategy = Strategy::Window;

    /// Its name in cases.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::None => "none",
            Strategy::Queue => "queue",
            Strategy::QueueOverFree => "queue-over-free",
            Strategy::Levels => "levels",
            Strategy::Simd => "simd",
            Strategy::Window => "window",
        }
    }

    /// The machine that a circuit is compiled for.
    pub fn machine(self) -> Machine {
        let of_cpu = |order| Machine {
            order,
            ..Machine::CPU
        };
        match self {
            Strategy::None => Machine {
                lanes: 1,
                order: Order::None,
            },
            Strategy::Queue => of_cpu(Order::Queue { over_free: false }),
            Strategy::QueueOverFree => of_cpu(Order::Queue { over_free: true }),
            // A whole layer is a batch: nothing that the machine asks for ends it earlier.
            Strategy::Levels => Machine {
                lanes: u32::MAX,
                order: Order::Levels,
            },
            Strategy::Simd => Machine::ROWS,
            Strategy::Window => Machine::CPU,
        }
    }

    /// How rows go through the tape. Strategies that find ANDs within a circuit get one row at a
    /// time: with many rows side by side, those would fill the lanes, whatever the strategy found.
    pub fn rows(self) -> RowOrder {
        match self {
            Strategy::None => RowOrder::GateByGate,
            Strategy::Queue | Strategy::QueueOverFree | Strategy::Levels => RowOrder::OneByOne,
            Strategy::Simd | Strategy::Window => RowOrder::Together,
        }
    }
}
