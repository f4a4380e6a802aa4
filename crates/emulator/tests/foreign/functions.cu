// Calls: recursion, function pointers, structures by value, printing, the heap.
#include <cassert>
#include <cstdio>

struct Pair { int a; float b; short c[3]; };

__device__ __noinline__ int depth(int n) { return n < 2 ? n : depth(n - 1) + depth(n - 2); }
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ __noinline__ int square(int x) { return x * x; }
__device__ __noinline__ Pair turn(Pair p, int by) {
    Pair r = {p.a + by, p.b * 2.0f, {p.c[2], p.c[0], p.c[1]}};
    return r;
}

extern "C" __global__ void calls(const unsigned *in, int *out, Pair p) {
    int i = threadIdx.x;
    int (*f)(int) = in[i] & 1 ? twice : square;
    Pair q = turn(p, i);
    out[i] = depth(i % 8) + f(i) + q.a + (int)q.b + q.c[0] * 100;
}

extern "C" __global__ void prints(int n) {
    if (threadIdx.x < n) printf("thread %d of %s: %.2f %llx\n", threadIdx.x, "two", threadIdx.x / 4.0, 0x123456789abLL);
}

extern "C" __global__ void asserts(int n) { assert(threadIdx.x < n); }

extern "C" __global__ void heap(int *out) {
    int *list = (int *)malloc(16 * sizeof(int));
    for (int k = 0; k < 16; k++) list[k] = k * threadIdx.x;
    int sum = 0;
    for (int k = 0; k < 16; k++) sum += list[k];
    free(list);
    out[threadIdx.x] = sum;
}
