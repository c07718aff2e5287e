//! Room `program`.
