//! A finished program.

use pyo3::prelude::*;
use sealane_program::diagnostic::Diagnostic;
use sealane_program::graph;

/// A program: the traced graph.
#[pyclass(module = "sealane._core", frozen)]
pub struct Program {
    graph: graph::Program,
    warnings: Vec<Diagnostic>,
}

impl Program {
    /// Wraps a checked graph.
    pub fn new(graph: graph::Program, warnings: Vec<Diagnostic>) -> Program {
        Program { graph, warnings }
    }
}

#[pymethods]
impl Program {
    /// The text form.
    #[getter]
    fn text(&self) -> String {
        format!("{:?}", self.graph)
    }

    /// The parties.
    #[getter]
    fn parties(&self) -> Vec<String> {
        self.graph.parties.clone()
    }
}
