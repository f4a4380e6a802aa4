// CTAs that work together through global memory.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ unsigned ticket = 0;
__device__ int guard = 0;

template <bool fence> __device__ void last(const unsigned *in, volatile unsigned *partial, unsigned *out) {
    __shared__ bool is_last;
    unsigned x = __reduce_add_sync(0xffffffff, in[blockIdx.x * 32 + threadIdx.x]);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = x;
        if (fence) __threadfence();
        is_last = atomicInc(&ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        unsigned sum = 0;
        if (fence) __threadfence();
        for (unsigned b = 0; b < gridDim.x; b++) sum += partial[b];
        *out = sum;
    }
}

extern "C" __global__ void last_block(const unsigned *in, unsigned *partial, unsigned *out) {
    last<true>(in, partial, out);
}

extern "C" __global__ void locked(unsigned *out) {
    if (threadIdx.x == 0) {
        while (atomicCAS(&guard, 0, 1) != 0) {}
        __threadfence();
        *out = *out * 3 + 1;
        __threadfence();
        atomicExch(&guard, 0);
    }
}

extern "C" __global__ void unlocked(unsigned *out) {
    if (threadIdx.x == 0) *out = *out * 3 + 1;
}

extern "C" __global__ void message(const unsigned *in, unsigned *data, unsigned *out) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(data[0]);
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        data[1] = in[5];
        flag.store(1, cuda::memory_order_release);
    } else {
        while (flag.load(cuda::memory_order_acquire) == 0) {}
        *out = data[1] + 1;
    }
}

extern "C" __global__ void message_relaxed(const unsigned *in, unsigned *data, unsigned *out) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(data[0]);
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        data[1] = in[5];
        flag.store(1, cuda::memory_order_relaxed);
    } else {
        while (flag.load(cuda::memory_order_relaxed) == 0) {}
        *out = data[1] + 1;
    }
}

extern "C" __global__ void arrivals(const unsigned *in, unsigned *out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ unsigned data[128];
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    unsigned x = in[threadIdx.x];
    for (int k = 0; k < 3; k++) {
        data[threadIdx.x] = x;
        bar.arrive_and_wait();
        x += data[(threadIdx.x + 33) % 128];
        bar.arrive_and_wait();
    }
    out[threadIdx.x] = x;
}

__device__ double add(double *at, double value) {
    unsigned long long *word = (unsigned long long *)at, old = *word, seen;
    do {
        seen = old;
        old = atomicCAS(word, seen, __double_as_longlong(value + __longlong_as_double(seen)));
    } while (seen != old);
    return __longlong_as_double(old);
}

extern "C" __global__ void doubles(const unsigned *in, double *out) { add(out, in[blockIdx.x * 32 + threadIdx.x] % 100); }
