// Kernels whose threads work together. in: 1024 words or floats.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>
namespace cg = cooperative_groups;

extern "C" __global__ void transpose(const unsigned *in, unsigned *out) {
    __shared__ unsigned tile[32][33];
    for (int r = threadIdx.y; r < 32; r += 8) tile[r][threadIdx.x] = in[r * 32 + threadIdx.x];
    __syncthreads();
    for (int r = threadIdx.y; r < 32; r += 8) out[r * 32 + threadIdx.x] = tile[threadIdx.x][r];
}

extern "C" __global__ void histogram(const unsigned *in, unsigned *out) {
    __shared__ unsigned bins[64];
    if (threadIdx.x < 64) bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[in[blockIdx.x * blockDim.x + threadIdx.x] % 64], 1);
    __syncthreads();
    if (threadIdx.x < 64) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

extern "C" __global__ void scan(const unsigned *in, unsigned *out) {
    __shared__ unsigned sums[8];
    unsigned x = in[threadIdx.x], lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    for (int d = 1; d < 32; d *= 2) {
        unsigned y = __shfl_up_sync(0xffffffff, x, d);
        if (lane >= d) x += y;
    }
    if (lane == 31) sums[warp] = x;
    __syncthreads();
    for (int w = 0; w < warp; w++) x += sums[w];
    out[threadIdx.x] = x;
}

extern "C" __global__ void product(const float *in, float *out) {
    __shared__ float a[16][16], b[16][16];
    int row = threadIdx.y, col = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 32; k += 16) {
        a[row][col] = in[(blockIdx.y * 16 + row) * 32 + k + col];
        b[row][col] = in[(k + row) * 32 + blockIdx.x * 16 + col];
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += a[row][j] * b[j][col];
        __syncthreads();
    }
    out[(blockIdx.y * 16 + row) * 32 + blockIdx.x * 16 + col] = sum;
}

// The same without its second barrier.
extern "C" __global__ void product_races(const float *in, float *out) {
    __shared__ float a[16][16], b[16][16];
    int row = threadIdx.y, col = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < 32; k += 16) {
        a[row][col] = in[(blockIdx.y * 16 + row) * 32 + k + col];
        b[row][col] = in[(k + row) * 32 + blockIdx.x * 16 + col];
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += a[row][j] * b[j][col];
    }
    out[(blockIdx.y * 16 + row) * 32 + blockIdx.x * 16 + col] = sum;
}

extern "C" __global__ void groups(const unsigned *in, unsigned *out) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<8>(block);
    unsigned x = in[block.thread_rank()];
    for (int d = tile.size() / 2; d > 0; d /= 2) x += tile.shfl_down(x, d);
    unsigned top = tile.shfl(x, 0);
    bool odd = tile.any(in[block.thread_rank()] % 5 == 0);
    unsigned active = 0;
    if (threadIdx.x % 3 == 0) active = cg::coalesced_threads().size();
    out[block.thread_rank()] = top * 2 + odd + active * 100000;
}

extern "C" __global__ void copied(const float *in, float *out) {
    __shared__ float stage[2][128];
    float sum = 0;
    __pipeline_memcpy_async(&stage[0][threadIdx.x], &in[threadIdx.x], 4);
    __pipeline_commit();
    for (int k = 0; k < 8; k++) {
        if (k < 7) __pipeline_memcpy_async(&stage[(k + 1) & 1][threadIdx.x], &in[(k + 1) * 128 + threadIdx.x], 4);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        sum += stage[k & 1][threadIdx.x ^ 37];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
