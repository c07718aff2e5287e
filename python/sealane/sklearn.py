"""Models of scikit-learn in programs: their weights in fixed point, and their scores exact in it.

`import_model` reads a fitted model once, outside of any program. Its weights become multiples of
`2**-fraction`, to the nearest one, and every score is a stated function of these numbers: sums of
products are exact and rounded down once, comparisons are exact. So a run gives the same bits under
every protocol, and `Model.error` bounds how far they are from those of scikit-learn.

The weights are constants of the program, or, given to `scores` and `predict`, inputs of a party
that keeps them to itself. Which kind of model it is, and how large, is public.

scikit-learn itself is not imported: a model, a scaler or a pipeline is known by the name of its
class and the package that the class is from.
"""

# The native graph alone knows the type of a result; the annotations state what it will be.
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from sealane._extremes import argmax
from sealane._fitted import (
    CONSTANTS,
    FORESTS,
    LAYERS,
    LINEAR,
    LINEAR_CLASSES,
    TREE,
    classes_of,
    complete,
    fitted,
    is_one_of,
    linear,
    name_of,
    scaled,
    unpacked,
    unsupported,
)
from sealane._functions import dot, lookup, maximum, minimum, saturate, where
from sealane._functions import sum as _sum
from sealane._loops import map
from sealane._refusal import refuse, refuse_shape, refuse_type
from sealane._types import FixedPoint, fixed, u8, u16
from sealane._value import Value

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Model", "import_model"]

_BITS = 53  # Numbers of this many bits, the sign among them, are numbers of `float64`.


