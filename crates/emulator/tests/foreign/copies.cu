// Copies that run beside the threads, by the libraries of CUDA. in: numbers.
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/ptx>
#include <cuda/semaphore>
namespace cg = cooperative_groups;
namespace ptx = cuda::ptx;
using barrier = cuda::barrier<cuda::thread_scope_block>;

// 256 numbers of each block of 128 threads.
extern "C" __global__ void bulk(const float *in, float *out) {
    __shared__ alignas(128) float tile[256];
    __shared__ barrier bar;
    if (threadIdx.x == 0) {
        init(&bar, blockDim.x);
        ptx::fence_proxy_async(ptx::space_shared);
    }
    __syncthreads();
    barrier::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::device::experimental::cp_async_bulk_global_to_shared(tile, in + blockIdx.x * 256, sizeof(tile), bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(tile));
    } else {
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    tile[threadIdx.x] = 2 * tile[threadIdx.x] + 1;
    tile[threadIdx.x + 128] -= 3;
    ptx::fence_proxy_async(ptx::space_shared);
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::device::experimental::cp_async_bulk_shared_to_global(out + blockIdx.x * 256, tile, sizeof(tile));
        cuda::device::experimental::cp_async_bulk_commit_group();
        cuda::device::experimental::cp_async_bulk_wait_group_read<0>();
    }
}

extern "C" __global__ void piped(const float *in, float *out) {
    __shared__ alignas(16) float stage[4][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 4> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    float sum = 0;
    for (int k = 0, next = 0; k < 12; k++) {
        for (; next < 12 && next < k + 4; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, stage[next % 4], in + next * 128, cuda::aligned_size_t<16>(sizeof(float) * 128), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += stage[k % 4][threadIdx.x ^ 5] * (k + 1);
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}

// Warps 2 and 3 bring what warps 0 and 1 add up.
extern "C" __global__ void specialised(const float *in, float *out) {
    __shared__ alignas(16) float stage[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    bool brings = threadIdx.x >= 64;
    auto role = brings ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state, role);
    float sum = 0;
    for (int k = 0; k < 6; k++) {
        if (brings) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[k % 2][threadIdx.x - 64], &in[k * 64 + threadIdx.x - 64], sizeof(float), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum = sum * 2 + stage[k % 2][63 - threadIdx.x];
            pipe.consumer_release();
        }
    }
    if (!brings) out[threadIdx.x] = sum;
}

// The same, but what was read is released before it is read.
extern "C" __global__ void specialised_early(const float *in, float *out) {
    __shared__ alignas(16) float stage[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    bool brings = threadIdx.x >= 64;
    auto role = brings ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state, role);
    float sum = 0;
    for (int k = 0; k < 6; k++) {
        if (brings) {
            pipe.producer_acquire();
            cuda::memcpy_async(&stage[k % 2][threadIdx.x - 64], &in[k * 64 + threadIdx.x - 64], sizeof(float), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            pipe.consumer_release();
            sum = sum * 2 + stage[k % 2][63 - threadIdx.x];
        }
    }
    if (!brings) out[threadIdx.x] = sum;
}

extern "C" __global__ void latched(unsigned *out) {
    __shared__ alignas(16) char room[64];
    __shared__ unsigned total;
    auto &done = *(cuda::latch<cuda::thread_scope_block> *)room;
    auto &lock = *(cuda::binary_semaphore<cuda::thread_scope_block> *)(room + 32);
    if (threadIdx.x == 0) {
        new (&done) cuda::latch<cuda::thread_scope_block>(blockDim.x);
        new (&lock) cuda::binary_semaphore<cuda::thread_scope_block>(1);
        total = 0;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        lock.acquire();
        total = total + threadIdx.x + 1;
        lock.release();
    }
    done.arrive_and_wait();
    out[threadIdx.x] = total;
}

struct Shape {
    int k;
    __device__ virtual float area(float x) const = 0;
};
struct Square : Shape {
    __device__ float area(float x) const override { return x * x + k; }
};
struct Circle : Shape {
    __device__ float area(float x) const override { return 3 * x * x - k; }
};

extern "C" __global__ void virtuals(const float *in, float *out) {
    Square square;
    Circle circle;
    square.k = 2;
    circle.k = 5;
    Shape *shape = in[threadIdx.x] > 0 ? (Shape *)&square : (Shape *)&circle;
    out[threadIdx.x] = shape->area(in[threadIdx.x]);
}
