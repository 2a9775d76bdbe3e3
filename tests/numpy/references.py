# SPDX-License-Identifier: Apache-2.0
"""What each shipped problem means, written by hand in NumPy.

One function per problem, named like it: takes the inputs as fp64 arrays, the dims and the scalars, and returns the
outputs by name in fp64, before rounding to their types. An output that a later formula reads is rounded for that
reader by `rounded`, which is written from the types' definitions and shares nothing with ako's conversions.
"""
import math

import numpy as np


def rounded(name, x):
    """x rounded to a narrower type, ties to even; only types that shipped problems need."""
    if name == "f32":
        return x.astype(np.float32).astype(np.float64)
    if name == "bf16":
        mantissa, exponent = np.frexp(x)
        return np.ldexp(np.rint(np.ldexp(mantissa, 8)), exponent - 8)
    if name == "e8m0":
        return x  # the one user makes powers of two
    raise ValueError(name)


_erf = np.vectorize(math.erf, otypes=[float])


def adamw(t, d, s):
    m = s["beta1"] * t["m"] + (1 - s["beta1"]) * t["g"]
    v = s["beta2"] * t["v"] + (1 - s["beta2"]) * t["g"] ** 2
    m_hat = rounded("f32", m) / (1 - s["beta1"] ** s["step"])
    v_hat = rounded("f32", v) / (1 - s["beta2"] ** s["step"])
    p = t["p"] * (1 - s["rate"] * s["decay"]) - s["rate"] * m_hat / (np.sqrt(v_hat) + s["eps"])
    return {"m": m, "v": v, "p": p}


def add_rmsnorm(t, d, s):
    total = t["x"] + t["residual"]
    read = rounded("f32", total)
    return {"total": total, "y": read / np.sqrt((read * read).mean(axis=1, keepdims=True) + s["eps"]) * t["w"]}


def argmax(t, d, s):
    return {"best": np.argmax(t["x"], axis=1)}


def attention_causal(t, d, s):
    scores = np.einsum("hqe,hke->hqk", t["Q"], t["K"]) / np.sqrt(d["E"])
    future = np.triu(np.ones((d["S"], d["S"]), dtype=bool), 1)
    scores[:, future] = -np.inf
    p = np.exp(scores - scores.max(axis=2, keepdims=True))
    p /= p.sum(axis=2, keepdims=True)
    return {"o": np.einsum("hqk,hke->hqe", p, t["V"])}


def attention_causal_gradient(t, d, s):
    scale = 1 / np.sqrt(d["E"])
    scores = np.einsum("hqe,hke->hqk", t["Q"], t["K"]) * scale
    scores[:, np.triu(np.ones((d["S"], d["S"]), dtype=bool), 1)] = -np.inf
    p = np.exp(scores - scores.max(axis=2, keepdims=True))
    p /= p.sum(axis=2, keepdims=True)
    dp = np.einsum("hqe,hke->hqk", t["d_o"], t["V"])
    ds = p * (dp - (dp * p).sum(axis=2, keepdims=True))
    return {
        "dQ": np.einsum("hqk,hke->hqe", ds, t["K"]) * scale,
        "dK": np.einsum("hqk,hqe->hke", ds, t["Q"]) * scale,
        "dV": np.einsum("hqk,hqe->hke", p, t["d_o"]),
    }


