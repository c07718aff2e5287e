//! Room `py`.
