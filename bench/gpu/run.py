"""Runs our kernels on an NVIDIA GPU and compares them with PyTorch (right?) and with cuBLAS and Triton (fast?).

    python bench/gpu/run.py FOLDER [--size M N K] [--json FILE]

FOLDER holds, per kernel, NAME.ptx (or NAME.cubin) and NAME.json, as `make gpu-kernels` writes them. Needs PyTorch
and Triton, no Rust. Without a GPU it says so and ends with status 0 and no figures.
"""

import argparse
import ctypes as c
import json
import math
import statistics
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "examples" / "kernels")]


def no_gpu():
    """Why nothing can be measured here, or None."""
    from driver import library

    cuda = library()
    if cuda is None or cuda.cuInit(0) != 0:
        return "no NVIDIA GPU here"
    for module in ("torch", "triton"):
        try:
            __import__(module)
        except ImportError:
            return f"a GPU, but no Python package '{module}'"
    return None


def milliseconds(run, repeats=30):
    """Median time of a launch, the L2 cache flushed before each."""
    import torch

    flush = torch.empty(256 << 20, dtype=torch.int8, device="cuda")
    times = []
    for _ in range(5):
        run()
    for _ in range(repeats):
        flush.zero_()
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        run()
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop))
    return statistics.median(times)


class Case:
    """One kernel of examples/kernels with its tensors."""

    def __init__(self, name, size):
        import export
        import torch

        kinds = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32,
                 "fp8e4nv": torch.float8_e4m3fn, "fp8e5": torch.float8_e5m2}
        self.function, self.types, self.tile = export.CASES[name]
        self.m, self.n, self.k = size
        result = "d" if "d" in self.types else "c"
        element = {arg: kinds[t.removeprefix("tensordesc<").split("[")[0]] for arg, t in self.types.items()
                   if t.startswith("tensordesc")}
        torch.manual_seed(0)
        make = lambda rows, cols, kind: torch.randn(rows, cols, device="cuda").mul_(0.5).to(kind)
        self.a, self.b = make(self.m, self.k, element["a"]), make(self.n, self.k, element["b"])
        self.out = torch.empty(self.m, self.n, device="cuda", dtype=element[result])
        self.bias = make(1, self.n, element["a"])[0] if "bias_ptr" in self.types else None
        self.alpha = 0.5
        self.values = dict(a=self.a, b=self.b, c=self.out, d=self.out, bias_ptr=self.bias, alpha=self.alpha,
                           N=self.n, K=self.k)
        self.grid = (-(-self.m // self.tile["BM"]), -(-self.n // self.tile["BN"]), 1)

    def reference(self):
        """The result in f32, on the operands as stored."""
        x = self.a.float() @ self.b.float().T
        if self.bias is not None:
            x = (x * self.alpha + self.bias.float()).clamp(min=0)
        return x

    def cublas(self):
        """The same product by torch.matmul (and the epilogue by torch), or None where torch has no such product."""
        import torch

        if self.a.element_size() == 1:
            one = torch.ones((), device="cuda")
            return lambda: torch._scaled_mm(self.a, self.b.T, one, one, out_dtype=self.out.dtype)
        if self.bias is not None:
            return lambda: torch.relu(torch.addmm(self.bias, self.a, self.b.T, alpha=self.alpha))
        if self.out.dtype != self.a.dtype:
            return None
        return lambda: torch.matmul(self.a, self.b.T)

    def triton(self, warps, stages):
        """Triton's own compile of the same source."""
        from triton.tools.tensor_descriptor import TensorDescriptor

        args = []
        for arg in self.function.arg_names:
            if arg in self.tile:
                continue
            value = self.values[arg]
            if self.types[arg].startswith("tensordesc"):
                block = [int(d) for d in self.types[arg].split("[")[1].split("]")[0].split(",")]
                value = TensorDescriptor.from_tensor(value, block)
            args.append(value)
        return lambda: self.function[self.grid](*args, **self.tile, num_warps=warps, num_stages=stages)

    def ours(self, driver, folder, name):
        """Our kernel, launched through the driver."""
        import torch

        record = json.loads((folder / f"{name}.json").read_text())
        cubin, ptx = folder / f"{name}.cubin", folder / f"{name}.ptx"
        image = cubin.read_bytes() if cubin.exists() else ptx.read_bytes() + b"\0"
        function = driver.load(image, record["name"], record["shared"])
        params, maps = [], iter(record["tensordesc_meta"])
        for arg in self.function.arg_names:
            if arg in self.tile:
                continue
            value, kind = self.values[arg], self.types[arg]
            if kind.startswith("tensordesc"):
                params.append(driver.tensor_map(value, next(maps)))
                params += [c.c_int32(d) for d in value.shape] + [c.c_int64(s) for s in value.stride()]
            elif kind.startswith("*"):
                params.append(c.c_uint64(value.data_ptr()))
            else:
                params.append((c.c_float if kind == "fp32" else c.c_int32)(value))
        # torch's memory is aligned to more than any scratch asks for.
        scratch = torch.empty(math.prod(self.grid) * record["global_scratch_size"], dtype=torch.uint8, device="cuda")
        params += [c.c_uint64(scratch.data_ptr()), c.c_uint64(0)]
        stream = torch.cuda.current_stream().cuda_stream
        return lambda kept=scratch: driver.launch(
            function, self.grid, record["num_warps"], record["shared"], params, stream)


def measure(name, size, driver, folder):
    """One row of the table."""
    import torch

    case = Case(name, size)
    expected = case.reference()
    scale = expected.abs().max().clamp(min=1e-6)
    run = case.ours(driver, folder, name)
    case.out.fill_(float("nan"))
    run()
    torch.cuda.synchronize()
    error = ((case.out.float() - expected).abs().max() / scale).item()
    ours = milliseconds(run)
    tflops = 2 * case.m * case.n * case.k / ours * 1e-9
    cublas = case.cublas()
    cublas = milliseconds(cublas) if cublas else None
    triton = min((milliseconds(case.triton(w, s)) for w, s in ((8, 3), (8, 4), (4, 3))), default=None)
    return dict(kernel=name, m=case.m, n=case.n, k=case.k, relative_error=error, ms=ours, tflops=tflops,
                cublas_ms=cublas, triton_ms=triton)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", type=int, nargs=3, action="append", metavar=("M", "N", "K"))
    parser.add_argument("--json", type=Path, help="write the rows here too")
    args = parser.parse_args()
    reason = no_gpu()
    if reason:
        print(f"bench/gpu: {reason}; nothing was run")
        return 0
    import export
    import torch
    from driver import Driver

    torch.backends.cuda.matmul.allow_tf32 = False
    chip = torch.cuda.get_device_name()
    torch.zeros(1, device="cuda")
    driver, rows, failed = Driver(), [], 0
    print(f"{chip}, torch {torch.__version__}\n")
    print(f"{'kernel':16} {'M x N x K':>18} {'rel. error':>10} {'TFLOP/s':>8} {'vs cuBLAS':>10} {'vs Triton':>10}")
    for size in args.size or [(4096, 4096, 4096), (8192, 8192, 8192), (4000, 3992, 2064)]:
        for name in export.CASES:
            if not (args.folder / f"{name}.json").exists():
                print(f"{name:16} not in {args.folder}")
                continue
            try:
                row = measure(name, size, driver, args.folder)
            except Exception as error:  # a broken kernel must not hide the others
                print(f"{name:16} {'x'.join(map(str, size)):>18} FAILED: {error}")
                failed += 1
                continue
            rows.append(dict(row, chip=chip))
            failed += not row["relative_error"] < 0.02
            ratio = lambda peer: f"{peer / row['ms']:9.2f}x" if peer else f"{'-':>10}"
            print(f"{name:16} {'x'.join(map(str, size)):>18} {row['relative_error']:10.2e} {row['tflops']:8.1f} "
                  f"{ratio(row['cublas_ms'])} {ratio(row['triton_ms'])}")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")
    print(f"\n{len(rows)} rows, {failed} failed; 'vs': peer's time / ours, above 1 we are faster")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
