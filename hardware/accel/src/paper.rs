//! Figures of papers: Hussain and Koushanfar, "FASE: FPGA Acceleration of Secure Function
//! Evaluation", FCCM 2019, and what the abstract of HAAC states.
//!
//! Where the paper contradicts itself, what its machine does is beside it, with the reason.

/// A benchmark of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Benchmark {
    /// Name in the paper.
    pub name: &'static str,
    /// Folder of its netlist in the authors' release, which holds `n.scd`.
    pub folder: &'static str,
    /// Netlist cycles of a run (Table II).
    pub netlist_cycles: u64,
    /// Gates and gates of type XOR (Table II).
    pub gates: [u64; 2],
    /// Garbling cycles of a netlist cycle without and with the optimisation (Table IV).
    pub table4: [u64; 2],
    /// Cycles of a run as Table VI prints them, to three digits.
    pub table6: &'static str,
    /// The same by our model; in Table VI both additions are swapped, and the longest
    /// multiplication contradicts Table IV.
    pub run: u64,
    /// Garbling cycles of the best order that was known before the search of this crate.
    pub known: u64,
    /// Microseconds that TinyGarble takes for a run on a CPU at 2.9 GHz (an Intel Xeon E5-2600), by
    /// Table VI.
    pub tinygarble_us: f64,
}

impl Benchmark {
    /// Returns the garbling cycles that the machine takes for the netlist of the release, without
    /// and with the optimisation: those of Table IV, but for `Mult_1024_2048`. Its row in the paper
    /// is about four times the one above, and its netlist gives other numbers on the machine that
    /// gives all other rows.
    pub fn of_file(&self) -> [u64; 2] {
        match self.name {
            "Mult_1024_2048" => [12_481, 10_665],
            _ => self.table4,
        }
    }
}

/// All benchmarks of Tables II, IV and VI, in their order.
#[rustfmt::skip] // One benchmark a line.
pub const BENCHMARKS: &[Benchmark] = &[
    row("Mill_8_8", "compare_nbit_ncc", 8, [4, 3], [19, 17], "2.59E+02", 259, 17, 10.4),
    row("Add_8_1", "sum_8bit_1cc", 1, [37, 30], [120, 120], "1.75E+02", 138, 114, 8.92),
    row("Add_8_8", "sum_nbit_ncc", 8, [5, 2], [17, 17], "1.38E+02", 179, 17, 13.4),
    row("Hamm_32_1", "hamming_32bit_1cc", 1, [188, 157], [342, 320], "3.38E+02", 338, 277, 29.8),
    row("Hamm_32_32", "hamming_32bit_32cc", 32, [13, 8], [65, 65], "2.72E+03", 2_724, 65, 109.0),
    row("Hamm_512_512", "hamming_512bit_512cc", 512, [21, 12], [113, 113], "7.01E+04", 70_148, 113, 1_980.0),
    row("Mult_256_512", "mult_nbit_x_256bit_n_plus_256cc", 512, [1699, 1186], [3123, 2686], "1.64E+06", 1_638_916, 2358, 82_700.0),
    row("Mult_1024_2048", "mult_nbit_x_1024bit_n_plus_1024cc", 2048, [6782, 4735], [12492, 10744], "5.61E+07", 26_042_372, 9389, 1_250_000.0),
    row("MAC_8_1", "MAC_TG_8bit", 1, [397, 231], [769, 675], "7.01E+02", 701, 605, 38.2),
    row("MAC_16_1", "MAC_TG_16bit", 1, [1678, 1077], [3160, 2770], "2.80E+03", 2_804, 2442, 163.0),
    row("MAC_32_1", "MAC_TG_32bit", 1, [7036, 4805], [12746, 11414], "1.15E+04", 11_464, 10135, 738.0),
    row("CORDIC_32_31", "cordic_32bit_31cc", 31, [2464, 1544], [4554, 4047], "1.29E+05", 128_747, 3716, 6_820.0),
    row("AES_128_11", "aes_11cc", 11, [4662, 3225], [9004, 7697], "8.77E+04", 87_685, 7232, 5_070.0),
];

/// Cycles of the comparator of `Mill_8_8` in a run of two netlist cycles (Table V).
pub const MILLIONAIRES_2: u64 = 67;

/// Clock of FASE in MHz (section VI).
pub const CLOCK_MHZ: f64 = 200.0;

/// A row of Table V: FASE beside earlier accelerators.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Name in the paper.
    pub name: &'static str,
    /// The number of the earlier work in the paper, its cores and its cycles as printed.
    pub previous: (&'static str, u64, &'static str),
    /// Cycles of FASE as printed.
    pub fase: &'static str,
    /// The benchmark whose netlist this is, netlist cycles and cycles of a run; none where the
    /// authors have released no netlist.
    pub file: Option<(&'static str, u64, u64)>,
}

