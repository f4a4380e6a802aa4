// Kernels that launch kernels, by CUDA's device runtime.
extern "C" __global__ void count(int *out, int depth) {
    atomicAdd(out + depth, 1);
    if (depth > 0 && threadIdx.x < 2) count<<<1, 4>>>(out, depth - 1);
}

template <typename T> __global__ void fill(T *out, T value, long long more) {
    out[blockIdx.x * blockDim.x + threadIdx.x] = value + T(more);
}

// out: 8 counts, then 64 words of fill.
extern "C" __global__ void launches(int *out) {
    if (threadIdx.x != 0) return;
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    fill<int><<<dim3(2), 32, 64, cudaStreamTailLaunch>>>(out + 8, 5, 2);
    fill<int><<<4, 16, 0, stream>>>(out + 8, 1, 1);
    cudaStreamDestroy(stream);
    count<<<1, 4>>>(out, 3);
    if (cudaGetLastError() != cudaSuccess) out[7] = 1;
}

// Words on the stack, as many as the launch says.
extern "C" __global__ void taken(unsigned *out, int n) {
    unsigned *words = static_cast<unsigned *>(__builtin_alloca(n * sizeof(unsigned)));
    for (int i = 0; i < n; i++) words[i] = i * threadIdx.x;
    unsigned sum = 0;
    for (int i = n - 1; i >= 0; i--) sum = sum * 3 + words[i];
    out[threadIdx.x] = sum;
}