class Model:
    """A model in fixed point; `import_model` makes it."""

    def __init__(
        self, features: int, integer: int, fraction: int, classes: tuple[Any, ...] | None
    ) -> None:
        if not (integer >= 1 and fraction >= 0 and integer + fraction <= _BITS):
            raise refuse_type(
                f"weights of {integer} and {fraction} bits are no numbers of `float64`",
                hint=f"write `integer=16, fraction=16`, for example; together at most {_BITS}",
            )
        self.features = features
        """Number of features."""
        self.classes = classes
        """Labels of a classifier, by what `predict` gives; none of a regression."""
        self.dtype: type[FixedPoint] = fixed(integer, fraction)
        """Type of the weights."""
        self.weights: npt.NDArray[np.float64] = np.zeros(0)
        """The weights, exactly, as an input `sl.Private[model.dtype, "owner", model.size]`."""
        self.outputs = 1
        """Number of scores of a row; one is a single number."""
        self._zero_counts = False  # As a single score of the second class.
        self._integer, self._fraction = integer, fraction
        self._wide: type[FixedPoint] = fixed(64 - fraction, fraction)

    @property
    def size(self) -> int:
        """Number of weights."""
        return len(self.weights)

    def scores(self, x: Value, weights: Value | None = None) -> Any:
        """The scores of each row of features, or of the features of one row: what `predict` of a
        regression gives, `decision_function` of a linear or boosted classifier, `predict_proba` of
        trees and forests, and the last layer before its activation.

        Raises `ProgramError` for another number of features or weights, where ranges do not fit
        64 bits, and for features of trees with more bits behind the point than the weights.
        """
        if x.ndim not in (1, 2) or x.shape[-1] != self.features:
            raise refuse_shape(
                f"a model of {self.features} features is given {list(x.shape)}",
                hint="give rows of so many columns, in the order in which the model was fitted",
            )
        if weights is not None and weights.shape != (self.size,):
            raise refuse_shape(
                f"a model of {self.size} weights is given {list(weights.shape)}",
                hint='declare `sl.Private[model.dtype, "owner", model.size]`',
            )
        return self._scores(x, self.dtype(self.weights) if weights is None else weights)

    def predict(self, x: Value, weights: Value | None = None) -> Any:
        """The prediction of each row: a number of a regression, the index of a class in `classes`
        else: that of the largest score, the first of equal ones; of a single score 1 if it is
        above 0, and for boosted trees also if it is 0, as in scikit-learn.

        Raises `ProgramError` as `scores` does.
        """
        found = self.scores(x, weights)
        if self.classes is None:
            return found
        if self.outputs == 1:
            return (found >= 0 if self._zero_counts else found > 0).astype(u8)
        return argmax(found, axis=-1)

    def error(self, largest: float | npt.ArrayLike) -> float:
        """Bound of the difference between a score and that of scikit-learn, where features are at
        most `largest` in magnitude (one number, or one for each feature) and numbers of both.

        scikit-learn is given `float64`, or `float32` where coefficients are of that type, as they
        are of most models that were fitted to `float32`: then its roundings are those of `float32`,
        and the bound has room for them.
        """
        bounds = np.broadcast_to(np.asarray(largest, np.float64), self.features)
        return self._error(bounds)

    def _scores(self, x: Any, w: Any) -> Any:
        raise NotImplementedError

    def _error(self, largest: npt.NDArray[np.float64]) -> float:
        raise NotImplementedError

    def _rounded(self, numbers: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """The nearest numbers of the type of weights.

        Raises `ProgramError` for one that the type does not hold.
        """
        array = np.asarray(numbers, np.float64)
        unit = 2.0**self._fraction
        stored = np.round(array * unit)
        most = 2.0 ** (self._integer + self._fraction - 1)
        if not np.all(np.abs(stored) < most):
            worst = array.ravel()[int(np.argmax(~(np.abs(stored.ravel()) < most)))]
            raise refuse(
                "constant-range",
                f"the model has the weight {worst:.6g}, which {self.dtype!r} does not hold",
                hint=f"write `integer={self._integer + 8}`, or fit it to scaled features",
            )
        return stored / unit

    @property
    def _half(self) -> float:
        """How far a weight is from the one that was fitted, at most."""
        return 2.0 ** -(self._fraction + 1)


class _Layers(Model):
    """Layers of a network, each an affine function; between two of them what is negative is 0, or
    nothing is changed. A linear model is one layer.
    """

    def __init__(
        self, weights: list[Any], scale: tuple[Any, Any] | None, rectified: bool, *of_model: Any
    ) -> None:
        super().__init__(len(weights[0][0]), *of_model)
        self._rectified = rectified
        # scikit-learn computes in the widest type of an expression; the narrowest bounds all.
        parts = [part for pair in [*weights, scale or ()] for part in pair]
        self._epsilon = max(float(np.finfo(np.result_type(part, np.float16)).eps) for part in parts)
        # What scikit-learn adds to products of features: summands of a scaler may cancel in the
        # intercept, but not their roundings.
        self._added = [np.abs(intercept) for _, intercept in weights]
        if scale is not None:
            self._added[0] = self._added[0] + np.abs(scale[1]) @ np.abs(weights[0][0])
        weights = [scaled(weights[0], scale), *weights[1:]]
        self._layers = [(self._rounded(c), self._rounded(b)) for c, b in weights]
        self.weights = np.concatenate([part.ravel() for layer in self._layers for part in layer])
        self.outputs = len(self._layers[-1][1])

    def _scores(self, x: Any, w: Any) -> Any:
        at, last = 0, len(self._layers) - 1
        for number, (coefficients, _intercept) in enumerate(self._layers):
            rows, columns = coefficients.shape
            factors = w[at : at + rows * columns].reshape(rows, columns)
            at += rows * columns
            added = w[at : at + columns]
            at += columns
            if number == last and columns == 1:
                return dot(x, factors[:, 0], dtype=self._wide) + added[0].astype(self._wide)
            x = dot(x, factors, dtype=self._wide) + added.astype(self._wide)
            if number < last:
                x = saturate(maximum(x, 0) if self._rectified else x, self.dtype)
        return x

    def _error(self, largest: npt.NDArray[np.float64]) -> float:
        off, unit = np.zeros(len(largest)), 2.0**-self._fraction
        top = 2.0 ** (self._integer - 1)
        for number, (coefficients, intercept) in enumerate(self._layers):
            size = np.abs(coefficients) + self._half
            # Of the weights, of what went in, of the exact sum that is rounded down, of floats: of
            # each product and sum, and of a scaler both there and where it became part of weights.
            weights = self._half * (largest.sum() + 1)
            rounds = (len(largest) + 6) * self._epsilon
            floats = rounds * (largest @ size + self._added[number] + 1)
            reach = largest @ size + np.abs(intercept) + self._half
            off = off @ size + weights + unit + floats
            if number < len(self._layers) - 1 and np.any(reach + off >= top):
                return math.inf
            largest = reach + off
        return float(off.max())


class _Trees(Model):
    """Trees of one depth, whose leaves are added up. Nodes count by levels, from the root; a node
    leads to the right where its feature is above its threshold.
    """

    def __init__(self, trees: list[Any], start: list[float], depth: int, *of_model: Any) -> None:
        super().__init__(*of_model)
        self._depth, self._trees, self.outputs = depth, len(trees), len(start)
        self._places = np.array([places for places, _, _ in trees], np.int64)
        # A number with so many bits behind the point is above a threshold where it is above the
        # largest such number that is not beyond the threshold.
        unit = 2.0**self._fraction
        floors = [np.floor(np.asarray(thresholds) * unit) / unit for _, thresholds, _ in trees]
        leaves = self._rounded([leaves for _, _, leaves in trees])
        self.weights = np.concatenate(
            [
                self._places.ravel().astype(np.float64),
                self._rounded(floors).ravel(),
                leaves.ravel(),
                self._rounded(start),
            ]
        )
        self._rounded(self._places)

    def _scores(self, x: Any, w: Any) -> Any:
        name = x.dtype.__name__
        bits = int(name.partition(".")[2] or 0)
        if bits > self._fraction:
            advice = f"declare features with at most {self._fraction} bits behind the point"
            if self._integer + bits <= _BITS:
                advice += f", or write `import_model(model, integer={self._integer}, "
                advice += f"fraction={bits})`"
            raise refuse_type(
                f"trees with thresholds of {self._fraction} bits behind the point are given "
                f"{name}, of {bits}",
                reason="A feature between a threshold and its rounded value takes the wrong "
                "branch.",
                hint=advice,
            )
        nodes = self._trees * (2**self._depth - 1)
        public = w._scope is None
        places: Any = (
            u16(self._places.ravel())
            if public
            else minimum(saturate(w[:nodes], u16), self.features - 1)
        )
        rest = w[nodes:]
        if x.ndim == 1:
            return self._of_row(x, places, rest)
        return map(lambda row: self._of_row(row, places, rest), x)

    def _of_row(self, row: Any, places: Any, w: Any) -> Any:
        trees, nodes, leaves = self._trees, 2**self._depth - 1, 2**self._depth
        found = lookup(row, places).reshape(trees, nodes)
        right = found > w[: trees * nodes].reshape(trees, nodes)
        at = trees * nodes
        left = w[at : at + trees * leaves * self.outputs].reshape(trees, leaves, self.outputs)
        for level in reversed(range(self._depth)):
            turns = right[:, 2**level - 1 : 2 ** (level + 1) - 1]
            left = where(turns[:, :, None], left[:, 1::2], left[:, ::2])
        start = w[w.shape[0] - self.outputs :]
        total = _sum(left[:, 0], axis=0, dtype=self._wide) + start.astype(self._wide)
        return total[0] if self.outputs == 1 else total

    def _error(self, largest: npt.NDArray[np.float64]) -> float:
        return (self._trees + 1) * (self._half + 2.0**-40)


def import_model(model: object, *, integer: int = 16, fraction: int = 16) -> Model:
    """Reads a fitted model of scikit-learn: a linear or logistic model, a decision tree, a random
    forest, boosted trees (`GradientBoosting...`), or a small network (`MLP...` with `relu` or
    `identity`, and the squared error as the loss of a regression); also behind a `StandardScaler`
    or `MinMaxScaler` in a `Pipeline`, unless it is of trees. Boosted trees start from a constant,
    as by default. A classifier has two classes or more, and one label for a row. Weights have
    `integer` bits before the point, the sign among them, and `fraction` bits behind it. Networks
    keep what passes between layers in that type, stopped at its ends.

    Trees of scikit-learn compare features as `float32`, so give them features that are such
    numbers. Features with more than `fraction` bits behind the point are refused for trees.

    Raises `ProgramError` for a model that is not one of these, that is not fitted, or whose weights
    do not fit.
    """
    scale, final = unpacked(model)
    name = type(final).__name__
    shape = (integer, fraction, classes_of(final))
    if name in LINEAR | LINEAR_CLASSES:
        return _Layers([linear(final)], scale, False, *shape)
    if name in LAYERS:
        return _network(final, scale, shape)
    if scale is not None:
        raise unsupported(f"a scaler before `{name}`", "fit the trees without it: they need none")
    if name in TREE | FORESTS:
        trees = [final] if name in TREE else list(fitted(final, "estimators_"))
        return _averaged(final, trees, shape)
    return _boosted(final, shape)


def _network(model: Any, scale: tuple[Any, Any] | None, shape: tuple[Any, ...]) -> Model:
    if model.activation not in ("relu", "identity"):
        raise unsupported(
            f"a network with `activation={model.activation!r}`", "fit it with `activation='relu'`"
        )
    layers = list(zip(fitted(model, "coefs_"), model.intercepts_, strict=True))
    last = model.out_activation_
    if last not in (("identity",) if shape[2] is None else ("logistic", "softmax")):
        raise unsupported(
            f"a network with `{last}` behind its last layer", "fit it with `loss='squared_error'`"
        )
    return _Layers(layers, scale, model.activation == "relu", *shape)


def _averaged(model: Any, trees: list[Any], shape: tuple[Any, ...]) -> Model:
    """A tree, or a forest, whose prediction is the mean of its trees."""

    def leaf(value: Any) -> Any:
        share = value[0] / value[0].sum() if shape[2] is not None else value[0]
        return share / len(trees)

    if model.n_outputs_ != 1:
        raise unsupported("trees of several outputs", "fit one for each output")
    made, depth = complete([fitted(tree, "tree_") for tree in trees], leaf)
    return _Trees(made, [0.0] * len(made[0][2][0]), depth, model.n_features_in_, *shape)


def _boosted(model: Any, shape: tuple[Any, ...]) -> Model:
    """Boosted trees, each for one score, with what they start from."""
    rounds = fitted(model, "estimators_")
    first = model.init_
    constant = is_one_of(CONSTANTS, first) and first.strategy != "stratified"
    if not constant and not (isinstance(first, str) and first == "zero"):
        raise unsupported(
            f"boosted trees that start from `{name_of(first)}`",
            "fit them with `init=None` or `init='zero'`",
        )
    outputs, rate = rounds.shape[1], model.learning_rate
    made, deepest = [], max(tree.tree_.max_depth for tree in rounds.ravel())
    for at in range(outputs):

        def leaf(value: Any, at: int = at) -> Any:
            return np.eye(outputs)[at] * value[0, 0] * rate

        found, _ = complete([tree.tree_ for tree in rounds[:, at]], leaf, deepest)
        made += found
    # The score of a row of zeros, less its leaves.
    zeros = np.zeros((1, model.n_features_in_))
    raw = model.predict(zeros) if shape[2] is None else model.decision_function(zeros)
    leaves = [sum(tree.predict(zeros)[0] for tree in rounds[:, at]) for at in range(outputs)]
    start = np.ravel(raw) - rate * np.array(leaves)
    read = _Trees(made, [float(s) for s in start], deepest, model.n_features_in_, *shape)
    read._zero_counts = True
    return read
