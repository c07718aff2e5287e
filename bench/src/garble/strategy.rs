//! Strategies to find ANDs that can be computed at the same time.

use sealane_circuit::{Machine, Order};

use super::sides::RowOrder;

/// A strategy to find ANDs that can be computed at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// No strategy: the reference.
    None,
    /// A queue of ANDs in written order, run early when a gate needs one of them.
    Queue,
    /// The same, but free gates that need one wait behind it.
    QueueOverFree,
    /// All ANDs of the same depth.
    Levels,
    /// SIMD gates: rows fill the lanes, gates stay near the written order.
    Simd,
    /// Rows, and a static order within a window: the choice of Sealane.
    Window,
}

impl Strategy {
    /// All strategies, the reference first.
    pub const ALL: [Strategy; 6] = [
        Strategy::None,
        Strategy::Queue,
        Strategy::QueueOverFree,
        Strategy::Levels,
        Strategy::Simd,
        Strategy::Window,
    ];
    /// The choice of Sealane.
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
            // A whole layer is a batch: no limit of the machine ends it earlier.
            Strategy::Levels => Machine {
                lanes: u32::MAX,
                order: Order::Levels,
            },
            Strategy::Simd => Machine::ROWS,
            Strategy::Window => Machine::CPU,
        }
    }

    /// The order of rows through the tape. Strategies that find ANDs within a circuit get one row
    /// at a time: many rows side by side would fill the lanes under any strategy.
    pub fn rows(self) -> RowOrder {
        match self {
            Strategy::None => RowOrder::GateByGate,
            Strategy::Queue | Strategy::QueueOverFree | Strategy::Levels => RowOrder::OneByOne,
            Strategy::Simd | Strategy::Window => RowOrder::Together,
        }
    }
}
