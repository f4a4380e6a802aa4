// What the lanes of a warp and the CTAs of a cluster tell each other. in: 256 words.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;

extern "C" __global__ void reductions(const unsigned *in, unsigned *out) {
    unsigned i = threadIdx.x, x = in[i], all = ~0u;
    unsigned r = __reduce_add_sync(all, x) ^ __reduce_max_sync(all, x) ^ __reduce_min_sync(all, x);
    r ^= __reduce_xor_sync(all, x) ^ __reduce_and_sync(all, x | 1) ^ __reduce_or_sync(all, x & 0xff00);
    out[i] = r + (unsigned)__reduce_max_sync(all, (int)x) + (unsigned)__reduce_min_sync(all, (int)x);
}

extern "C" __global__ void matches(const unsigned *in, unsigned *out) {
    unsigned x = in[threadIdx.x] % 5;
    int same;
    unsigned any = __match_any_sync(~0u, x), every = __match_all_sync(~0u, x / 7, &same);
    unsigned wide = __match_any_sync(~0u, (unsigned long long)x << 40);
    out[threadIdx.x] = (any ^ every) + same + 3 * wide + (__ballot_sync(~0u, x & 1) ^ __fns(any, 0, 2));
}

extern "C" __global__ void partitions(const unsigned *in, unsigned *out) {
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    unsigned x = in[threadIdx.x] & 0xffff;
    unsigned sum = cg::reduce(tile, x, cg::plus<unsigned>()), top = cg::reduce(tile, x, cg::greater<unsigned>());
    unsigned up = cg::inclusive_scan(tile, x), down = cg::exclusive_scan(tile, x, cg::plus<unsigned>());
    auto thirds = cg::labeled_partition(tile, x % 3);
    auto halves = cg::binary_partition(tile, x & 1);
    unsigned third = cg::reduce(thirds, x, cg::plus<unsigned>()), half = cg::reduce(halves, x, cg::plus<unsigned>());
    out[threadIdx.x] = sum + 3 * top + 5 * up + 7 * down + 11 * third + 13 * half + halves.size();
}

// 20 words of 64 bits, the old ones in memory.
extern "C" __global__ void atomics(const unsigned *in, unsigned long long *out) {
    unsigned x = in[threadIdx.x];
    atomicAdd(&out[0], (unsigned long long)x << 8);
    atomicMax((long long *)&out[1], (long long)(int)x << 20);
    atomicMin(&out[2], (unsigned long long)x);
    atomicAnd(&out[3], ~(1ull << (x & 63)));
    atomicOr(&out[4], 1ull << (x & 63));
    atomicXor(&out[5], 0x100000001ull << (x & 31));
    atomicAdd((double *)&out[6], (double)(x & 1023));
    atomicAdd((float *)&out[7], (float)(x & 255));
    atomicInc((unsigned *)&out[8], 37);
    atomicDec((unsigned *)&out[9], 41);
    atomicAdd((half2 *)&out[10], __floats2half2_rn(1.0f, 2.0f));
    atomicAdd((__nv_bfloat162 *)&out[11], __floats2bfloat162_rn(1.0f, -1.0f));
    atomicAdd((half *)&out[12], __float2half(0.5f));
    atomicSub((unsigned *)&out[13], x & 7);
    // As the CUDA guide makes an atomic of any operation.
    unsigned long long old = out[14], seen;
    do { seen = old; old = atomicCAS(&out[14], seen, seen + x); } while (old != seen);
    atomicCAS((unsigned short *)&out[15], (unsigned short)0, (unsigned short)77);
    atomicExch(&out[16], 99ull);
    atomicAdd_block(&out[17], 3ull);
    atomicAdd_system(&out[18], 5ull);
}

// Each result has 256 words.
extern "C" __global__ void packed(const unsigned *in, unsigned *out) {
    unsigned i = threadIdx.x, x = in[i], y = in[i ^ 1];
    bool p, q;
    out[i] = __vadd4(x, y) ^ __vsub2(x, y) ^ __vabsdiffu4(x, y);
    out[256 + i] = __vcmpgeu2(x, y) ^ __vmaxs2(x, y) ^ __vavgu4(x, y);
    out[512 + i] = __vaddss2(x, y) ^ __vsadu4(x, y) ^ __vsetgts4(x, y);
    out[768 + i] = __viaddmax_s32_relu((int)x, (int)y, 5) ^ __vimax3_u32(x, y, 77);
    out[1024 + i] = __viaddmin_s16x2(x, y, x) ^ __vimin3_s16x2_relu(x, y, 0x7fff0009);
    unsigned most = __vibmax_s32((int)x, (int)y, &p);
    out[1280 + i] = most + p;
    most = __vibmax_s16x2(x, y, &p, &q);
    out[1536 + i] = most + p + 2 * q;
    out[1792 + i] = __dp2a_lo(x, y, 3u) ^ __dp2a_hi((int)x, (int)y, 4) ^ __dp4a((int)x, (int)y, 9);
}

extern "C" __global__ void __cluster_dims__(4, 1, 1) clustered(const unsigned *in, unsigned *out) {
    __shared__ unsigned mine[64];
    auto cluster = cg::this_cluster();
    mine[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
    cluster.sync();
    unsigned rank = cluster.block_rank(), n = cluster.num_blocks(), sum = 0;
    for (unsigned k = 0; k < n; k++) sum += cluster.map_shared_rank(mine, k)[threadIdx.x ^ rank];
    cluster.sync();
    out[blockIdx.x * 64 + threadIdx.x] = sum * n + rank;
}

// The same without its last barrier: a CTA may end while others still read.
extern "C" __global__ void __cluster_dims__(4, 1, 1) clustered_ends(const unsigned *in, unsigned *out) {
    __shared__ unsigned mine[64];
    auto cluster = cg::this_cluster();
    mine[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
    cluster.sync();
    unsigned sum = 0;
    if (cluster.block_rank() == 0)
        for (int n = 0; n < 200; n++) sum += cluster.map_shared_rank(mine, 1 + n % 3)[threadIdx.x];
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}

extern "C" __global__ void grid_barrier(const unsigned *in, unsigned *between, unsigned *out) {
    auto grid = cg::this_grid();
    between[grid.thread_rank()] = in[grid.thread_rank()] + 1;
    grid.sync();
    out[grid.thread_rank()] = between[grid.size() - 1 - grid.thread_rank()];
}
