//! Garbling devices and the sessions that they serve. The suite of devices is the same for all; the
//! hardware of `rtl/` runs it in tests that `make test-rtl` asks for, since its bench has to be
//! built.

mod attack;
#[cfg(unix)]
mod broken;
mod golden;
mod insecure;
mod sessions;
mod suite;
mod support;
mod vectors;
