//! Cost of attacks.
