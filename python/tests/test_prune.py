"""Triton's autotuner with our cost model."""

import numpy as np
import pytest
import triton
import triton.language as tl
import warploom
import warploom.triton
from warploom.triton import prune


@triton.jit
def product(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, total = tl.program_id(0) * BM, tl.program_id(1) * BN, tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(a.load([m, k]), b.load([k, n]), total)
    c.store([m, n], total)


SIZES = [(64, 64, 16), (64, 64, 32), (64, 64, 64)]


def shape(descriptors):
    for name, (rows, columns) in (("a", ("BM", "BK")), ("b", ("BK", "BN")), ("c", ("BM", "BN"))):
        descriptors[name].block_shape = [descriptors[rows], descriptors[columns]]


def tuned():
    configs = [triton.Config(dict(BM=m, BN=n, BK=k), num_warps=4, pre_hook=shape) for m, n, k in SIZES]
    return triton.autotune(configs, key=["K"])(product)


def launch(kernel):
    rng = np.random.default_rng(1)
    a, b = (rng.random(s).astype(np.float16) for s in ((64, 64), (64, 64)))
    c = np.zeros((64, 64), np.float32)
    tiles = [warploom.triton.descriptor(v, [64, 64]) for v in (a, b, c)]
    kernel[lambda given: (64 // given["BM"], 64 // given["BN"])](*tiles, 64)
    assert np.allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-3)


def turns(given):
    return given["K"] // given["BK"]


def test_only_the_cheapest_are_measured():
    costs = {}

    def noted(function, given, *more):
        costs[given["BK"]] = price(function, given, *more)
        return costs[given["BK"]]

    with warploom.triton.emulate("sm_90a"), pytest.MonkeyPatch.context() as patch:
        price = prune.cost
        patch.setattr(prune, "cost", noted)
        some = warploom.triton.prune_by(tuned(), top=2, trips=turns)
        launch(some)
    assert set(costs) == {16, 32, 64} and len(set(costs.values())) > 1
    assert all(0 < c < float("inf") for c in costs.values())
    assert {t.kwargs["BK"] for t in some.configs_timings} == set(sorted(costs, key=costs.get)[:2])


def test_turns_and_waves_cost():
    with warploom.triton.emulate("sm_90a"):
        a, b, c = (warploom.triton.descriptor(np.zeros((64, 64), t), [64, 64]) for t in (np.float16, np.float16, np.float32))
        given = dict(a=a, b=b, c=c, K=64, BM=64, BN=64, BK=64, num_warps=4)
        few = prune.cost(product, given, 4)
        assert prune.cost(product, given, 64) > few
        assert prune.cost(product, {**given, "grid": (10_000,)}, 4) > 5 * few


def test_one_that_is_left_is_taken_unmeasured():
    with warploom.triton.emulate("sm_90a") as device:
        launch(warploom.triton.prune_by(tuned()))
        assert len(device.reports) == 1


@pytest.mark.parametrize("wrong, says", [(dict(kernel=product), "triton.autotune"), (dict(kernel=tuned(), top=0), "from 1")])
def test_what_does_not_fit_is_refused(wrong, says):
    with pytest.raises(warploom.UsageError, match=says):
        warploom.triton.prune_by(**wrong)
