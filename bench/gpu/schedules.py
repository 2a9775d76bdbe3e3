# SPDX-License-Identifier: Apache-2.0
"""Emitted CUDA kernels on a real GPU: every problem's kernels and fp64 reference against the host's reference, and
variants of the large ones timed beside a copy and cuBLAS.

    python3 bench/gpu/schedules.py FOLDER

FOLDER holds check.json with inputs and expected values (NAME.tensor.in, NAME.tensor.out) and time.json, a list of
{name, problem, file, dims}; sources are FILE.cu, launch plans FILE.cu.yaml. Needs nvcc, CuPy and PyTorch.
"""
import concurrent.futures
import json
import os
import re
import struct
import subprocess
import sys

import cupy
import numpy
import torch
import yaml

FOLDER = sys.argv[1]
DEVICE_HEADERS = os.path.join(os.path.dirname(__file__), "..", "..", "guest", "device")


def compile_one(name):
    out = f"/tmp/{name}.cubin"
    command = ["nvcc", "-cubin", "-arch=sm_90", "-O3", "-std=c++17", "-w", "-Xptxas", "-v", "-I", DEVICE_HEADERS,
               f"{FOLDER}/{name}.cu", "-o", out]
    done = subprocess.run(command, capture_output=True, text=True)
    use = re.findall(r"(\d+) bytes spill stores", done.stderr), re.findall(r"Used (\d+) registers", done.stderr)
    return name, done.returncode, done.stderr, use


def compile_all(names):
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        result = {}
        for name, code, log, use in pool.map(compile_one, names):
            if code != 0:
                print("DOES NOT COMPILE", name, log[-600:])
            result[name] = (code == 0, use)
        return result


def kernel_of(module, name, shared):
    kernel = module.get_function(name)
    if shared > 48 * 1024:
        kernel.max_dynamic_shared_size_bytes = shared
    return kernel


SCALARS = {"f32": numpy.float32, "f64": numpy.float64, "i32": numpy.int32, "i64": numpy.int64}


def scalar(kind, value):
    if kind == "bf16":
        return numpy.uint16(struct.unpack("<I", struct.pack("<f", value))[0] >> 16)
    return SCALARS.get(kind, numpy.float32)(value)


def decode(kind, data, count):
    floats = {"bf16": torch.bfloat16, "f16": torch.float16, "f8e4m3": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2,
              "f8e4m3fnuz": torch.float8_e4m3fnuz, "f8e5m2fnuz": torch.float8_e5m2fnuz}
    plain = {"f32": "f4", "tf32": "f4", "f64": "f8", "i32": "i4", "i64": "i8", "i16": "i2", "i8": "i1", "u8": "u1",
             "bool": "u1"}
    if kind in floats:
        return torch.frombuffer(bytearray(data), dtype=floats[kind])[:count].double().numpy()
    if kind in plain:
        return numpy.frombuffer(data, plain[kind])[:count].astype("f8")
    if kind == "e8m0":
        return numpy.exp2(numpy.frombuffer(data, "u1")[:count].astype("f8") - 127)
    if kind == "f4e2m1":
        codes = numpy.frombuffer(data, "u1")
        codes = numpy.stack([codes & 15, codes >> 4], 1).ravel()[:count]
        values = numpy.array([0, .5, 1, 1.5, 2, 3, 4, 6])
        return values[codes & 7] * numpy.where(codes & 8, -1, 1)
    return None


def decibels(expected, got):
    same = (expected == got) | (numpy.isnan(expected) & numpy.isnan(got))
    finite = numpy.isfinite(expected)
    signal = (expected[finite] ** 2).sum()
    noise = ((expected - got)[~same] ** 2).sum()
    return 999.0 if noise == 0 else 10 * numpy.log10(signal / noise) if numpy.isfinite(noise) else -1.0


def run_steps(module, steps, value_of):
    for step in steps:
        kernel = kernel_of(module, step["kernel"], step["shared"])
        arguments = tuple(value_of(a) for a in step["args"])
        kernel(tuple(step["grid"]), tuple(step["block"]), arguments, shared_mem=step["shared"])
    cupy.cuda.Device().synchronize()


def load(path):
    return cupy.asarray(numpy.fromfile(path, "u1"))


