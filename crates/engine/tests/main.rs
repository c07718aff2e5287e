//! All tests of this crate in one binary: each binary links the kernels again.

mod check;
mod common;
mod data;
mod events;
mod faults;
mod faults_parties;
mod faults_tls;
mod fields;
mod gap;
mod handshake;
mod helpers;
mod local_work;
mod order;
mod pool;
mod pool_both_ways;
mod pool_cheats;
mod random_programs;
mod references;
mod rounds;
mod sessions;
mod silent;
mod simulator;
mod sorts;
mod traffic;
mod vectors;
mod work;
