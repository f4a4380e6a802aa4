"""Long rows in several passes."""

import triton
import triton.language as tl


@triton.jit
def layernorm_passes(x_ptr, w_ptr, b_ptr, y_ptr, ld, N, eps, BLOCK: tl.constexpr):
    """Mean, variance, result: three loops over a row."""
    x_ptr += tl.program_id(0) * ld
    y_ptr += tl.program_id(0) * ld
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(0, N, BLOCK):
        c = i + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + c, mask=c < N, other=0.0).to(tl.float32)
    mean = tl.sum(total, 0) / N
    square = tl.zeros((BLOCK,), tl.float32)
    for i in range(0, N, BLOCK):
        c = i + tl.arange(0, BLOCK)
        d = tl.load(x_ptr + c, mask=c < N, other=0.0).to(tl.float32) - mean
        square += tl.where(c < N, d * d, 0.0)
    factor = 1.0 / tl.sqrt(tl.sum(square, 0) / N + eps)
    for i in range(0, N, BLOCK):
        c = i + tl.arange(0, BLOCK)
        inside = c < N
        x = (tl.load(x_ptr + c, mask=inside, other=0.0).to(tl.float32) - mean) * factor
        w = tl.load(w_ptr + c, mask=inside, other=0.0).to(tl.float32)
        b = tl.load(b_ptr + c, mask=inside, other=0.0).to(tl.float32)
        tl.store(y_ptr + c, (x * w + b).to(tl.bfloat16), mask=inside)


@triton.jit
def cross_entropy(x_ptr, label_ptr, loss_ptr, ld, N, BLOCK: tl.constexpr):
    """Log-sum-exp of a row of scores, less the score of its label."""
    row = tl.program_id(0)
    x_ptr += row * ld
    top = -float("inf")
    total = 0.0
    for i in range(0, N, BLOCK):
        c = i + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + c, mask=c < N, other=-float("inf")).to(tl.float32)
        new = tl.maximum(top, tl.max(x, 0))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(x - new), 0)
        top = new
    score = tl.load(x_ptr + tl.load(label_ptr + row)).to(tl.float32)
    tl.store(loss_ptr + row, top + tl.log(total) - score)
