//! Room `clear`.
