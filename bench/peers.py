"""Triton's compile of a TTIR file: the stages behind its own front end, warm in this process."""

import time


def triton_stages(path, capability, num_warps=8, num_stages=None):
    """Seconds by stage, the PTX, and bytes of shared memory; with the default number of stages where none is given."""
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import IRSource, make_backend

    target = GPUTarget("cuda", capability, 32)
    backend = make_backend(target)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    source = IRSource(str(path), context, backend)
    wanted = dict(source.parse_options(), num_warps=num_warps, enable_fp_fusion=True)
    options = backend.parse_options(wanted if num_stages is None else dict(wanted, num_stages=num_stages))
    metadata = {"target": target, **options.__dict__}
    module, stages, seconds = source.make_ir(target, options, {}, {}, context), {}, {}
    backend.add_stages(stages, options, source.language)
    for stage in ("ttgir", "llir", "ptx"):
        start = time.perf_counter()
        module = stages[stage](module, metadata)
        seconds[stage] = time.perf_counter() - start
    return seconds, module, metadata.get("shared", 0)
