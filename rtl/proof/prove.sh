#!/bin/sh
# Proves that parts of the hardware are their specifications: `make -C rtl prove`.
#
# Yosys makes gates of a circuit with assertions. Its own solver (MiniSat) looks for values that break
# one in circuits without a state to speak of, and z3 in all others, through `yosys-smtbmc`: for any
# inputs, and any values of the registers that have none of their own, in each of the cycles given.
# A proof finds none, or this fails. Debian's packages yosys and z3.
#
#   prove.sh [PROOF ...]    these proofs, or all; SOURCES is another folder than `../src`

set -eu
cd "$(dirname "$0")"
SOURCES=${SOURCES:-../src}
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT

# Arguments: name of the proof, cycles, sources beside it.
by_sat() {
    name=$1 cycles=$2
    shift 2
    yosys -q -p "read_verilog -formal -sv -I$SOURCES $name.sv $*; prep -flatten -top ${name}_proof; \
        opt -full; techmap; opt -fast; sat -verify -prove-asserts -seq $cycles"
    echo "proved: $name"
}

# Arguments: name of the proof, cycles, options of `read_verilog` and `chparam`, sources beside it.
# The functions are those of the modules that stand for something left open.
by_smt() {
    name=$1 cycles=$2 options=$3 parameters=$4
    shift 4
    {
        echo "(declare-fun open_key_round ((_ BitVec 128) (_ BitVec 8)) (_ BitVec 128))"
        echo "(declare-fun open_netlist ((_ BitVec 4)) (_ BitVec 19))"
    } > "$OUT/$name.smt2"
    yosys -q -p "read_verilog -formal -sv -I$SOURCES $options $name.sv $*; \
        ${parameters:+chparam $parameters ${name}_proof;} prep -flatten -top ${name}_proof; \
        opt -full; memory_map; opt -fast; \
        opt_clean -purge; dffunmap; write_smt2 $OUT/$name.body"
    cat "$OUT/$name.body" >> "$OUT/$name.smt2"
    if ! yosys-smtbmc -s z3 --noprogress -t "$cycles" "$OUT/$name.smt2" > "$OUT/log" 2>&1; then
        tail -n 30 "$OUT/log"
        echo "refuted: $name $options $parameters"
        exit 1
    fi
    echo "proved: $name $options $parameters in $cycles cycles"
}

prove() {
    case $1 in
        sbox) by_sat sbox 1 ;;
        round) by_sat round 2 "$SOURCES/aes_stage.sv" ;;
        key_round) by_sat key_round 1 "$SOURCES/key_round.sv" ;;
        key_schedule) by_smt key_schedule 14 "" "" \
            open.sv "$SOURCES/key_schedule.sv" "$SOURCES/key_pipe.sv" ;;
        order) by_smt order "${CYCLES:-30}" "" "-set GATES ${GATES:-3} -set QUEUE 1" \
            "$SOURCES/issue.sv" "$SOURCES/label_memory.sv" "$SOURCES/two_port_memory.sv" ;;
        order_plain) by_smt order "${CYCLES:-30}" "" "-set GATES ${GATES:-3} -set QUEUE 0" \
            "$SOURCES/issue.sv" "$SOURCES/label_memory.sv" "$SOURCES/two_port_memory.sv" ;;
        flow) by_smt flow "${CYCLES:-40}" "-DHASH=0 -DQUEUE=1" "" open.sv flow_stubs.sv \
            $(ls "$SOURCES"/*.sv | grep -v -e /aes_ -e /key_ -e /netlist_) ;;
    esac
}

[ $# -gt 0 ] || set -- sbox round key_round key_schedule order order_plain flow
for proof; do prove "$proof"; done
