#!/bin/sh
# Proves that parts of the hardware are their specifications: `make -C rtl prove`.
#
# Yosys makes gates of a circuit with assertions, and its solver (MiniSat) looks for values that break
# one, within the cycles given and from any values of the registers that have none of their own. It
# finds none, or this fails. Debian's package yosys.

set -eu
cd "$(dirname "$0")"

# Arguments: name of the proof, cycles, sources beside it.
prove() {
    name=$1 cycles=$2
    shift 2
    yosys -q -p "read_verilog -formal -sv -I../src $name.sv $*; prep -flatten -top ${name}_proof; \
        opt -full; techmap; opt -fast; sat -verify -prove-asserts -seq $cycles"
    echo "proved: $name"
}

prove sbox 1
prove round 2 ../src/aes_stage.sv
