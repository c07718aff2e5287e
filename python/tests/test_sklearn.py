"""Models of scikit-learn: their scores equal those of plain integers exactly, under every protocol,
and are near those of scikit-learn by the stated bound.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial
from typing import Any

import numpy as np
import pytest

import sealane as sl
from conftest import PROTOCOLS, planned, refusal, traced

pytest.importorskip("sklearn")

from sklearn import (
    dummy,
    ensemble,
    linear_model,
    neural_network,
    preprocessing,
    svm,
    tree,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

FRACTION = 16
UNIT = 1 << FRACTION
X_FRACTION = 6
DRAW = np.random.default_rng(11)
X = np.round(DRAW.normal(0, 4, (160, 4)) * (1 << X_FRACTION)) / (1 << X_FRACTION)
NUMBERS = X @ [1.5, -2, 0.25, 1] + DRAW.normal(0, 1, 160)
TWO = (NUMBERS > 0).astype(int)
THREE = np.array(["low", "mid", "top"])[np.digitize(NUMBERS, [-4, 4])]
QUERIES = X[:6]

SIX = {"n_estimators": 6, "max_depth": 2, "random_state": 0}
boosted = partial(ensemble.GradientBoostingRegressor, **SIX)


def network(kind: Any, *sizes: int, steps: int = 2, **options: Any) -> Any:
    """A network with layers of these sizes, fitted in so many steps."""
    options = {"random_state": 0, "solver": "lbfgs", **options}
    return kind(hidden_layer_sizes=sizes, max_iter=steps, **options)


MODELS: dict[str, tuple[Any, Any]] = {
    "linear": (linear_model.LinearRegression(), NUMBERS),
    "ridge": (linear_model.Ridge(), NUMBERS),
    "two targets": (linear_model.LinearRegression(), np.stack([NUMBERS, -NUMBERS + 1], axis=1)),
    "logistic": (linear_model.LogisticRegression(), TWO),
    "logistic of three": (linear_model.LogisticRegression(), THREE),
    "vectors": (svm.LinearSVC(random_state=0), TWO),
    "scaled": (make_pipeline(StandardScaler(), linear_model.LogisticRegression()), TWO),
    "scaled by ends": (make_pipeline(MinMaxScaler(), linear_model.LinearRegression()), NUMBERS),
    "scaled by deviations": (
        make_pipeline(StandardScaler(with_mean=False), linear_model.Ridge()),
        NUMBERS,
    ),
    "scaled by means": (
        make_pipeline(StandardScaler(with_std=False), linear_model.Ridge()),
        NUMBERS,
    ),
    "tree": (tree.DecisionTreeRegressor(max_depth=4, random_state=0), NUMBERS),
    "tree of classes": (tree.DecisionTreeClassifier(max_depth=3, random_state=0), THREE),
    "forest": (ensemble.RandomForestRegressor(5, max_depth=3, random_state=0), NUMBERS),
    "forest of classes": (ensemble.RandomForestClassifier(5, max_depth=3, random_state=0), THREE),
    "extra trees": (ensemble.ExtraTreesClassifier(3, max_depth=3, random_state=0), TWO),
    "boosted": (boosted(), NUMBERS),
    "boosted from zero": (boosted(init="zero"), NUMBERS),
    "boosted from a constant": (boosted(init=dummy.DummyRegressor(strategy="median")), NUMBERS),
    "boosted of two": (ensemble.GradientBoostingClassifier(**SIX), TWO),
    "boosted of three": (
        ensemble.GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0),
        THREE,
    ),
    "network": (network(neural_network.MLPRegressor, 5, 4, steps=40), NUMBERS),
    "network of three": (network(neural_network.MLPClassifier, 4, steps=40), THREE),
    "identity": (
        make_pipeline(
            StandardScaler(),
            network(neural_network.MLPClassifier, 3, steps=40, activation="identity"),
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
            factors = 1 / scaler.scale_ if scaler.with_std else np.ones(4)
            summands = -scaler.mean_ * factors if scaler.with_mean else np.zeros(4)
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
    inputs = {"x": (sl.fixed(8, X_FRACTION), "hospital", "rows <= 100", model.features)}
    learnt = sl.fixed(48, 16), "hospital"
    if secret:
        return traced(model.scores, learnt, **inputs, w=(model.dtype, "lab", model.size))
    return traced(model.scores, (*learnt, "lab"), **inputs)


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
    runs = [planned(program, QUERIES[:2], read.weights, protocol=way) for way in PROTOCOLS]
    assert all(np.array_equal(run.value, runs[0].value) for run in runs)


@pytest.mark.parametrize("name", MODELS)
def test_predictions_are_those_of_scikit_learn(name: str) -> None:
    model = fitted(name)
    read = sl.sklearn.import_model(model)
    kind = sl.u8 if read.classes else sl.fixed(48, 16)
    x = sl.fixed(8, X_FRACTION), "hospital", read.features
    predicted = traced(read.predict, (kind, "hospital", "lab"), x=x)
    for row in QUERIES[:3]:
        found = predicted.simulate(row, clear=True, progress=False).value
        wanted = model.predict(row[None])[0]
        if read.classes is None:
            assert np.abs(np.asarray(found, float) - wanted).max() < 0.05
        else:
            assert read.classes[int(found)] == wanted


def of_others(name: str) -> Any:
    """A scaler or pipeline of another package, with the name of one of scikit-learn."""
    bases = (Pipeline,) if name == "Pipeline" else (StandardScaler,)
    of = {"__module__": "others", "__init__": bases[0].__init__}
    made = type(name, bases, of)
    return made([("model", fitted("ridge"))]) if name == "Pipeline" else made()


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
        lambda: network(neural_network.MLPRegressor, 2, activation="tanh").fit(X, NUMBERS),
        "`activation='tanh'`",
        "fit it with `activation='relu'`",
    ),
    "a scaler before trees": (
        lambda: make_pipeline(StandardScaler(), tree.DecisionTreeClassifier(max_depth=2)).fit(
            X, TWO
        ),
        "a scaler before `DecisionTreeClassifier`",
        "fit the trees without it",
    ),
    "other steps": (
        lambda: make_pipeline(
            preprocessing.PolynomialFeatures(), linear_model.LinearRegression()
        ).fit(X, NUMBERS),
        "a pipeline with PolynomialFeatures",
        "apply all but a scaler",
    ),
    "a start that depends on features": (
        lambda: boosted(init=linear_model.LinearRegression()).fit(X, NUMBERS),
        "boosted trees that start from `LinearRegression`",
        "fit them with `init=None`",
    ),
    "a start by chance": (
        lambda: ensemble.GradientBoostingClassifier(
            init=dummy.DummyClassifier(strategy="stratified"), n_estimators=2
        ).fit(X, TWO),
        "boosted trees that start from `DummyClassifier`",
        "fit them with `init=None`",
    ),
    "an exponential behind the last layer": (
        lambda: network(neural_network.MLPRegressor, 2, loss="poisson").fit(X, np.abs(NUMBERS)),
        "a network with `exp` behind its last layer",
        "fit it with `loss='squared_error'`",
    ),
    "sets of labels": (
        lambda: linear_model.RidgeClassifier().fit(X, np.stack([TWO, 1 - TWO, TWO], axis=1)),
        "a classifier of several outputs",
        "fit one for each output",
    ),
    "sets of labels of a network": (
        lambda: network(neural_network.MLPClassifier, 2).fit(X, np.stack([TWO, 1 - TWO], axis=1)),
        "a classifier of several outputs",
        "fit one for each output",
    ),
    "one class": (
        lambda: tree.DecisionTreeClassifier().fit(X, np.full(len(X), "low")),
        "a classifier of one class ('low')",
        "fit it to rows of two classes or more",
    ),
    "one class of a network": (
        lambda: network(neural_network.MLPClassifier, 2).fit(X, TWO * 0),
        "a classifier of one class (0)",
        "fit it to rows of two classes or more",
    ),
    "a scaler of others": (
        lambda: make_pipeline(of_others("StandardScaler"), linear_model.Ridge()).fit(X, NUMBERS),
        "a pipeline with others.StandardScaler",
        "apply all but a scaler",
    ),
    "a pipeline of others": (
        lambda: of_others("Pipeline"),
        "`others.Pipeline`",
        "fit a linear model",
    ),
    "a sparse model": (
        lambda: linear_model.SGDRegressor(random_state=0).fit(X, NUMBERS).sparsify(),
        "`SGDRegressor` with a sparse matrix",
        "call `model.densify()`",
    ),
    "what is no model": (lambda: object(), "`object`", "fit a linear model"),
}


@pytest.mark.parametrize("case", UNSUPPORTED)
@pytest.mark.filterwarnings("ignore")
def test_other_models_are_refused_by_name(case: str) -> None:
    make, message, hint = UNSUPPORTED[case]
    said = refusal(lambda: sl.sklearn.import_model(make()))
    assert message in said and hint in said


def test_weights_that_do_not_fit_and_models_without_any_are_refused() -> None:
    big = linear_model.LinearRegression().fit(X, NUMBERS * 1e7)
    said = refusal(lambda: sl.sklearn.import_model(big))
    assert "does not hold" in said and "integer=24" in said
    sl.sklearn.import_model(big, integer=30)
    with pytest.raises(sl.ProgramError, match="is not fitted"):
        sl.sklearn.import_model(linear_model.LinearRegression())
    with pytest.raises(sl.ProgramError, match="no numbers of `float64`"):
        sl.sklearn.import_model(fitted("linear"), integer=40)


def test_features_and_weights_of_another_number_are_refused() -> None:
    read = sl.sklearn.import_model(fitted("linear"))
    learnt, number = (read.dtype, "b"), (sl.i8, "b")
    narrow = traced(lambda x, w: read.scores(x) + w, learnt, x=(sl.i8, "a", 3), w=number)
    assert "4 features is given" in refusal(narrow.check)
    short = traced(read.scores, learnt, x=(sl.i8, "a", 4), w=(read.dtype, "b", 4))
    assert "5 weights is given" in refusal(short.check)


def test_models_of_sparse_coefficients_are_read_once_they_are_dense() -> None:
    model = linear_model.SGDRegressor(random_state=0).fit(X, NUMBERS)
    wanted = sl.sklearn.import_model(model).weights
    assert np.array_equal(sl.sklearn.import_model(model.sparsify().densify()).weights, wanted)


SINGLE: dict[str, Any] = {
    "linear": linear_model.LinearRegression(),
    "scaled": make_pipeline(StandardScaler(), linear_model.Ridge()),
    "scaled by ends": make_pipeline(MinMaxScaler(), linear_model.Ridge()),
}


@pytest.mark.parametrize("name", SINGLE)
def test_the_bound_has_room_for_float32(name: str) -> None:
    far = (X + 30_000).astype(np.float32)
    model = SINGLE[name].fit(far, NUMBERS.astype(np.float32))
    read = sl.sklearn.import_model(model, integer=19, fraction=30)
    x = sl.fixed(16, X_FRACTION), "hospital", 6, 4
    scores = traced(read.scores, (sl.fixed(34, 30), "hospital", "lab"), x=x)
    found = scores.simulate(far[:6].astype(float), clear=True, progress=False).value
    off = np.abs(np.asarray(found, float) - model.predict(far[:6])).max()
    # Much more than roundings of weights and of float64, so that the test can fail.
    assert 1e-4 < off <= read.error(np.abs(far).max(axis=0)) < 1


def test_features_of_trees_have_no_more_bits_than_thresholds() -> None:
    # The threshold is a half of a unit of 16 bits, and the feature a quarter above it.
    model = tree.DecisionTreeRegressor().fit([[0.0], [2.0**-16]], [1.0, 9.0])
    feature = 2.0**-17 + 2.0**-18
    assert model.predict([[feature]]) == 9

    def program(bits: int, **options: int) -> sl.Program[..., Any]:
        read = sl.sklearn.import_model(model, **options)
        learnt = sl.fixed(40, 18), "hospital", "lab"
        return traced(read.scores, learnt, x=(sl.fixed(8, bits), "hospital", 1))

    said = refusal(program(18).check)
    assert "are given fixed8.18, of 18" in said
    assert "write `import_model(model, integer=16, fraction=18)`" in said
    said = refusal(program(40).check)
    assert "of 40" in said and "import_model(" not in said
    program(16).check()
    fine = program(18, integer=16, fraction=18)
    assert fine.simulate([feature], clear=True, progress=False).value == 9


def test_a_score_of_zero_is_of_the_second_class_of_boosted_trees() -> None:
    # On the left both classes are equally frequent, as in the whole.
    x = [[0.0], [0.0], [1.0], [1.0]]
    model = ensemble.GradientBoostingClassifier(n_estimators=2, max_depth=1).fit(x, [0, 1, 0, 1])
    assert model.decision_function([[0.0]]) == 0 and model.predict([[0.0]]) == 1
    read = sl.sklearn.import_model(model)
    given = sl.fixed(8, 4), "hospital", 1
    predicted = traced(read.predict, (sl.u8, "hospital", "lab"), x=given)
    assert predicted.simulate([0.0], clear=True, progress=False).value == 1