def attention_decode_paged(t, d, s):
    o = np.empty((d["B"], d["J"] * d["G"], d["E"]))
    for b in range(d["B"]):
        pages, n = t["page"][b].astype(int), int(t["length"][b])
        keys = np.concatenate(t["keys"][pages])[:n]
        vals = np.concatenate(t["vals"][pages])[:n]
        for h in range(d["J"] * d["G"]):
            score = keys[:, h // d["G"]] @ t["Q"][b, h] / np.sqrt(d["E"])
            p = np.exp(score - score.max())
            o[b, h] = p @ vals[:, h // d["G"]] / p.sum()
    return {"o": o}


def attention_gqa(t, d, s):
    repeated = {"Q": t["Q"], "K": np.repeat(t["K"], d["G"], axis=0), "V": np.repeat(t["V"], d["G"], axis=0)}
    return attention_causal(repeated, d, s)


def attention_sliding_window(t, d, s):
    o = np.empty_like(t["Q"])
    for h in range(d["H"]):
        for q in range(d["S"]):
            seen = slice(max(0, q + 1 - d["W"]), q + 1)
            score = t["K"][h, seen] @ t["Q"][h, q] / np.sqrt(d["E"])
            p = np.exp(score - score.max())
            o[h, q] = p @ t["V"][h, seen] / p.sum()
    return {"o": o}


def batched_matmul(t, d, s):
    return {"C": t["A"] @ t["W"]}


def conv2d(t, d, s):
    top, left = d["R"] // 2, d["S"] // 2
    x = np.pad(t["x"], ((0, 0), (0, 0), (top, d["R"] - 1 - top), (left, d["S"] - 1 - left)))
    y = np.zeros((d["B"], d["F"], d["H"], d["W"]))
    for r in range(d["R"]):
        for c in range(d["S"]):
            y += np.einsum("bchw,oc->bohw", x[:, :, r : r + d["H"], c : c + d["W"]], t["f"][:, :, r, c])
    return {"y": y}


def conv2d_gradient(t, d, s):
    top, left = d["R"] // 2, d["S"] // 2
    x = np.pad(t["x"], ((0, 0), (0, 0), (top, d["R"] - 1 - top), (left, d["S"] - 1 - left)))
    dx, df = np.zeros_like(x), np.zeros_like(t["f"])
    for r in range(d["R"]):
        for c in range(d["S"]):
            window = np.s_[:, :, r : r + d["H"], c : c + d["W"]]
            dx[window] += np.einsum("bohw,oc->bchw", t["dy"], t["f"][:, :, r, c])
            df[:, :, r, c] = np.einsum("bohw,bchw->oc", t["dy"], x[window])
    return {"dx": dx[:, :, top : top + d["H"], left : left + d["W"]], "df": df}


def cumsum(t, d, s):
    return {"y": np.cumsum(t["x"], axis=1)}


def depthwise_conv2d(t, d, s):
    top, left = d["R"] // 2, d["S"] // 2
    x = np.pad(t["x"], ((0, 0), (0, 0), (top, d["R"] - 1 - top), (left, d["S"] - 1 - left)))
    windows = np.lib.stride_tricks.sliding_window_view(x, (d["R"], d["S"]), axis=(2, 3))
    return {"y": np.einsum("bchwrs,crs->bchw", windows, t["f"])}


def dequantize_mxfp4(t, d, s):
    return {"y": t["q"] * np.repeat(t["scale"], 32, axis=1)}


def embedding(t, d, s):
    return {"y": t["table"][t["token"].astype(int)]}


def embedding_gradient(t, d, s):
    return {"dtable": scatter_add({"token": t["token"], "g": t["dy"]}, d, s)["table"]}


def gelu(t, d, s):
    x = t["x"]
    return {"y": 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x * x * x)))}


def gemm_nn(t, d, s):
    return {"C": t["A"] @ t["B"]}


def gemm_nt(t, d, s):
    return {"C": t["A"] @ t["B"].T}


def gemm_tn(t, d, s):
    return {"C": t["A"].T @ t["B"]}


def gemm_tt(t, d, s):
    return {"C": (t["B"] @ t["A"]).T}


def grouped_gemm(t, d, s):
    first = t["first"].astype(int)
    return {"y": np.concatenate([t["x"][first[g] : first[g + 1]] @ t["W"][g] for g in range(d["G"])])}


def histogram(t, d, s):
    return {"count": np.bincount(t["x"].astype(int), minlength=d["B"])}


def layernorm(t, d, s):
    x = t["x"]
    mean, var = x.mean(axis=1, keepdims=True), x.var(axis=1, keepdims=True)
    return {"y": (x - mean) / np.sqrt(var + s["eps"]) * t["w"] + t["b"]}