def check(problems, compiled):
    good = 0
    for problem in problems:
        name = problem["problem"]
        expected = {t["name"]: numpy.fromfile(f"{FOLDER}/{name}.{t['name']}.out", "f8") for t in problem["tensors"]
                    if t["role"] != 0}
        for variant in problem["variants"]:
            if not compiled[variant["file"]][0]:
                continue
            buffers = {t["name"]: cupy.full(t["bytes"] + 64, 255, "u1") if t["role"] == 1
                       else load(f"{FOLDER}/{name}.{t['name']}.in") for t in problem["tensors"]}
            work = {n: cupy.full(size + 64, 255, "u1") for n, size in (variant["workspace"] or [])}
            pick = {"t": lambda a: buffers[a[1]], "w": lambda a: work[a[1]], "i": lambda a: numpy.int64(a[1]),
                    "s": lambda a: scalar(a[1], a[2])}
            module = cupy.RawModule(path=f"/tmp/{variant['file']}.cubin")
            run_steps(module, variant["steps"], lambda a: pick[a[0]](a))
            for t in problem["tensors"]:
                if t["role"] == 0:
                    continue
                want = expected[t["name"]]
                got = decode(t["type"], buffers[t["name"]].get().tobytes()[:t["bytes"]], want.size)
                if got is None:
                    print("NOT COMPARED", name, t["type"])
                    continue
                if t["type"] == "e8m0":
                    want = numpy.exp2(numpy.round(numpy.log2(numpy.maximum(want, 2.0**-127))))
                snr = decibels(want, got)
                fine = snr >= (problem["snr"] or 12 if t["type"] in ("f4e2m1", "bf16") else problem["snr"] or 80)
                good += fine
                if not fine:
                    print("WRONG", name, variant["label"], t["name"], f"{snr:.1f} dB, wants {problem['snr']}")
        reference = problem["reference"]
        if compiled[reference["file"]][0]:
            memory = [load(f"{FOLDER}/{name}.{b['name']}.in") if b["role"] == 0 else cupy.zeros(b["bytes"] + 64, "u1")
                      for b in reference["buffers"]]
            pick = {"b": lambda a: memory[a[1]], "i": lambda a: numpy.int64(a[1]), "s": lambda a: numpy.float64(a[2])}
            run_steps(cupy.RawModule(path=f"/tmp/{reference['file']}.cubin"), reference["steps"],
                      lambda a: pick[a[0]](a))
            for b, m in zip(reference["buffers"], memory):
                if b["role"] != 1:
                    continue
                want = expected[b["name"]]
                snr = decibels(want, m.get()[:want.size * 8].view("f8"))
                good += snr > 200
                if snr <= 200:
                    print("REFERENCE DIFFERS", name, b["name"], f"{snr:.1f} dB")
    print("agree:", good)


