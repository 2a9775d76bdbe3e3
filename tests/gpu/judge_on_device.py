#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Judges the kernels under tests/gpu/guests on the GPU of this machine and holds each verdict to what the kernel's
file expects; then measures how long verdicts take.

    tests/gpu/judge_on_device.py AKO [--target sm_90] [--figures FILE] [--only NAME …] [--pairs N]
"""
import argparse
import json
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
PROBLEM = """problem: scaled_sum
dims: {N: elements}
tensors:
  x: {type: f32, shape: [N], values: "normal(0, 1)"}
  y: {type: bf16, shape: [N], values: "uniform(-1, 1)"}
  z: {type: f32, shape: [N]}
scalars:
  a: {type: f32, value: 2}
math: |
  z[n] = a * x[n] + y[n]
shapes:
  - {N: 4000}
  - {N: 4194304, core: true, representative: true}
tolerance: {snr_db: 100}
"""
PLAN = "{kernel: scaled_sum, grid: [528, 1, 1], block: [256, 1, 1], args: [x, y, z, a, N]}"


class Judge:
    def __init__(self, ako, target, verbose=False):
        self.verbose = verbose
        self.process = subprocess.Popen([ako, "judge", "--target", target, "--end-with-input"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.greeting = json.loads(self.process.stdout.readline())
        self.number = 0

    def ask(self, **params):
        self.number += 1
        self.process.stdin.write(json.dumps({"id": self.number, "method": "judge", "params": params}) + "\n")
        self.process.stdin.flush()
        begin = time.perf_counter()
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise SystemExit("the judge is gone")
            reply = json.loads(line)
            if self.verbose:
                print(f"    {time.perf_counter() - begin:7.3f} {line[:300].strip()}", flush=True)
            if reply.get("id") == self.number and "progress" not in reply:
                reply["wall_s"] = time.perf_counter() - begin
                return reply

    def close(self):
        self.process.stdin.close()
        self.process.wait(30)


def candidate(path, plan=PLAN):
    text = path.read_text()
    for line in text.splitlines():
        if line.startswith("// plan: "):
            plan = line[len("// plan: "):]
    return {"language": "CUDA", "sources": [{"path": path.name, "text": text}], "plan": "launches:\n  - " + plan + "\n"}


def expectation(path):
    for line in path.read_text().splitlines():
        if line.startswith("// expect: "):
            return line[len("// expect: "):]
    raise SystemExit(f"{path} does not say what to expect")


def outcome(reply):
    if "error" in reply:
        return "error", reply["error"]["what"]
    found = reply["result"]["outcome"]
    return found["kind"], found.get("text") or json.dumps({k: v for k, v in found.items() if k != "kind"})[:200]


def judge_guests(judge, only):
    honest = candidate(HERE / "guests/honest/grid_stride.cu")
    failures, rows = [], []
    for path in sorted((HERE / "guests/honest").glob("*.cu")) + sorted((HERE / "guests").glob("*.cu")):
        if only and path.stem not in only:
            continue
        wanted = expectation(path)
        reply = judge.ask(problem=PROBLEM, candidate=candidate(path), incumbent=honest, effort="decide",
                          time_budget_s=2)
        kind, text = outcome(reply)
        good = kind == wanted
        rows.append({"guest": path.stem, "outcome": kind, "wall_s": reply["wall_s"], "text": text})
        print(f"{'ok  ' if good else 'FAIL'} {path.stem:26} {kind:14} {reply['wall_s']:6.3f} s  {text[:110]}", flush=True)
        if not good:
            failures.append(path.stem)
    return failures, rows


MATMUL = """problem: matmul_f32
dims: {M: rows, N: columns, K: depth}
tensors:
  a: {type: f32, shape: [M, K], values: "normal(0, 1)"}
  b: {type: f32, shape: [K, N], values: "normal(0, 1)"}
  c: {type: f32, shape: [M, N]}
math: |
  c[m, n] = sum(k < K: a[m, k] * b[k, n])
shapes:
  - {M: 4096, N: 4096, K: 4096, core: true, representative: true}
