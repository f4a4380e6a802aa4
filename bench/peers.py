"""Triton's compile of a TTIR file: the stages behind its own front end, warm in this process."""

import time


def triton_stages(path, capability, num_warps=8):
    """Seconds by stage, the PTX, and bytes of shared memory."""
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import IRSource, make_backend

    target = GPUTarget("cuda", capability, 32)
    backend = make_backend(target)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    source = IRSource(str(path), context, backend)
    options = backend.parse_options(dict(source.parse_options(), num_warps=num_warps, enable_fp_fusion=True))
    metadata = {"target": target, **options.__dict__}
    module, stages, seconds = source.make_ir(target, options, {}, {}, context), {}, {}
    backend.add_stages(stages, options, source.language)
    for stage in ("ttgir", "llir", "ptx"):
        start = time.perf_counter()
        module = stages[stage](module, metadata)
        seconds[stage] = time.perf_counter() - start
    return seconds, module, metadata.get("shared", 0)
