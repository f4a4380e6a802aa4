"""The few CUDA driver calls that a launch needs, through ctypes: modules, tensor maps, launches."""

import ctypes as c

DTYPES = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 9: 8, 10: 9}  # C13: element codes of the record -> the driver's


def library():
    """libcuda, or None where there is no NVIDIA driver."""
    try:
        return c.CDLL("libcuda.so.1")
    except OSError:
        return None


class Driver:
    """The driver with checked results."""

    def __init__(self):
        self.cuda = library()

    def call(self, name, *args):
        code = getattr(self.cuda, name)(*args)
        if code != 0:
            text = c.c_char_p()
            self.cuda.cuGetErrorString(code, c.byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'?').decode()} ({code})")

    def load(self, image, entry, shared):
        """A function of a PTX text or cubin, allowed `shared` bytes of dynamic shared memory."""
        module, function = c.c_void_p(), c.c_void_p()
        self.call("cuModuleLoadData", c.byref(module), c.c_char_p(image))
        self.call("cuModuleGetFunction", c.byref(function), module, entry.encode())
        self.call("cuFuncSetAttribute", function, 8, shared)  # MAX_DYNAMIC_SHARED_SIZE_BYTES
        return function

    def tensor_map(self, tensor, record):
        """The 128-byte map of a tensor for one descriptor record (C13)."""
        rank = tensor.dim()
        size, strides = tensor.element_size(), tensor.stride()
        assert strides[-1] == 1, "the innermost stride is 1"
        dims = (c.c_uint64 * rank)(*reversed(tensor.shape))
        steps = (c.c_uint64 * max(rank - 1, 1))(*[s * size for s in reversed(strides[:-1])])
        box = (c.c_uint32 * rank)(*reversed(record["block_size"]))
        ones = (c.c_uint32 * rank)(*[1] * rank)
        raw = c.create_string_buffer(128 + 64)
        base = (c.addressof(raw) + 63) // 64 * 64
        self.call("cuTensorMapEncodeTiled", c.c_void_p(base), DTYPES[record["elem_type"]], rank,
                  c.c_void_p(tensor.data_ptr()), dims, steps, box, ones, 0, record["swizzle"], 2, 0)
        words = (c.c_uint64 * 16).from_address(base)
        if tensor.numel() * size < 128 * 1024:
            words[1] &= ~(1 << 21)
        return bytes(c.string_at(base, 128))

    def launch(self, function, grid, warps, shared, params, stream):
        """`params`: ctypes values, or the 128 bytes of a tensor map."""
        keep, slots = [], (c.c_void_p * len(params))()
        for i, value in enumerate(params):
            if isinstance(value, bytes):
                raw = c.create_string_buffer(128 + 64)
                base = (c.addressof(raw) + 63) // 64 * 64
                c.memmove(base, value, 128)
                keep.append(raw)
                slots[i] = base
            else:
                keep.append(value)
                slots[i] = c.addressof(value)
        self.call("cuLaunchKernel", function, *grid, 32 * warps, 1, 1, shared, c.c_void_p(stream), slots, None)
