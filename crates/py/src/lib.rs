//! Crate `py`: Python bindings of the crates below, and nothing else.
//!
//! `sealane._core` is private to the Python package: names, documentation and readable errors are
//! in `python/sealane`, semantics in `program`, `plan` and `engine`. Long calls release the
//! interpreter. `_core.pyi` states the same interface for type checkers, and a test compares them.

mod aead;
mod array;
mod command;
mod error;
mod inputs;
mod item;
mod program;
mod report;
mod table;
mod trace;
mod wait;

use pyo3::prelude::*;
use sealane_block::heap::Heap;

#[global_allocator]
static HEAP: Heap = Heap::new(sealane_host::out_of_memory);

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<trace::Trace>()?;
    module.add_class::<item::Node>()?;
    module.add_class::<program::Program>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<report::Check>()?;
    module.add_class::<report::Plan>()?;
    module.add_class::<report::Comparison>()?;
    module.add_class::<report::Report>()?;
    module.add_function(wrap_pyfunction!(aead::aead_seal, module)?)?;
    module.add_function(wrap_pyfunction!(aead::aead_open, module)?)?;
    module.add_function(wrap_pyfunction!(aead::aead_many, module)?)?;
    module.add_function(wrap_pyfunction!(command::main, module)?)?;
    module.add_function(wrap_pyfunction!(program::own_party, module)?)?;
    module.add_function(wrap_pyfunction!(item::element_wise, module)?)?;
    module.add_function(wrap_pyfunction!(item::functions_of_fixed, module)?)?;
    module.add_function(wrap_pyfunction!(item::functions_of_floats, module)?)?;
    module.add_function(wrap_pyfunction!(item::is_type, module)?)?;
    module.add_function(wrap_pyfunction!(error::refusal, module)?)?;
    Ok(())
}