def layernorm_backward(t, d, s):
    x, dy = t["x"], t["dy"]
    deviation = np.sqrt(x.var(axis=1, keepdims=True) + s["eps"])
    n = (x - x.mean(axis=1, keepdims=True)) / deviation
    g = dy * t["w"]
    dx = (g - g.mean(axis=1, keepdims=True) - n * (g * n).mean(axis=1, keepdims=True)) / deviation
    return {"dx": dx, "dw": (dy * n).sum(axis=0), "db": dy.sum(axis=0)}


def linear_gelu_gradient(t, d, s):
    a = t["x"] @ t["w"] + t["b"]
    cumulative = 0.5 * (1 + _erf(a / np.sqrt(2)))
    density = np.exp(-a * a / 2) / np.sqrt(2 * np.pi)
    da = t["dy"] * (cumulative + a * density)
    return {"dx": da @ t["w"].T, "dw": t["x"].T @ da, "db": da.sum(axis=0)}


def log_softmax_xent(t, d, s):
    x = t["x"]
    m = x.max(axis=1)
    log_z = np.log(np.exp(x - m[:, None]).sum(axis=1)) + m
    return {"loss": log_z - x[np.arange(d["T"]), t["target"].astype(int)]}


def matmul(t, d, s):
    return {"C": t["A"] @ t["B"]}


def matmul_bf16(t, d, s):
    return {"C": t["A"] @ t["B"]}


def matmul_bias_gelu(t, d, s):
    a = t["x"] @ t["w"] + t["b"]
    return {"y": 0.5 * a * (1 + _erf(a / np.sqrt(2)))}


def matmul_fp8_block(t, d, s):
    spread = lambda scale, axis, n: np.repeat(scale, 128, axis=axis).take(range(n), axis=axis)
    a = t["A"] * spread(t["a_scale"], 1, d["K"])
    b = t["B"] * spread(spread(t["b_scale"], 0, d["N"]), 1, d["K"])
    return {"C": a @ b.T}


def matmul_int8(t, d, s):
    return {"C": t["A"].astype(np.int64) @ t["B"].astype(np.int64)}


def matvec(t, d, s):
    return {"y": t["A"] @ t["x"]}


def max_pool(t, d, s):
    x = np.pad(t["x"], ((0, 0), (0, 0), (1, 2), (1, 2)), constant_values=-np.inf)
    h, w = (d["H"] + 1) // 2, (d["W"] + 1) // 2
    windows = [x[:, :, r : r + 2 * h : 2, c : c + 2 * w : 2] for r in range(3) for c in range(3)]
    return {"y": np.max(windows, axis=0)}


def quantize_fp8_block(t, d, s):
    blocks = (d["K"] + 127) // 128
    padded = np.zeros((d["M"], blocks * 128))
    padded[:, : d["K"]] = np.abs(t["x"])
    largest = padded.reshape(d["M"], blocks, 128).max(axis=2)
    scale = np.where(largest > 0, largest / 448, 1)
    spread = np.repeat(rounded("f32", scale), 128, axis=1)[:, : d["K"]]
    return {"scale": scale, "q": t["x"] / spread}