tolerance: {snr_db: 90}
"""


def changed(path, before, after):
    made = candidate(path)
    text = made["sources"][0]["text"]
    assert before in text
    made["sources"][0]["text"] = text.replace(before, after)
    return made


def latency_figures(judge, repeats):
    """Verdicts of a warm judge on an fp32 matmul of 4096: right and close, clearly slower, wrong, not compiling."""
    fast, slow = HERE / "figures/matmul_f32.cu", HERE / "figures/matmul_f32_slower.cu"
    figures = {}
    for name, make in {
        "close": lambda i: changed(fast, "kDepth = 8;", f"kDepth = 8;  // {i}"),
        "slower": lambda i: changed(slow, "float sum = 0;", f"float sum = 0;  // {i}"),
        "wrong": lambda i: changed(fast, "stage ^= 1;", f"stage ^= 1;\n    if (k == {8 * (i + 8)}) sum[3][3] += 1e3f;"),
        "no_compile": lambda i: changed(fast, "int stage = 0;", f"int stage = 0 {i}"),
    }.items():
        for i in range(repeats):
            reply = judge.ask(problem=MATMUL, candidate=make(i), incumbent=candidate(fast), effort="decide",
                              time_budget_s=5)
            kind, text = outcome(reply)
            result = reply.get("result", {})
            comparison = result.get("against_incumbent") or {}
            row = {"outcome": kind, "wall_s": reply["wall_s"], "spent": result.get("spent"),
                   "clarity": comparison.get("clarity"), "blocks": comparison.get("blocks"),
                   "log_ratio": comparison.get("log_ratio"), "text": text[:200], "notes": result.get("notes"),
                   "timings": [{k: t.get(k) for k in ("candidate_median_us", "incumbent_median_us", "error_db",
                                                      "launches_per_batch")} for t in result.get("timings", [])]}
            figures.setdefault(name, []).append(row)
            print(f"{name:10} {kind:14} {reply['wall_s']:.3f} s  {json.dumps(row)[:420]}", flush=True)
    return figures


def recovery_figures(judge, repeats):
    """From a kernel that faults to the next right verdict."""
    honest = candidate(HERE / "guests/honest/grid_stride.cu")
    figures = []
    for i in range(repeats):
        judge.ask(problem=PROBLEM, candidate=candidate(HERE / "guests/reads_nowhere.cu"), effort="check")
        reply = judge.ask(problem=PROBLEM, candidate=honest, effort="check")
        figures.append({"outcome": outcome(reply)[0], "wall_s": reply["wall_s"]})
        print(f"recovery   {figures[-1]}", flush=True)
        time.sleep(1.5)  # a spare is warm again
    return figures


def noise_figures(judge, pairs):
    """A kernel against itself, over three durations."""
    honest = HERE / "guests/honest/grid_stride.cu"
    figures = []
    for elements in (1 << 16, 1 << 22, 1 << 25):
        problem = PROBLEM.split("shapes:")[0] + f"shapes:\n  - {{N: {elements}, core: true, representative: true}}\n"
        problem += "tolerance: {snr_db: 100}\n"
        seen = {}
        begin, ratios, us = time.perf_counter(), [], 0
        for i in range(pairs):
            other = changed(honest, "a * x[i]", f"a /* {i} */ * x[i]")
            reply = judge.ask(problem=problem, candidate=other, incumbent=candidate(honest), effort="decide",
                              time_budget_s=5)
            comparison = reply.get("result", {}).get("against_incumbent") or {}
            clarity = comparison.get("clarity", outcome(reply)[0] + " " + outcome(reply)[1][:100])
            seen[clarity] = seen.get(clarity, 0) + 1
            if "log_ratio" in comparison:
                ratios.append(comparison["log_ratio"])
                us = reply["result"]["timings"][0]["candidate_median_us"]
        spent = time.perf_counter() - begin
        figures.append({"elements": elements, "us": us, "pairs": pairs, "clarity": seen, "log_ratios": ratios,
                        "seconds": spent})
        print(f"A/A {elements:9} elements, {us:7.1f} us: {seen}, {spent / pairs:.3f} s a verdict, largest "
              f"{max(map(abs, ratios), default=0):.4f}", flush=True)
    return figures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ako")
    parser.add_argument("--target", default="sm_90")
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--verbose", action="store_true", help="print every message of the judge")
    parser.add_argument("--figures", help="also measure, and write everything there")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=20, help="of a kernel with itself, for each duration")
    options = parser.parse_args()
    begin = time.perf_counter()
    judge = Judge(options.ako, options.target, options.verbose)
    if "error" in judge.greeting:
        raise SystemExit(json.dumps(judge.greeting["error"]))
    print(f"greeting after {time.perf_counter() - begin:.2f} s: {json.dumps(judge.greeting['facts'])}", flush=True)
    failures, rows = judge_guests(judge, options.only)
    if options.figures:
        figures = {"greeting": judge.greeting, "guests": rows}
        figures["latency"] = latency_figures(judge, options.repeats)
        figures["recovery"] = recovery_figures(judge, options.repeats)
        figures["noise"] = noise_figures(judge, options.pairs)
        pathlib.Path(options.figures).write_text(json.dumps(figures, indent=1))
    judge.close()
    print(f"{len(rows) - len(failures)} of {len(rows)} as expected" + (f"; not {', '.join(failures)}" if failures else ""))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
