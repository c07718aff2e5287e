//! Room `protocol`.
