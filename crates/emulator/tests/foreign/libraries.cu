// Algorithms of CUB, which come with CUDA. in: 512 words.
#include <cub/cub.cuh>

extern "C" __global__ void sorted(const unsigned *in, unsigned *out) {
    using Sort = cub::BlockRadixSort<unsigned, 128, 4>;
    __shared__ typename Sort::TempStorage room;
    unsigned keys[4];
    for (int i = 0; i < 4; i++) keys[i] = in[threadIdx.x * 4 + i];
    Sort(room).Sort(keys);
    for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = keys[i];
}

// Merges look one element behind the last one and drop what they find.
extern "C" __global__ void merged(const unsigned *in, unsigned *out) {
    using Sort = cub::BlockMergeSort<unsigned, 128, 4>;
    using Load = cub::BlockLoad<unsigned, 128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Store = cub::BlockStore<unsigned, 128, 4, cub::BLOCK_STORE_TRANSPOSE>;
    __shared__ union {
        typename Sort::TempStorage sort;
        typename Load::TempStorage load;
        typename Store::TempStorage store;
    } room;
    unsigned keys[4];
    Load(room.load).Load(in, keys);
    __syncthreads();
    Sort(room.sort).Sort(keys, [](unsigned a, unsigned b) { return a < b; });
    __syncthreads();
    Store(room.store).Store(out, keys);
}

// The same, where the room of the sort is used again at once.
extern "C" __global__ void merged_races(const unsigned *in, unsigned *out) {
    using Sort = cub::BlockMergeSort<unsigned, 128, 4>;
    using Store = cub::BlockStore<unsigned, 128, 4, cub::BLOCK_STORE_TRANSPOSE>;
    __shared__ union {
        typename Sort::TempStorage sort;
        typename Store::TempStorage store;
    } room;
    unsigned keys[4];
    for (int i = 0; i < 4; i++) keys[i] = in[threadIdx.x * 4 + i];
    Sort(room.sort).Sort(keys, [](unsigned a, unsigned b) { return a < b; });
    Store(room.store).Store(out, keys);
}

extern "C" __global__ void scanned(const unsigned *in, unsigned *out) {
    using Scan = cub::BlockScan<unsigned, 128>;
    using Reduce = cub::BlockReduce<unsigned, 128>;
    __shared__ union {
        typename Scan::TempStorage scan;
        typename Reduce::TempStorage reduce;
    } room;
    __shared__ unsigned most;
    unsigned x = in[threadIdx.x], sum;
    Scan(room.scan).InclusiveSum(x, sum);
    __syncthreads();
    unsigned top = Reduce(room.reduce).Reduce(x, cuda::maximum<>{});
    if (threadIdx.x == 0) most = top;
    __syncthreads();
    out[threadIdx.x] = sum + most;
}

extern "C" __global__ void counted(const unsigned *in, unsigned *out) {
    using Histogram = cub::BlockHistogram<unsigned char, 128, 4, 256>;
    __shared__ typename Histogram::TempStorage room;
    __shared__ unsigned bins[256];
    unsigned char values[4];
    for (int i = 0; i < 4; i++) values[i] = in[threadIdx.x * 4 + i];
    Histogram(room).Histogram(values, bins);
    __syncthreads();
    out[threadIdx.x] = bins[threadIdx.x];
    out[threadIdx.x + 128] = bins[threadIdx.x + 128];
}
