"""Numbers that fitted models of scikit-learn hold: coefficients, layers, and complete trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sealane._refusal import refuse_operand

if TYPE_CHECKING:
    from collections.abc import Callable


LINEAR = {
    "ElasticNet", "ElasticNetCV", "HuberRegressor", "Lasso", "LassoCV", "LinearRegression",
    "LinearSVR", "Ridge", "RidgeCV", "SGDRegressor",
}  # fmt: skip
LINEAR_CLASSES = {
    "LinearSVC", "LogisticRegression", "LogisticRegressionCV", "Perceptron", "RidgeClassifier",
    "SGDClassifier",
}  # fmt: skip
TREE = {"DecisionTreeClassifier", "DecisionTreeRegressor"}
FORESTS = {
    "ExtraTreesClassifier", "ExtraTreesRegressor", "RandomForestClassifier",
    "RandomForestRegressor",
}  # fmt: skip
BOOSTED = {"GradientBoostingClassifier", "GradientBoostingRegressor"}
LAYERS = {"MLPClassifier", "MLPRegressor"}
_SCALERS = {"MinMaxScaler", "StandardScaler"}
CONSTANTS = {"DummyClassifier", "DummyRegressor"}
_DEEPEST = 10
_OTHERS = {
    "HistGradientBoostingClassifier": "fit a `GradientBoostingClassifier` of a small depth",
    "HistGradientBoostingRegressor": "fit a `GradientBoostingRegressor` of a small depth",
    "SVC": "fit a `LinearSVC`",
    "SVR": "fit a `LinearSVR`",
}


def unpacked(model: object) -> tuple[tuple[Any, Any] | None, Any]:
    """The factors and summands of the scaler before a model, if there is one, and the model.

    Raises `ProgramError` for another kind of model or of steps before it.
    """
    known = LINEAR | LINEAR_CLASSES | TREE | FORESTS | BOOSTED | LAYERS
    if is_one_of({"Pipeline"}, model):
        steps = [step for _, step in model.steps if step not in (None, "passthrough")]  # type: ignore[attr-defined]
        *before, final = steps
        if len(before) > 1 or not all(is_one_of(_SCALERS, step) for step in before):
            names = ", ".join(name_of(step) for step in before)
            raise unsupported(
                f"a pipeline with {names}", "apply all but a scaler to the data beforehand"
            )
        scale = _of_scaler(before[0]) if before else None
    else:
        scale, final = None, model
    if not is_one_of(known, final):
        name = name_of(final)
        advice = "fit a linear model, a tree, a forest, `GradientBoosting...` or `MLP...`"
        raise unsupported(f"`{name}`", _OTHERS.get(name, advice))
    return scale, final


def is_one_of(names: set[str], model: object) -> bool:
    """Returns whether a model is of one of these classes of scikit-learn. A class of this name of
    another package may compute something else.
    """
    kind = type(model)
    return kind.__name__ in names and kind.__module__.split(".")[0] == "sklearn"


def name_of(model: object) -> str:
    """The name of its class, with the module if that is of another package than scikit-learn."""
    kind = type(model)
    foreign = kind.__module__.split(".")[0] not in ("sklearn", "builtins")
    return f"{kind.__module__}.{kind.__qualname__}" if foreign else kind.__name__


def _of_scaler(scaler: Any) -> tuple[Any, Any]:
    """Factor and summand of each feature."""
    if type(scaler).__name__ == "MinMaxScaler":
        if scaler.clip:
            raise unsupported("`MinMaxScaler(clip=True)`", "fit it with `clip=False`")
        return fitted(scaler, "scale_"), fitted(scaler, "min_")
    count = fitted(scaler, "n_features_in_")
    # A scaler keeps the means that it finds on its way to the deviations, also where it does not
    # subtract them.
    factors = 1 / np.asarray(scaler.scale_) if scaler.with_std else np.ones(count)
    means = np.asarray(scaler.mean_) if scaler.with_mean else np.zeros(count)
    return factors, -means * factors


def scaled(layer: tuple[Any, Any], scale: tuple[Any, Any] | None) -> tuple[Any, Any]:
    """The layer on features before their scaler."""
    if scale is None:
        return layer
    (coefficients, intercept), (factors, summands) = (
        [np.asarray(part, np.float64) for part in pair] for pair in (layer, scale)
    )
    return coefficients * factors[:, None], intercept + summands @ coefficients


def linear(model: Any) -> tuple[Any, Any]:
    """Coefficients, a column for each score, and intercepts.

    Raises `ProgramError` for a sparse matrix of them.
    """
    found = fitted(model, "coef_")
    if hasattr(found, "toarray"):
        raise unsupported(
            f"`{type(model).__name__}` with a sparse matrix of coefficients",
            "call `model.densify()` first",
        )
    coefficients = np.atleast_2d(np.asarray(found)).T
    intercept = np.atleast_1d(np.asarray(model.intercept_)).ravel()
    return coefficients, np.broadcast_to(intercept, coefficients.shape[1:])


def complete(
    trees: list[Any], leaf: Callable[[Any], Any], depth: int | None = None
) -> tuple[list[Any], int]:
    """Features, thresholds and leaves of complete trees of one depth, which give the same.

    Raises `ProgramError` for a tree that is too deep.
    """
    depth = max(1, depth or 1, *(tree.max_depth for tree in trees))
    if depth > _DEEPEST:
        raise unsupported(f"a tree of depth {depth}", f"fit it with `max_depth={_DEEPEST}`")
    made = []
    for tree in trees:
        nodes, places, thresholds = [0], [], []
        for _ in range(depth):
            below = []
            for node in nodes:
                inner = tree.children_left[node] >= 0
                places.append(int(tree.feature[node]) if inner else 0)
                thresholds.append(float(tree.threshold[node]) if inner else 0.0)
                below += [tree.children_left[node], tree.children_right[node]] if inner else [
                    node, node,
                ]  # fmt: skip
            nodes = below
        made.append((places, thresholds, np.array([leaf(tree.value[node]) for node in nodes])))
    return made, depth


def classes_of(model: Any) -> tuple[Any, ...] | None:
    """The labels of a classifier.

    Raises `ProgramError` for one of several outputs, or of a single class.
    """
    labels = getattr(model, "classes_", None)
    if labels is None:
        return None
    # Of rows with a set of labels, which are predicted each for itself.
    kind = getattr(getattr(model, "_label_binarizer", None), "y_type_", "")
    if kind.startswith("multilabel") or isinstance(labels, list):
        raise unsupported("a classifier of several outputs", "fit one for each output")
    found = tuple(np.asarray(labels).tolist())
    if len(found) < 2:
        raise unsupported(
            f"a classifier of one class ({found[0]!r})", "fit it to rows of two classes or more"
        )
    return found


def fitted(model: Any, name: str) -> Any:
    """An attribute that fitting gives a model.

    Raises `ProgramError` for a model that is not fitted.
    """
    if not hasattr(model, name):
        raise refuse_operand(
            f"`{type(model).__name__}` is not fitted", hint="call `model.fit(x, y)` first"
        )
    return getattr(model, name)


def unsupported(what: str, advice: str) -> Exception:
    """Makes the refusal of a model."""
    return refuse_operand(f"`sl.sklearn.import_model` does not read {what}", hint=advice)