def quantize_mxfp4(t, d, s):
    x = t["x"].reshape(d["M"], d["K"] // 32, 32)
    largest = np.abs(x).max(axis=2)
    exponent = np.frexp(largest)[1] - 1 - 2  # floor(log2) less the exponent of the largest four-bit number
    scale = np.where(largest > 0, np.ldexp(1.0, np.maximum(exponent, -127)), 2.0**-127)
    return {"scale": scale, "q": (x / rounded("e8m0", scale)[:, :, None]).reshape(d["M"], d["K"])}


def rmsnorm(t, d, s):
    x = t["x"]
    return {"y": x / np.sqrt((x * x).mean(axis=1, keepdims=True) + s["eps"]) * t["w"]}


rmsnorm_f32 = rmsnorm


def rmsnorm_backward(t, d, s):
    x, g = t["x"], t["dy"] * t["w"]
    r = 1 / np.sqrt((x * x).mean(axis=1, keepdims=True) + s["eps"])
    n = x * r
    return {"dx": r * (g - n * (g * n).mean(axis=1, keepdims=True)), "dw": (t["dy"] * n).sum(axis=0)}


def rmsnorm_gradient(t, d, s):
    return rmsnorm_backward(t, d, s)


def rope(t, d, s):
    half = d["D"] // 2
    first, second = t["x"][:, :, :half], t["x"][:, :, half:]
    cosine, sine = t["cosine"][:, None, :], t["sine"][:, None, :]
    return {"y": np.concatenate([first * cosine - second * sine, second * cosine + first * sine], axis=2)}


def scatter_add(t, d, s):
    table = np.zeros((d["V"], d["D"]))
    np.add.at(table, t["token"].astype(int), t["g"])
    return {"table": table}


def selective_scan(t, d, s):
    h = np.zeros((d["D"], d["N"]))
    y = np.empty((d["L"], d["D"]))
    for i in range(d["L"]):
        step = t["step"][i][:, None]
        h = np.exp(step * t["A"]) * h + step * t["B"][i] * t["u"][i][:, None]
        y[i] = h @ t["C"][i]
    return {"y": y + t["skip"] * t["u"]}


def selective_scan_gradient(t, d, s):
    u, step, A, B, C, dy = t["u"], t["step"], t["A"], t["B"], t["C"], t["dy"]
    h = np.zeros((d["L"] + 1, d["D"], d["N"]))  # h[i + 1] after step i
    for i in range(d["L"]):
        h[i + 1] = np.exp(step[i][:, None] * A) * h[i] + (step[i] * u[i])[:, None] * B[i]
    out = {name: np.zeros_like(t[name]) for name in ("u", "step", "A", "B", "C", "skip")}
    dh = np.zeros((d["D"], d["N"]))
    for i in reversed(range(d["L"])):
        dh += dy[i][:, None] * C[i]
        decay = np.exp(step[i][:, None] * A)
        out["C"][i] = dy[i] @ h[i + 1]
        out["B"][i] = (step[i] * u[i]) @ dh
        out["u"][i] = step[i] * (dh @ B[i]) + t["skip"] * dy[i]
        out["step"][i] = (dh * h[i] * decay * A).sum(axis=1) + u[i] * (dh @ B[i])
        out["A"] += dh * h[i] * decay * step[i][:, None]
        dh = dh * decay
    out["skip"] = (dy * u).sum(axis=0)
    return {"d" + name: values for name, values in out.items()}


def silu_mul(t, d, s):
    gate = t["gate"]
    return {"y": gate / (1 + np.exp(-gate)) * t["up"]}


def softmax(t, d, s):
    e = np.exp(t["x"] - t["x"].max(axis=1, keepdims=True))
    return {"y": e / e.sum(axis=1, keepdims=True)}


def softmax_backward(t, d, s):
    y, dy = t["y"], t["dy"]
    # row by row with the Jacobian itself
    return {"dx": np.stack([(np.diag(a) - np.outer(a, a)) @ b for a, b in zip(y, dy)])}


def softmax_gradient(t, d, s):
    return softmax_backward({"y": softmax(t, d, s)["y"], "dy": t["dy"]}, d, s)


def swiglu_gradient(t, d, s):
    gate, up, dy = t["gate"], t["up"], t["dy"]
    sigma = 1 / (1 + np.exp(-gate))
    return {"dgate": dy * up * sigma * (1 + gate - gate * sigma), "dup": dy * gate * sigma}


def top1_routing(t, d, s):
    x = t["x"]
    expert = np.argmax(x, axis=1)
    p = np.exp(x - x.max(axis=1, keepdims=True))
    gate = (p / p.sum(axis=1, keepdims=True)).max(axis=1)
    return {"expert": expert, "gate": gate, "count": np.bincount(expert, minlength=d["E"])}


def transpose(t, d, s):
    return {"y": t["x"].T}
