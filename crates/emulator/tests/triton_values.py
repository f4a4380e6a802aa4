"""Arrays as they lie in memory and as numbers, and the arguments of a launch."""

import numpy as np

NUMPY = {
    "bf16": np.uint16, "fp16": np.float16, "fp32": np.float32, "fp64": np.float64, "i8": np.int8, "u8": np.uint8,
    "i16": np.int16, "i32": np.int32, "u32": np.uint32, "i64": np.int64
}


def to_bf16(x):
    u = np.ascontiguousarray(x, np.float32).view(np.uint32).astype(np.uint64)
    return ((u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16)


def from_bf16(u):
    return (u.astype(np.uint32) << 16).view(np.float32)


def fp8_table(kind):
    out = []
    for c in range(256):
        s, e, m = c >> 7, (c >> (3 if kind == "fp8e4nv" else 2)) & (15 if kind == "fp8e4nv" else 31), c & (
            7 if kind == "fp8e4nv" else 3)
        bias, width = (7, 8) if kind == "fp8e4nv" else (15, 4)
        v = (m / width) * 2.0**(1 - bias) if e == 0 else (1 + m / width) * 2.0**(e - bias)
        if kind == "fp8e4nv" and (c & 127) == 127:
            v = np.nan
        if kind == "fp8e5" and e == 31:
            v = np.nan
        out.append(-v if s else v)
    return np.array(out)


def nearest(values, codes, x):
    """Where in the sorted values the nearest one is; of two, the one with the even code."""
    high = np.clip(np.searchsorted(values, x), 1, len(values) - 1)
    low, up = x - values[high - 1], values[high] - x
    return np.where((low < up) | ((low == up) & (codes[high - 1] % 2 == 0)), high - 1, high)


class Values:
    """An array as it lies in memory, and as numbers."""

    def __init__(self, x, dtype):
        self.dtype = dtype
        if dtype == "bf16":
            self.raw = to_bf16(x)
            self.x = from_bf16(self.raw).astype(np.float64)
        elif dtype in ("fp8e4nv", "fp8e5"):
            table = fp8_table(dtype)
            good = np.where(np.isfinite(table))[0]
            order = good[np.argsort(table[good], kind="stable")]
            self.raw = order[nearest(table[order], order, np.asarray(x, np.float64))].astype(np.uint8)
            self.x = table[self.raw]
        else:
            self.raw = np.asarray(x, NUMPY[dtype])
            self.x = self.raw.astype(np.float64)


def rounded(x, dtype):
    """The value after the kernel stores it."""
    return Values(x, dtype).x if dtype != "fp32" else np.asarray(x, np.float64)


rng = np.random.default_rng(7)


def rand(shape, dtype, scale=1.0):
    return Values(rng.uniform(-1, 1, shape) * scale, dtype)


class Case:
    """Arguments in the order of the Python function, and what comes out."""

    def __init__(self, grid):
        self.grid, self.args, self.outs = grid, [], []

    def desc(self, v, shape=None, out=None):
        self.args.append(("desc", v, shape or v.raw.shape, out))
        return self

    def ptr(self, v, out=None):
        self.args.append(("ptr", v, None, out))
        return self

    def num(self, *list):
        self.args += [("num", v, None, None) for v in list]
        return self


def out(shape, dtype):
    v = Values.__new__(Values)
    v.dtype, v.raw, v.x = dtype, np.zeros(shape, NUMPY[dtype]), None
    return v


TOL = {"bf16": 8e-3, "fp16": 1e-3, "fp32": 2e-5}
