#!/bin/sh
# Proves that parts of the hardware are their specifications: `make -C hardware/rtl prove`.
#
# Yosys makes gates of a circuit with assertions. A solver looks for values that break one, for any
# inputs and any values of the registers that have none of their own, and finds none, or this fails:
# MiniSat, which is in Yosys, within the cycles given, or z3 through `yosys-smtbmc`, by induction over
# any number of cycles. Debian's packages yosys and z3.
#
# `times`, `banked_times` and `two_times` need no solver: no path of wires and registers leads from a secret to an
# output other than the data of records. So when a record comes, of which kind, and all counts depend
# on no label, for any netlist and any number of cycles.
#
#   prove.sh [PROOF ...]    these proofs, or all
#   prove.sh bites [PROOF]  breaks the circuits, and expects that these proofs see it, or this one
#
# SOURCES is another folder of sources than `../src`, BITS those of a place in the memory of `order`.

set -eu
cd "$(dirname "$0")"
SOURCES=${SOURCES:-../src}
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT
# Modules that are left open have values without a driver, on purpose.
OPEN="is used but has no driver"

# Runs Yosys on a proof. Arguments: what it does with the circuit, the name of the proof, parameters for
# `chparam`, sources beside it.
circuit() {
    steps=$1 name=$2 parameters=$3
    shift 3
    yosys -q -w "$OPEN" -p "read_verilog -formal -sv -I$SOURCES $name.sv $*; \
        ${parameters:+chparam $parameters ${name}_proof;} prep -flatten -top ${name}_proof; \
        opt -full; $steps"
}

# Arguments: cycles, then those of `circuit` from the name of the proof on.
by_sat() {
    cycles=$1
    shift
    circuit "memory_map; opt -fast; techmap; opt -fast; opt_clean -purge; \
        sat -verify -prove-asserts -set-assumes -ignore_unknown_cells -seq $cycles" "$@"
    echo "proved: $name${parameters:+ }$parameters"
}

# For any number of cycles, by induction: all assertions hold at the start, and in each cycle if they
# held in the one before, from any state. Before it a counterexample is sought that begins at the
# start, in SEEK cycles if that is set. Arguments: those of `circuit` from the name of the proof on. The
# first form takes z3, which is better at wide words, the second MiniSat.
by_induction() {
    circuit "opt_clean -purge; dffunmap; write_smt2 $OUT/$1.smt2" "$@"
    set -- -s z3 --noincr --unroll --noprogress
    solve "$name has a counterexample" yosys-smtbmc "$@" -t "${SEEK:-1}" "$OUT/$name.smt2"
    solve "$name is not inductive" yosys-smtbmc "$@" -i -t 1 "$OUT/$name.smt2"
    echo "proved: $name${parameters:+ }$parameters, for any number of cycles"
}
by_sat_induction() {
    circuit "techmap; opt -fast; opt_clean -purge; write_ilang $OUT/$1.il" "$@"
    set -- -verify -prove-asserts -set-assumes
    [ -z "${SEEK:-}" ] || solve "$name has a counterexample" \
        yosys -q -p "read_ilang $OUT/$name.il; sat $* -seq $SEEK"
    solve "$name is not inductive" yosys -q -p "read_ilang $OUT/$name.il; sat $* -tempinduct -maxsteps 1"
    echo "proved: $name${parameters:+ }$parameters, for any number of cycles"
}
solve() {
    failure=$1
    shift
    "$@" > "$OUT/log" 2>&1 || {
        tail -n 30 "$OUT/log"
        echo "prove: $failure" >&2
        exit 1
    }
}

# Arguments: units for XOR beside each engine, engines. The rounds of AES are boxes whose outputs may depend on all their inputs.
by_paths() {
    yosys -q -p "read_verilog -sv -I$SOURCES $SOURCES/*.sv; \
        chparam -set XOR_UNITS $1 -set ENGINES $2 -set LABEL_BITS 6 -set INPUT_BITS 5 -set LINE_BITS 6 garbler; \
        hierarchy -check -top garbler; blackbox *aes_stage* *key_round*; proc; flatten; memory_dff; \
        memory_collect; opt_clean; \
        select -set secret w:control.offset w:control.label_key w:control.label_start; \
        select -assert-count 3 @secret; select -set reached @secret %co*; \
        select -assert-any @reached o:out_data %i; \
        select -assert-none @reached o:* o:out_data %d %i"
    echo "proved: times of the machine with $2 engines and $1 units for XOR beside each"
}