/// All rows of Table V, in their order. The distance of 30 bits takes the cycles of that of 32.
#[rustfmt::skip] // One row a line.
pub const TABLE5: &[Comparison] = &[
    Comparison { name: "Millionaire (2)", previous: ("[21]", 43, "1.90E+02"), fase: "6.70E+01", file: Some(("Mill_8_8", 2, 67)) },
    Comparison { name: "Addition (6)", previous: ("[21]", 43, "5.60E+02"), fase: "9.90E+01", file: None },
    Comparison { name: "Hamming (10)", previous: ("[21]", 43, "1.20E+03"), fase: "1.66E+02", file: None },
    Comparison { name: "Hamming (30)", previous: ("[21]", 43, "2.20E+03"), fase: "3.38E+02", file: Some(("Hamm_32_1", 1, 338)) },
    Comparison { name: "Hamming (50)", previous: ("[21]", 43, "2.80E+03"), fase: "6.69E+02", file: None },
    Comparison { name: "A * B (8)", previous: ("[21]", 43, "4.40E+03"), fase: "6.19E+02", file: None },
    Comparison { name: "A * B (32)", previous: ("[21]", 43, "3.60E+04"), fase: "1.05E+04", file: None },
    Comparison { name: "A * B (64)", previous: ("[21]", 43, "1.10E+05"), fase: "4.28E+04", file: None },
    Comparison { name: "MAC_8_1", previous: ("[19]", 8, "2.40E+01"), fase: "7.01E+02", file: Some(("MAC_8_1", 1, 701)) },
    Comparison { name: "MAC_16_1", previous: ("[19]", 14, "4.80E+01"), fase: "2.80E+03", file: Some(("MAC_16_1", 1, 2_804)) },
    Comparison { name: "MAC_32_1", previous: ("[19]", 24, "9.60E+01"), fase: "1.15E+04", file: Some(("MAC_32_1", 1, 11_464)) },
];

/// Means of the speed of HAAC over that of a CPU on the programs of VIP-Bench, by its memory.
/// They and [`HAAC_MM2`] are those of the abstract of Mo, Gopinath and Reagen, "HAAC: A
/// Hardware-Software Co-Design to Accelerate Garbled Circuits", ISCA 2023 (arXiv 2211.13324). It
/// has no figures of single programs.
pub const HAAC: [(&str, f64); 2] = [("DDR4", 589.0), ("HBM2", 2_627.0)];

/// Area of HAAC in mm², by its abstract.
pub const HAAC_MM2: f64 = 4.3;

/// Returns the benchmark of this name.
pub fn benchmark(name: &str) -> Option<&'static Benchmark> {
    BENCHMARKS.iter().find(|benchmark| benchmark.name == name)
}
/// The resources that a part of the hardware takes on an FPGA.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resources {
    /// Name of the part in [`SYNTHESISED`].
    pub part: &'static str,
    /// Look-up tables, those that serve as memory included.
    pub lut: f64,
    /// Flip-flops.
    pub ff: f64,
    /// Look-up tables that serve as memory.
    pub lutram: f64,
    /// Block memories of 36 kbit.
    pub bram: f64,
}

/// Table III: FASE on a Xilinx UltraScale XCVU095, as its tools count.
#[rustfmt::skip] // One part a line.
pub const TABLE_3: &[Resources] = &[
    Resources { part: "total", lut: 50_035.0, ff: 11_416.0, lutram: 569.0, bram: 68.5 },
    Resources { part: "engine", lut: 31_330.0, ff: 5_612.0, lutram: 553.0, bram: 0.0 },
    Resources { part: "key_generator", lut: 18_202.0, ff: 3_917.0, lutram: 0.0, bram: 0.0 },
];

/// The same parts of the hardware in `rtl/` as Yosys counts for the same family, in JSON: an object
/// for each part, and for each machine of [`BETTER`] one with an object for each of its parts.
/// `make -C hardware/rtl resources` writes it again.
pub const SYNTHESISED: &str = include_str!("resources.json");

/// The better engines of [`SYNTHESISED`], with their names.
pub const BETTER: [(&str, &str); 2] = [("better", "1a3x"), ("two", "two of 1a3x")];

/// Parts of each of them: the whole; what takes the place of netlist, issue, memory of labels and
/// masks of FASE's machine; the store of labels of inputs.
pub const BETTER_PARTS: [&str; 3] = ["total", "core", "inputs"];

#[allow(clippy::too_many_arguments)] // A line of the table above.
const fn row(
    name: &'static str,
    folder: &'static str,
    netlist_cycles: u64,
    gates: [u64; 2],
    table4: [u64; 2],
    table6: &'static str,
    run: u64,
    known: u64,
    tinygarble_us: f64,
) -> Benchmark {
    Benchmark {
        name,
        folder,
        netlist_cycles,
        gates,
        table4,
        table6,
        run,
        known,
        tinygarble_us,
    }
}
