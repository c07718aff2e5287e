//! Room `yao`.
