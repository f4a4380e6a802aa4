"""Machine code of kernels on the emulated device: made when it is asked for, since nothing runs it."""

from __future__ import annotations

from typing import Any

from triton.compiler.compiler import AsmDict, make_backend


class Assembled(AsmDict):
    """The forms of a compiled kernel, as `kernel.asm`; `cubin`, and with it `sass`, comes from Triton's assembler."""

    def __init__(self, forms: dict[str, Any], metadata: Any):
        super().__init__(forms)
        self._metadata = metadata
        # The PTX stands there, for the launch.
        self.pop("cubin", None)

    def __missing__(self, form: str) -> Any:
        if form != "cubin":
            return super().__missing__(form)
        target = self._metadata.target
        # Triton keeps its options in the metadata.
        self[form] = make_backend(target).make_cubin(self["ptx"], {}, self._metadata, target.arch)
        return self[form]