def evaluate(text, dims):
    scope = {"ceil_div": lambda a, b: -(-a // b), "min": min, "max": max}
    return int(eval(re.sub(r"(?<!/)/(?!/)", "//", str(text)), scope, dict(dims)))


def microseconds(run, reset, repeats=15):
    start, stop = cupy.cuda.Event(), cupy.cuda.Event()
    times = []
    for _ in range(3):
        run()
    for _ in range(repeats):
        reset()
        start.record()
        run()
        stop.record()
        stop.synchronize()
        times.append(cupy.cuda.get_elapsed_time(start, stop) * 1000)
    return float(numpy.median(times))


def inputs_of(problem, dims):
    """Tensors by name, what is to come out, bytes moved, operations."""
    torch.manual_seed(1)
    bf, f = torch.bfloat16, torch.float32
    new = lambda *size, dtype=f: torch.randn(*size, device="cuda").to(dtype)
    d = dims
    if problem == "softmax":
        x = new(d["T"], d["D"])
        return {"x": x, "y": torch.empty_like(x)}, lambda t: {"y": torch.softmax(t["x"].double(), 1)}, 2 * x.nbytes, 0
    if problem in ("rmsnorm", "rmsnorm_f32"):
        dtype = bf if problem == "rmsnorm" else f
        x, w = new(d["T"], d["D"], dtype=dtype), new(d["D"], dtype=dtype)
        right = lambda t: {"y": t["x"].double() * torch.rsqrt((t["x"].double() ** 2).mean(1, True) + 1e-6) * t["w"].double()}
        return {"x": x, "w": w, "y": torch.empty_like(x)}, right, 2 * x.nbytes, 0
    if problem == "silu_mul":
        g, u = new(d["T"], d["D"], dtype=bf), new(d["T"], d["D"], dtype=bf)
        right = lambda t: {"y": torch.nn.functional.silu(t["gate"].double()) * t["up"].double()}
        return {"gate": g, "up": u, "y": torch.empty_like(g)}, right, 3 * g.nbytes, 0
    if problem == "gelu":
        x = new(d["N"])
        right = lambda t: {"y": torch.nn.functional.gelu(t["x"].double(), approximate="tanh")}
        return {"x": x, "y": torch.empty_like(x)}, right, 2 * x.nbytes, 0
    if problem == "transpose":
        x = new(d["M"], d["N"])
        return {"x": x, "y": torch.empty(d["N"], d["M"], device="cuda")}, lambda t: {"y": t["x"].t().double()}, 2 * x.nbytes, 0
    if problem in ("matmul", "matmul_bf16"):
        dtype = f if problem == "matmul" else bf
        a, b = new(d["M"], d["K"], dtype=dtype), new(d["K"], d["N"], dtype=dtype)
        c = torch.empty(d["M"], d["N"], device="cuda", dtype=dtype)
        return ({"A": a, "B": b, "C": c}, lambda t: {"C": t["A"].double() @ t["B"].double()}, 0,
                2.0 * d["M"] * d["N"] * d["K"])
    if problem == "add_rmsnorm":
        x, r, w = new(d["T"], d["D"]), new(d["T"], d["D"]), new(d["D"])

        def right(t):
            total = t["x"].double() + t["residual"].double()
            return {"total": total, "y": total * torch.rsqrt((total**2).mean(1, True) + 1e-5) * t["w"].double()}
        return ({"x": x, "residual": r, "w": w, "total": torch.empty_like(x), "y": torch.empty_like(x)}, right,
                4 * x.nbytes, 0)
    return None


def time_all(cases, compiled):
    flush = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
    nothing = lambda: flush.zero_()
    a, b = (torch.empty(1 << 28, dtype=torch.uint8, device="cuda") for _ in range(2))
    for size in (64 << 20, 256 << 20):
        us = microseconds(lambda: b[:size].copy_(a[:size]), nothing)
        print(f"copy {size >> 20} MiB: {2 * size / us / 1e6:.3f} TB/s")
    copy = 2 * (256 << 20) / us / 1e6
    torch.backends.cuda.matmul.allow_tf32 = False
    for dtype in (torch.float32, torch.bfloat16):
        x, y = (torch.randn(4096, 4096, device="cuda").to(dtype) for _ in range(2))
        us = microseconds(lambda: x @ y, nothing)
        print(f"cuBLAS 4096 {dtype}: {2 * 4096**3 / us / 1e6:.1f} TFLOPS")
    made = {}
    for case in cases:
        ok, use = compiled[case["file"]]
        if not ok:
            continue
        key = (case["problem"], json.dumps(case["dims"]))
        if key not in made:
            made.clear()
            tensors, right, moved, work = inputs_of(case["problem"], case["dims"])
            made[key] = tensors, right(tensors), moved, work
        tensors, expected, moved, work = made[key]
        plan = yaml.safe_load(open(f"{FOLDER}/{case['file']}.cu.yaml"))
        module = cupy.RawModule(path=f"/tmp/{case['file']}.cubin")
        scratch = {}
        for n, w in (plan.get("workspace") or {}).items():
            count = 1
            for extent in w["shape"]:
                count *= evaluate(extent, case["dims"])
            scratch[n] = torch.empty(count * 8, dtype=torch.uint8, device="cuda")
        steps = []
        for launch in plan["launches"]:
            shared = evaluate(launch.get("shared", 0), case["dims"])
            arguments = []
            for name in launch["args"]:
                if name in tensors or name in scratch:
                    arguments.append(numpy.uint64((tensors.get(name) if name in tensors else scratch[name]).data_ptr()))
                elif name == "eps":
                    arguments.append(numpy.float32(1e-5 if case["problem"] == "add_rmsnorm" else 1e-6))
                else:
                    arguments.append(numpy.int64(evaluate(name, case["dims"])))
            extents = [[evaluate(e, case["dims"]) for e in launch.get(k, [1])] + [1, 1] for k in ("grid", "block")]
            steps.append((kernel_of(module, launch["kernel"], shared), tuple(extents[0][:3]), tuple(extents[1][:3]),
                          tuple(arguments), shared))

        def run():
            for kernel, grid, block, arguments, shared in steps:
                kernel(grid, block, arguments, shared_mem=shared)

        for name in expected:
            tensors[name].fill_(float("nan"))
        try:
            us = microseconds(run, nothing)
        except Exception as trouble:  # noqa: BLE001: one variant that does not launch must not hide the others
            print("FAILS", case["name"], trouble)
            continue
        snr = min(decibels(e.flatten()[:1 << 22].cpu().numpy(), tensors[n].double().flatten()[:1 << 22].cpu().numpy())
                  for n, e in expected.items())
        rate = f"{moved / us / 1e6:.3f} TB/s = {moved / us / 1e6 / copy:.1%} of copy" if moved else f"{work / us / 1e6:.1f} TFLOPS"
        print(f"{case['name']:62s} {us:9.1f} us  {rate}  {snr:.0f} dB  regs {use[1]} spills {use[0]}", flush=True)


def main():
    stream = cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream)
    with stream:
        problems = json.load(open(f"{FOLDER}/check.json"))
        cases = json.load(open(f"{FOLDER}/time.json"))
        names = [v["file"] for p in problems for v in p["variants"]] + [p["reference"]["file"] for p in problems]
        names += [c["file"] for c in cases]
        compiled = compile_all(sorted(set(names)))
        print("compiled", sum(ok for ok, _ in compiled.values()), "of", len(compiled), flush=True)
        time_all(cases, compiled)
        check(problems, compiled)


main()