prove() {
    case $1 in
        sbox) by_sat 1 sbox "" ;;
        round) by_sat 2 round "" "$SOURCES/aes_stage.sv" ;;
        key_round) by_sat 1 key_round "" "$SOURCES/key_round.sv" ;;
        key_schedule | key_pipe) by_induction "$1" "" open.sv "$SOURCES/$1.sv" ;;
        aes_pipe) by_induction aes_pipe "" open_stage.sv "$SOURCES/aes_pipe.sv" ;;
        engine) by_induction engine "-set HASH 0" open_aes.sv "$SOURCES/half_gate.sv" \
            "$SOURCES/delay_line.sv" ;;
        mi_engine) by_induction engine "-set HASH 1" open_aes.sv open.sv "$SOURCES/half_gate.sv" \
            "$SOURCES/delay_line.sv" "$SOURCES/key_pipe.sv" ;;
        times) by_paths 0 1 ;;
        banked_times) by_paths 3 1 ;;
        two_times) by_paths 3 2 ;;
        order | plain_order)
            queue=1
            [ "$1" = order ] || queue=0
            by_sat_induction order "-set BITS ${BITS:-7} -set QUEUE $queue" "$SOURCES/control.sv" \
                "$SOURCES/issue.sv" "$SOURCES/label_memory.sv" open_memory.sv ;;
        *)
            echo "prove: no proof $1" >&2
            exit 2 ;;
    esac
}

# Arguments: a proof, a source, what `sed` does to it, and `step` where no counterexample is sought from
# the start, since that takes too long, but the step of the induction has to fail.
bites() {
    [ -z "$only" ] || [ "$only" = "$1" ] || return 0
    mkdir -p "$OUT/broken"
    cp ../src/* "$OUT/broken"
    sed -i "$3" "$OUT/broken/$2"
    if cmp -s "../src/$2" "$OUT/broken/$2"; then
        echo "prove: $2 is not broken" >&2
        exit 1
    fi
    seek=28 seen=counterexample
    [ -z "${4:-}" ] || seek=1 seen=inductive
    if SEEK=$seek BITS=4 SOURCES=$OUT/broken sh prove.sh "$1" > "$OUT/broken.log" 2>&1; then
        echo "prove: $1 does not see a broken $2" >&2
        exit 1
    fi
    # A proof that could not be made is no counterexample, nor is a step of an induction that fails.
    if grep -q "is not inductive" "$OUT/broken.log"; then how=inductive; else how=counterexample; fi
    grep -q -e "proof did fail" -e "has a counterexample" -e "is not inductive" -e "Assertion failed" \
        "$OUT/broken.log" && [ $how = $seen ] || {
        cat "$OUT/broken.log"
        exit 1
    }
    echo "bites: $1"
}

if [ "${1:-}" = bites ]; then
    only=${2:-}
    bites sbox aes.svh 's/128.h16bb54b0/128'"'"'h16bb54b1/'
    bites round aes.svh 's/(top << 3)/(top << 2)/'
    bites key_round key_round.sv 's/last\[119:112\]/last[111:104]/'
    bites key_schedule key_schedule.sv 's/times_two(constant)/constant/'
    bites key_schedule key_schedule.sv 's/keys\[128\*round +: 128\] <= made/keys <= {keys[1279:0], made}/'
    bites key_pipe key_pipe.sv 's/80.h361b/80'"'"'h361c/'
    bites order issue.sv 's/late_copy = issue_first/late_copy = 1'"'"'b0/'
    bites plain_order label_memory.sv 's/open = !(want0 \&\& write0) \&\& /open = /' step
    bites order issue.sv 's/k = 0; k < 11; k = k + 1)$/k = 0; k < 10; k = k + 1)/' step
    bites order label_memory.sv 's/swap ? write_data0 : write_data1/write_data1/' step
    bites aes_pipe aes_pipe.sv 's/r == 9/r == 8/'
    bites engine half_gate.sv 's/32.d1, 32.b0, in_tweak/64'"'"'b0, in_tweak/'
    bites engine half_gate.sv 's/both_b ^ late_a/both_b ^ late_b/' step
    bites engine half_gate.sv 's/assign keys_b = keys;/assign keys_b = {1280'"'"'b0, keys[127:0]};/'
    bites mi_engine half_gate.sv 's/keys\[127:0\] ^ tweak_b/keys[127:0] ^ tweak_a/'
    bites mi_engine half_gate.sv 's/enable\[8:0\]), .key(keys\[127:0\] ^ tweak_b/9'"'"'b0), .key(keys[127:0] ^ tweak_b/'
    bites mi_engine half_gate.sv 's/keys(keys_b), .in(input_b),/keys({keys_a[1407:128], keys_b[127:0]}), .in(input_b),/'
    bites times garbler.sv 's/.table_valid(and_valid)/.table_valid(and_valid \&\& !and_label[7])/'
    bites banked_times bundle_core.sv 's/engine_valid = gates.*;/engine_valid = gates[ENGINES-1:0] \& labels[ENGINES-1:0];/'
    exit
fi
[ $# -gt 0 ] || set -- sbox round key_round key_schedule key_pipe aes_pipe engine mi_engine order plain_order times banked_times two_times
for proof; do prove "$proof"; done
