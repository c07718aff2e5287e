"""Groups of households that use power alike, where a grid knows the use of a day and a supplier
that of a night: k-means on the columns of both.

Both learn the centres of the groups, and nothing of a household.
"""

import sealane as sl

STEPS = 3
START = [[2.0, 1.0], [6.0, 2.0], [4.0, 8.0]]
"""Centres to begin with, which are public: day and night, in kilowatt hours."""


@sl.program
def clusters(
    day: sl.Private[sl.f32, "grid", "households <= 10_000"],
    night: sl.Private[sl.f32, "supplier", "households"],
) -> sl.Revealed[sl.f32, "grid", "supplier"]:
    """The centre of each group, of shape (3, 2)."""
    centres = [list(centre) for centre in START]
    for _ in range(STEPS):
        far = [(day - x) * (day - x) + (night - y) * (night - y) for x, y in centres]
        nearest = sl.minimum(sl.minimum(far[0], far[1]), far[2])
        first, second = far[0] == nearest, far[1] == nearest
        for group, inside in enumerate([first, ~first & second, ~first & ~second]):
            weight = inside.astype(sl.f32)
            count = weight.sum()
            means = [sl.dot(weight, day) / count, sl.dot(weight, night) / count]
            # A group without a household keeps its centre.
            kept = centres[group]
            centres[group] = [sl.where(count > 0, *pair) for pair in zip(means, kept, strict=True)]
    return sl.stack([sl.stack(centre) for centre in centres])
