# SPDX-License-Identifier: Apache-2.0
"""Compares the fp64 reference that ako compiles for every shipped problem with references.py.

  check_references.py REFERENCE_DUMP [PROBLEM...]

The problem's own small shapes, and one of the medium ones, for the declared values; the other input styles on one
small shape. Two fp64 evaluations of the same formula differ by roundings only: the largest error may be 1e-11 of the
largest value (long sums and cancellation included), and values that must be exact are compared exactly. Exits with 77,
which ctest shows as skipped, where NumPy is missing.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no NumPy (apt install python3-numpy, or pip install numpy in build/venv)")
    sys.exit(77)

import references

SOURCE = pathlib.Path(__file__).resolve().parents[2]
EXACT = {"argmax", "dequantize_mxfp4", "embedding", "histogram", "matmul_int8", "max_pool", "quantize_mxfp4", "transpose"}
TOLERANCE = 1e-11
# Where exact gradients are (nearly) zero, what is left of them are roundings of terms of this size.
SIZE_OF_TERMS = {
    ("layernorm_backward", "constant_rows"): 1.0,
    ("rmsnorm_gradient", "constant_rows"): 1e-3,
    ("softmax_gradient", "constant_rows"): 1e-3,
    ("softmax_gradient", "spikes"): 1e-3,
}
STYLES = ["large_offset", "constant_rows", "mixed_scale", "spikes", "zeros", "tiny"]


def shapes_of(problem):
    """The dims of every shape in the file, as --shape wants them."""
    found = []
    for entry in re.findall(r"^  - \{(.*?)\}", problem.read_text(), re.MULTILINE):
        dims = [part.strip() for part in entry.split(",")]
        found.append(",".join(d.replace(": ", "=") for d in dims if re.fullmatch(r"[A-Z]\w*: \d+", d)))
    return found


class Case:
    def __init__(self, dump, problem, shape, style, folder):
        command = [dump, problem, shape, "12345", style, folder]
        self.result = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        self.ok = self.result.returncode == 0
        if not self.ok:
            return
        self.about = json.loads((folder / "shape.json").read_text())
        self.dims = self.about["dims"]
        self.scalars = self.about.get("scalars", {})
        self.inputs, self.outputs = {}, {}
        for name, tensor in self.about["tensors"].items():
            read = lambda suffix: np.fromfile(folder / (name + suffix)).reshape(tensor["extents"])
            if tensor["role"] != "output":
                self.inputs[name] = read(".f64")
            if tensor["role"] != "input":
                self.outputs[name] = read(".out.f64")

    def size(self):
        return sum(array.size for array in self.inputs.values())


def difference(got, expected, exact, size_of_terms):
    """None, or a sentence about how two arrays differ."""
    expected = np.asarray(expected, dtype=float)
    if got.shape != expected.shape:
        return f"extents {got.shape} instead of {expected.shape}"
    if exact:
        wrong = ~((got == expected) | (np.isnan(got) & np.isnan(expected)))
        return f"{wrong.sum()} of {got.size} elements differ" if wrong.any() else None
    if not np.array_equal(np.isfinite(got), np.isfinite(expected)):
        return "not finite in different places"
    finite = np.isfinite(expected)
    largest = np.abs(expected[finite]).max(initial=size_of_terms)
    error = np.abs(got[finite] - expected[finite]).max(initial=0)
    return f"largest error {error:.3g} where values reach {largest:.3g}" if error > TOLERANCE * largest else None


def check(dump, problem, shape, style, folder):
    """The complaints of one case, and the number of input elements."""
    case = Case(dump, problem, shape, style, folder)
    where = f"{problem.stem} {shape} {style}"
    if not case.ok:
        if "has no input style" in case.result.stderr:
            return [], 0
        return [f"{where}: {case.result.stderr.strip()}"], 0
    expected = getattr(references, problem.stem)(case.inputs, case.dims, case.scalars)
    if set(expected) != set(case.outputs):
        return [f"{where}: outputs {sorted(case.outputs)} instead of {sorted(expected)}"], 0
    complaints = []
    for name, values in case.outputs.items():
        wrong = difference(values, expected[name], problem.stem in EXACT, SIZE_OF_TERMS.get((problem.stem, style), 0.0))
        if wrong:
            complaints.append(f"{where}: {name}: {wrong}")
    return complaints, case.size()


def elements(shape):
    size = 1
    for number in re.findall(r"=(\d+)", shape):
        size *= int(number)
    return size


def main():
    dump = pathlib.Path(sys.argv[1])
    wanted = sys.argv[2:]
    complaints, cases = [], 0
    for problem in sorted((SOURCE / "problems").glob("*.yaml")):
        if wanted and problem.stem not in wanted:
            continue
        if not hasattr(references, problem.stem):
            complaints.append(f"{problem.stem}: references.py has no function of this name")
            continue
        shapes = shapes_of(problem)
        small = shapes[:2]
        medium = [shape for shape in shapes[2:] if elements(shape) <= 70_000_000][:1]
        todo = [(shape, "declared") for shape in small + medium] + [(small[-1], style) for style in STYLES]
        for shape, style in todo:
            with tempfile.TemporaryDirectory() as folder:
                wrong, size = check(dump, problem, shape, style, pathlib.Path(folder))
            complaints += wrong
            cases += size > 0
    for line in complaints:
        print(line)
    print(f"{cases} cases compared, {len(complaints)} complaints")
    return 1 if complaints or cases == 0 else 0


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main())
