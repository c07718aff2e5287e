"""Which of a hospital's patients are at risk, by a model that a lab keeps to itself.

The hospital learns one flag for each patient. The lab learns how many patients there were.
"""

import sealane as sl

NUCLEUS = [
    "radius",
    "texture",
    "perimeter",
    "area",
    "smoothness",
    "compactness",
    "concavity",
    "concave_points",
    "symmetry",
    "fractal_dimension",
]
FEATURES = (
    [f"mean_{name}" for name in NUCLEUS]
    + [f"{name}_error" for name in NUCLEUS]
    + [f"worst_{name}" for name in NUCLEUS]
)


@sl.program
def at_risk(
    features: sl.Private[sl.u16, "hospital", "patients <= 10_000", FEATURES],
    weights: sl.Private[sl.i16, "lab", FEATURES],
    threshold: sl.Private[sl.i32, "lab"],
) -> sl.Revealed[sl.boolean, "hospital"]:
    """A linear model: a patient is at risk if the weighted sum exceeds the threshold."""
    return sl.dot(features, weights, dtype=sl.i64) > threshold
