#!/bin/sh
# Runs whole sessions over networks that fail, for as long as that takes:
#
#     sh tools/networks.sh 100000
#
# so many seeds of the simulator, and then every harm to every frame and every TLS record that crosses
# a link of small runs, of which `.ci/run` tries a sample.

set -eu
seeds=${1:-100000}
cd "$(dirname "$0")/.."

began=$(date +%s)
took() {
    echo "networks: $1, after $(($(date +%s) - began)) s"
}

echo "networks: $seeds seeds of the simulator (about twenty minutes for 100,000 on two cores)"
SEALANE_SIM_SEEDS=$seeds cargo test --quiet --locked -p sealane-engine simulator:: -- --nocapture
took "no seed hangs or gives a wrong result"

echo "networks: every frame of small runs, harmed in every way"
SEALANE_NIGHTLY=1 cargo test --quiet --locked -p sealane-engine faults:: -- --nocapture
took "every frame that is harmed is noticed"

echo "networks: every TLS record of small runs, harmed in every way (about ten minutes)"
SEALANE_NIGHTLY=1 cargo test --quiet --locked -p sealane-engine faults_tls:: -- \
    --nocapture a_network_that_harms_any_record
took "every record that is harmed is noticed"
