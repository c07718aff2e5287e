//! The offline walk of protocols that have none.

use crate::fault::Result;
use crate::run::Steps;
use crate::share::Shares;
use crate::step::{Progress, Step};
use sealane_net::Mesh;
use sealane_protocol::{Domain, View};
use std::marker::PhantomData;

/// Offline walk of a protocol whose preparation needs counts alone: there is no value of this type.
/// `M` is the material of its online steps.
pub struct NoOffline<M> {
    never: Empty,
    material: PhantomData<M>,
}

/// A type without values.
#[derive(Clone, Copy)]
pub enum Empty {}

impl<M: Send + 'static> Steps for NoOffline<M> {
    type Share = Empty;
    type Pending<'a> = Empty;
    type Material = ();
    type Output = M;
    type Check = ();

    fn constant(&mut self, _: Domain, _: usize, _: &[u64]) -> Empty {
        self.never
    }

    fn begin<'a>(
        &mut self,
        _: Step<'a, Self>,
        _: Option<()>,
        _: &mut Mesh,
    ) -> Result<Progress<'a, Self>> {
        match self.never {}
    }

    fn advance<'a>(&mut self, never: Empty, _: &mut Mesh) -> Result<Progress<'a, Self>> {
        match never {}
    }
}

impl Shares for Empty {
    fn elements(&self) -> usize {
        match *self {}
    }
    fn planes(&self) -> usize {
        match *self {}
    }
    fn zeros(_: usize, _: usize) -> Empty {
        unreachable!("there is no offline walk")
    }
    fn gather(&self, _: &View, _: &View) -> Empty {
        *self
    }
    fn spread(&self, _: usize) -> Empty {
        *self
    }
    fn concat(parts: &[&Empty]) -> Empty {
        *parts[0]
    }
    fn put(&mut self, _: &View, _: &Empty, _: usize) {}
    fn concatenate(parts: &[&Empty]) -> Empty {
        *parts[0]
    }
    fn resize(&self, _: usize, _: usize, _: bool) -> Empty {
        *self
    }
}
