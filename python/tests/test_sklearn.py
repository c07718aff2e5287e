"""Models of scikit-learn: their scores equal those of plain integers exactly, under every protocol,
and are near those of scikit-learn by the stated bound.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

import sealane as sl

pytest.importorskip("sklearn")

from sklearn import ensemble, linear_model, neural_network, pipeline, preprocessing, svm, tree

FRACTION = 16
UNIT = 1 << FRACTION
X_FRACTION = 6
DRAW = np.random.default_rng(11)
X = np.round(DRAW.normal(0, 4, (160, 4)) * (1 << X_FRACTION)) / (1 << X_FRACTION)
NUMBERS = X @ [1.5, -2, 0.25, 1] + DRAW.normal(0, 1, 160)
TWO = (NUMBERS > 0).astype(int)
THREE = np.array(["low", "mid", "top"])[np.digitize(NUMBERS, [-4, 4])]
QUERIES = X[:6]

MODELS: dict[str, tuple[Any, Any]] = {
    "linear": (linear_model.LinearRegression(), NUMBERS),
    "ridge": (linear_model.Ridge(), NUMBERS),
    "two targets": (linear_model.LinearRegression(), np.stack([NUMBERS, -NUMBERS + 1], axis=1)),
    "logistic": (linear_model.LogisticRegression(), TWO),
    "logistic of three": (linear_model.LogisticRegression(), THREE),
    "vectors": (svm.LinearSVC(random_state=0), TWO),
    "scaled": (
        pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression()),
        TWO,
    ),
    "scaled by ends": (
        pipeline.make_pipeline(preprocessing.MinMaxScaler(), linear_model.LinearRegression()),
        NUMBERS,
    ),
    "tree": (tree.DecisionTreeRegressor(max_depth=4, random_state=0), NUMBERS),
    "tree of classes": (tree.DecisionTreeClassifier(max_depth=3, random_state=0), THREE),
    "forest": (ensemble.RandomForestRegressor(5, max_depth=3, random_state=0), NUMBERS),
    "forest of classes": (ensemble.RandomForestClassifier(5, max_depth=3, random_state=0), THREE),
    "extra trees": (ensemble.ExtraTreesClassifier(3, max_depth=3, random_state=0), TWO),
    "boosted": (
        ensemble.GradientBoostingRegressor(n_estimators=6, max_depth=2, random_state=0),
        NUMBERS,
    ),
    "boosted of two": (
        ensemble.GradientBoostingClassifier(n_estimators=6, max_depth=2, random_state=0),
        TWO,
    ),
    "boosted of three": (
        ensemble.GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0),
        THREE,
    ),
    "network": (
        neural_network.MLPRegressor(
            hidden_layer_sizes=(5, 4), random_state=0, max_iter=40, solver="lbfgs"
        ),
        NUMBERS,
    ),
    "network of three": (
        neural_network.MLPClassifier(
            hidden_layer_sizes=(4,), random_state=0, max_iter=40, solver="lbfgs"
        ),
        THREE,
    ),
    "identity": (
        pipeline.make_pipeline(
            preprocessing.StandardScaler(),
            neural_network.MLPClassifier(
                hidden_layer_sizes=(3,),
                activation="identity",
                random_state=0,
                max_iter=40,
                solver="lbfgs",
            ),
        ),
        TWO,
    ),
}


@cache
def fitted(name: str) -> Any:
    import warnings

    model, y = MODELS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Few steps do not converge.
        return model.fit(X, y)


def stored(number: float) -> int:
    """The nearest multiple of a unit, in units."""
    exact = Fraction(float(number)) * UNIT
    return round(exact)


def affine(rows: list[list[int]], bits: int, layer: Any) -> list[list[int]]:
    """Sums of products of numbers with so many bits behind the point, rounded down, and an
    intercept.
    """
    coefficients, intercept = layer
    weights = [[stored(w) for w in row] for row in np.asarray(coefficients).tolist()]
    added = [stored(b) for b in np.asarray(intercept).tolist()]
    return [
        [
            (sum(x * w[k] for x, w in zip(row, weights, strict=True)) >> bits) + added[k]
            for k in range(len(added))
        ]
        for row in rows
    ]


def layers_of(model: Any) -> tuple[list[Any], bool]:
    """Layers of a linear model or a network, with the scaler before it in them."""
    scaler, final = (None, model) if not hasattr(model, "steps") else (model[0], model[-1])
    if hasattr(final, "coefs_"):
        layers = list(zip(final.coefs_, final.intercepts_, strict=True))
    else:
        coefficients = np.atleast_2d(final.coef_).T
        layers = [
            (coefficients, np.broadcast_to(np.ravel(final.intercept_), coefficients.shape[1]))
        ]
    if scaler is not None:
        if hasattr(scaler, "mean_"):
            factors, summands = 1 / scaler.scale_, -scaler.mean_ * (1 / scaler.scale_)
        else:
            factors, summands = scaler.scale_, scaler.min_
        (first, intercept), *rest = layers
        layers = [(first * factors[:, None], intercept + summands @ first), *rest]
    return layers, getattr(final, "activation", "") == "relu"


def reference_of_layers(model: Any) -> list[list[int]]:
    layers, rectified = layers_of(model)
    rows = [[int(x * (1 << X_FRACTION)) for x in row] for row in QUERIES.tolist()]
    bits, most = X_FRACTION, (1 << 31) - 1
    for number, layer in enumerate(layers):
        rows = affine(rows, bits, layer)
        bits = FRACTION
        if number < len(layers) - 1:
            low = 0 if rectified else -most - 1
            rows = [[min(max(x, low), most) for x in row] for row in rows]
    return rows


def reference_of_trees(model: Any) -> list[list[int]]:
    """Leaves are added up that trees of scikit-learn themselves lead to."""
    name = type(model).__name__
    found = np.zeros((len(QUERIES), 1), object)
    if "Boosting" in name:
        outputs = model.estimators_.shape[1]
        found = np.zeros((len(QUERIES), outputs), object)
        raw = model.predict if name.endswith("Regressor") else model.decision_function
        zeros = np.zeros((1, 4))
        for k in range(outputs):
            trees = model.estimators_[:, k]
            start = np.ravel(raw(zeros))[k] - 0.1 * np.sum([t.predict(zeros)[0] for t in trees])
            found[:, k] += stored(start)
            for one in trees:
                leaves = one.tree_.value[one.apply(QUERIES), 0, 0] * model.learning_rate
                found[:, k] += [stored(leaf) for leaf in leaves]
        return found.tolist()
    trees = getattr(model, "estimators_", [model])
    total: Any = 0
    for one in trees:
        values = one.tree_.value[
            one.apply(QUERIES), 0 if name.endswith("Classifier") else slice(None)
        ]
        values = values.reshape(len(QUERIES), -1)
        if name.endswith("Classifier"):
            values = values / values.sum(axis=1, keepdims=True)
        total = total + np.vectorize(stored, otypes=[object])(values / len(trees))
    return total.tolist()


def scored(model: Any) -> Any:
    """The scores that scikit-learn gives."""
    final = model[-1] if hasattr(model, "steps") else model
    name = type(final).__name__
    if name.startswith("MLPClassifier"):
        rows = QUERIES if final is model else model[:-1].transform(QUERIES)
        layers = list(zip(final.coefs_, final.intercepts_, strict=True))
        for at, (coefficients, intercept) in enumerate(layers):
            rows = rows @ coefficients + intercept
            if at < len(layers) - 1 and final.activation == "relu":
                rows = np.maximum(rows, 0)
        return rows
    if hasattr(final, "decision_function"):
        return model.decision_function(QUERIES)
    if hasattr(final, "predict_proba"):
        return model.predict_proba(QUERIES)
    return model.predict(QUERIES)


def score_program(model: Any, secret: bool) -> sl.Program[..., Any]:
    x_type = sl.fixed(8, X_FRACTION)
    if secret:

        @sl.program
        def scores(
            x: sl.Private[x_type, "hospital", "rows <= 100", model.features],
            w: sl.Private[model.dtype, "lab", model.size],
        ) -> sl.Revealed[sl.fixed(48, 16), "hospital"]:
            return model.scores(x, w)

        return scores

    @sl.program
    def public(
        x: sl.Private[x_type, "hospital", "rows <= 100", model.features],
    ) -> sl.Revealed[sl.fixed(48, 16), "hospital", "lab"]:
        return model.scores(x)

    return public


def units(found: Any) -> list[list[int]]:
    """Numbers in units, a list for each row."""
    rows = np.asarray(found, object).reshape(len(QUERIES), -1).tolist()
    return [[int(Fraction(number) * UNIT) for number in row] for row in rows]


@pytest.mark.parametrize("secret", [False, True], ids=["public", "secret"])
@pytest.mark.parametrize("name", MODELS)
def test_scores_are_those_of_integers_and_near_those_of_scikit_learn(
    name: str, secret: bool
) -> None:
    model = fitted(name)
    read = sl.sklearn.import_model(model)
    final = model[-1] if hasattr(model, "steps") else model
    trees = hasattr(final, "tree_") or hasattr(final, "estimators_")
    wanted = reference_of_trees(model) if trees else reference_of_layers(model)
    program = score_program(read, secret)
    given = [read.weights] if secret else []
    report = program.simulate(QUERIES, *given, progress=False, protocol="clear")
    found = units(report.value)
    assert found == wanted
    near = np.array(found, float) / UNIT - np.asarray(scored(model)).reshape(len(QUERIES), -1)
    bound = read.error(np.abs(X).max(axis=0))
    assert np.abs(near).max() <= bound
    # A bound that says nothing would hold as well.
    assert bound < 0.05


@pytest.mark.parametrize("name", ["logistic of three", "forest of classes", "network"])
def test_protocols_give_the_same_bits(name: str) -> None:
    read = sl.sklearn.import_model(fitted(name))
    program = score_program(read, secret=True)
    runs = [
        program.simulate(QUERIES[:2], read.weights, progress=False, **way)
        for way in (
            {"protocol": "clear"},
            {"protocol": "yao"},
            {"protocol": "trio", "helpers": ["ada"]},
        )
    ]
    assert all(run.as_planned for run in runs)
    assert all(np.array_equal(run.value, runs[0].value) for run in runs)


@pytest.mark.parametrize("name", MODELS)
def test_predictions_are_those_of_scikit_learn(name: str) -> None:
    model = fitted(name)
    read = sl.sklearn.import_model(model)
    kind = sl.u8 if read.classes else sl.fixed(48, 16)

    @sl.program
    def predicted(
        x: sl.Private[sl.fixed(8, X_FRACTION), "hospital", read.features],
    ) -> sl.Revealed[kind, "hospital", "lab"]:
        return read.predict(x)

    for row in QUERIES[:3]:
        found = predicted.simulate(row, clear=True, progress=False).value
        wanted = model.predict(row[None])[0]
        if read.classes is None:
            assert np.abs(np.asarray(found, float) - wanted).max() < 0.05
        else:
            assert read.classes[int(found)] == wanted


UNSUPPORTED = {
    "a kernel": (lambda: svm.SVC().fit(X, TWO), "`SVC`", "fit a `LinearSVC`"),
    "histograms": (
        lambda: ensemble.HistGradientBoostingRegressor(max_iter=2).fit(X, NUMBERS),
        "`HistGradientBoostingRegressor`",
        "fit a `GradientBoostingRegressor` of a small depth",
    ),
    "a deep tree": (
        lambda: tree.DecisionTreeRegressor(random_state=0).fit(
            np.arange(4000)[:, None] % 997, np.arange(4000) * 7 % 1009
        ),
        "a tree of depth",
        "fit it with `max_depth=10`",
    ),
    "another activation": (
        lambda: neural_network.MLPRegressor(
            hidden_layer_sizes=(2,), activation="tanh", max_iter=2, solver="lbfgs"
        ).fit(X, NUMBERS),
        "`activation='tanh'`",
        "fit it with `activation='relu'`",
    ),
    "a scaler before trees": (
        lambda: pipeline.make_pipeline(
            preprocessing.StandardScaler(), tree.DecisionTreeClassifier(max_depth=2)
        ).fit(X, TWO),
        "a scaler before `DecisionTreeClassifier`",
        "fit the trees without it",
    ),
    "other steps": (
        lambda: pipeline.make_pipeline(
            preprocessing.PolynomialFeatures(), linear_model.LinearRegression()
        ).fit(X, NUMBERS),
        "a pipeline with PolynomialFeatures",
        "apply all but a scaler",
    ),
    "what is no model": (lambda: object(), "`object`", "fit a linear model"),
}


@pytest.mark.parametrize("case", UNSUPPORTED)
@pytest.mark.filterwarnings("ignore")
def test_other_models_are_refused_by_name(case: str) -> None:
    make, message, hint = UNSUPPORTED[case]
    with pytest.raises(sl.ProgramError, match=re.escape(message)) as refused:
        sl.sklearn.import_model(make())
    assert hint in str(refused.value)


def test_weights_that_do_not_fit_and_models_without_any_are_refused() -> None:
    big = linear_model.LinearRegression().fit(X, NUMBERS * 1e7)
    with pytest.raises(sl.ProgramError, match="does not hold") as refused:
        sl.sklearn.import_model(big)
    assert "integer=24" in str(refused.value)
    sl.sklearn.import_model(big, integer=30)
    with pytest.raises(sl.ProgramError, match="is not fitted"):
        sl.sklearn.import_model(linear_model.LinearRegression())
    with pytest.raises(sl.ProgramError, match="no numbers of `float64`"):
        sl.sklearn.import_model(fitted("linear"), integer=40)


def test_features_and_weights_of_another_number_are_refused() -> None:
    read = sl.sklearn.import_model(fitted("linear"))

    @sl.program
    def narrow(
        x: sl.Private[sl.i8, "a", 3], w: sl.Private[sl.i8, "b"]
    ) -> sl.Revealed[read.dtype, "b"]:
        return read.scores(x) + w

    with pytest.raises(sl.ProgramError, match="4 features is given"):
        narrow.check()

    @sl.program
    def short(
        x: sl.Private[sl.i8, "a", 4], w: sl.Private[read.dtype, "b", 4]
    ) -> sl.Revealed[read.dtype, "b"]:
        return read.scores(x, w)

    with pytest.raises(sl.ProgramError, match="5 weights is given"):
        short.check()
