"""How a hospital could fit the lab's model by asking about patients that do not exist.

    python extraction.py

Nothing here breaks the cryptography: every answer is one that the hospital may learn. The flag of
a made-up patient says on which side of a plane in 30 dimensions a point lies. From the origin,
which is not flagged, the script walks along 31 random directions and finds by bisection where each
crosses the plane; 31 points fix the plane, and with it the weights and the threshold up to a common
factor, which no flag depends on. Each step of the bisection is one run of the program on 31 rows.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

HERE = Path(__file__).parent
LARGEST = 2**16 - 1  # features are unsigned integers of 16 bits
STEPS = 17  # halve 65,536 steps until one is left, and once more

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Oracle = Callable[[Numbers], Flags]


def main() -> None:
    """Fits the model, and counts the real patients whom it flags as the lab's does."""
    patients = read("hospital.csv")[:, 1:]
    *weights, threshold = read("lab.csv")[0]
    asked = 0

    def ask(rows: Numbers) -> Flags:
        """What the hospital learns from one run."""
        nonlocal asked
        asked += 1
        return np.array(rows @ np.array(weights) > threshold)

    points = on_the_plane(ask, directions=patients.shape[1] + 1)
    # The null vector of [points, -1] is (weights, threshold) up to a factor; the origin, which is
    # not flagged, tells its sign.
    _, _, basis = np.linalg.svd(np.c_[points / LARGEST, -np.ones(len(points))])
    *fitted, level = basis[-1] * np.sign(basis[-1][-1])

    flags = patients @ np.array(weights) > threshold
    same = (patients / LARGEST @ np.array(fitted) > level) == flags
    print(f"{asked} runs on {len(points)} made-up patients each")
    print(f"the fitted model flags {same.sum()} of {same.size} real patients as the lab's does")


def on_the_plane(ask: Oracle, directions: int) -> npt.NDArray[np.float64]:
    """Points where rays from the origin cross the plane, one a row."""
    ends = np.random.default_rng(1).integers(0, LARGEST + 1, (directions, 30))
    low, high = np.zeros((directions, 1)), np.ones((directions, 1))
    for _ in range(STEPS):
        middle = (low + high) / 2
        flagged = ask(np.rint(ends * middle).astype(np.int64))[:, None]
        low, high = np.where(flagged, low, middle), np.where(flagged, middle, high)
    return np.asarray(ends * (low + high) / 2)


def read(name: str) -> Numbers:
    """The rows of a table beside this file."""
    return np.loadtxt(HERE / name, delimiter=",", skiprows=1, dtype=np.int64, ndmin=2)


if __name__ == "__main__":
    main()
