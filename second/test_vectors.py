"""The test vectors of chapter 14 are what this implementation computes."""

from __future__ import annotations

import unittest

import vectors
import vectors_primitives

FOLDER = vectors.FOLDER


class Vectors(unittest.TestCase):
    """All files."""

    def test_all_files_are_right(self) -> None:
        """Every file is checked, and no other is there."""
        files = {path.name.removesuffix(".json.gz") for path in FOLDER.iterdir()}
        self.assertEqual(files, {"jobs", *vectors.FILES})
        for name, (_, check) in vectors.FILES.items():
            with self.subTest(name):
                self.assertEqual(check(vectors.read(FOLDER, name), FOLDER), [])

    def test_primitives_are_made_alike(self) -> None:
        """`make` writes the bytes that are in the tree."""
        content = vectors.make_primitives(FOLDER)
        self.assertEqual(vectors.text_of("primitives", content), vectors.text_of(
            "primitives", vectors.read(FOLDER, "primitives")))

    def test_long_inputs(self) -> None:
        """A pattern survives a file."""
        long = vectors_primitives.Repeat.of(b"abc", 5000)
        self.assertEqual(vectors.decoded(vectors.encoded({"data": long}, True))["data"], long)

    def test_a_wrong_file_fails(self) -> None:
        """A changed output, code or input is named."""
        content = vectors.read(FOLDER, "primitives")
        group = next(group for group in content["groups"] if group["kind"] == "rows")
        valid, invalid = group["tests"][0], group["tests"][-1]
        valid["out"]["counts"][0] += 1
        invalid["code"] = "altered"
        wrong = vectors.check_primitives({"groups": [group]}, FOLDER)
        self.assertEqual(wrong, [f"rows {valid['id']}: out", f"rows {invalid['id']}: code"])


if __name__ == "__main__":
    unittest.main()
