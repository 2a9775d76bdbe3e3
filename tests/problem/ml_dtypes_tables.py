# SPDX-License-Identifier: Apache-2.0
"""What ml_dtypes (and NumPy, for f16) makes of every code and of many values, as a table for scalar_type_test.cpp.

  ml_dtypes_tables.py            writes tests/problem/ml_dtypes_tables.txt
  ml_dtypes_tables.py --check    compares the file with what the installed ml_dtypes says; 77 where there is none

Lines of the table: TYPE decode HEX      the fp32 value of every code, NaN as 7fc00000; types up to 8 bits
                    TYPE encode HEX      codes of the probes; types up to 8 bits
                    TYPE decode# HASH    the same, as BLAKE2b-256 of the little-endian bytes; 16-bit types
                    TYPE encode# HASH

The probes of a type, all of them fp32 values: its finite values in ascending order, each followed by the middle
between it and the next one, one fp32 step below the middle and one above (the middle above the largest value is half
its last step away), then the same with the other sign; then zero, minus zero, infinities, NaN, the smallest and the
largest fp32 numbers of both signs. ml_dtypes takes fp64 through fp32, so wider probes would be rounded twice. e8m0 is
probed from 2^-126: between its two least values, 2^-127 and 2^-126, where fp32 is denormal, ml_dtypes always rounds
up, which is not the nearest value.
"""
import hashlib
import pathlib
import sys

try:
    import ml_dtypes
    import numpy as np
except ImportError:
    print("skipped: this Python has no ml_dtypes (pip install ml_dtypes in build/venv)")
    sys.exit(77)

TYPES = {
    "f16": (16, np.float16),
    "bf16": (16, ml_dtypes.bfloat16),
    "f8e4m3": (8, ml_dtypes.float8_e4m3fn),
    "f8e5m2": (8, ml_dtypes.float8_e5m2),
    "f8e4m3fnuz": (8, ml_dtypes.float8_e4m3fnuz),
    "f8e5m2fnuz": (8, ml_dtypes.float8_e5m2fnuz),
    "f6e2m3": (6, ml_dtypes.float6_e2m3fn),
    "f6e3m2": (6, ml_dtypes.float6_e3m2fn),
    "f4e2m1": (4, ml_dtypes.float4_e2m1fn),
    "e8m0": (8, ml_dtypes.float8_e8m0fnu),
}


def decoded(bits, dtype):
    codes = np.arange(2**bits, dtype=np.uint16 if bits == 16 else np.uint8)
    return codes.view(dtype).astype(np.float32)


def probes(name, values):
    finite = np.unique(np.abs(values[np.isfinite(values)]).astype(np.float64))
    if name == "e8m0":
        finite = finite[1:]
    above = np.append(finite[1:], 2 * finite[-1] - finite[-2])
    middle = ((finite + above) / 2).astype(np.float32)
    finite = finite.astype(np.float32)
    below = np.nextafter(middle, np.float32(-np.inf))
    beyond = np.nextafter(middle, np.float32(np.inf))
    positive = np.stack([finite, middle, below, beyond], axis=1).ravel()
    tiny, huge = np.float32(2.0**-149), np.finfo(np.float32).max
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, tiny, -tiny, huge, -huge]
    return np.concatenate([positive, -positive, np.array(special, dtype=np.float32)])


def lines():
    yield "# Made by ml_dtypes_tables.py with ml_dtypes " + ml_dtypes.__version__
    for name, (bits, dtype) in TYPES.items():
        values = decoded(bits, dtype)
        codes = probes(name, values).astype(dtype)
        code_bytes = codes.view(np.uint16 if bits == 16 else np.uint8).tobytes()
        value_bits = np.where(np.isnan(values), np.uint32(0x7FC00000), values.view(np.uint32)).astype("<u4")
        for what, data in (("decode", value_bits.tobytes()), ("encode", code_bytes)):
            if bits == 16:
                yield f"{name} {what}# {hashlib.blake2b(data, digest_size=32).hexdigest()}"
            else:
                yield f"{name} {what} {data.hex()}"


def main():
    np.seterr(all="ignore")
    table = pathlib.Path(__file__).with_suffix(".txt")
    made = list(lines())
    if "--check" not in sys.argv:
        table.write_text("\n".join(made) + "\n")
        return 0
    kept = table.read_text().splitlines()
    differ = [new.split()[:2] for old, new in zip(kept[1:], made[1:]) if old != new]
    for name, what in differ:
        print(f"{name} {what}: ml_dtypes {ml_dtypes.__version__} differs from the table")
    print(f"{len(made) - 1} lines compared with ml_dtypes {ml_dtypes.__version__}")
    return 1 if differ or len(kept) != len(made) else 0


if __name__ == "__main__":
    sys.exit(main())
