// Products of matrices by tensor cores, and numbers of 128 bits. Small whole numbers, so that sums are exact.
#include <mma.h>
using namespace nvcuda;

// 16x32 by 32x16, both with k innermost, twice the product in rows.
extern "C" __global__ void halves(const half *a, const half *b, float *c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    for (int k = 0; k < 32; k += 16) {
        wmma::load_matrix_sync(fa, a + k, 32);
        wmma::load_matrix_sync(fb, b + k, 32);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    for (int i = 0; i < fc.num_elements; i++) fc.x[i] *= 2;
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

extern "C" __global__ void bytes(const signed char *a, const signed char *b, int *c) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, signed char, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, signed char, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, int> fc;
    wmma::fill_fragment(fc, 0);
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 16);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}

// 16x16 by 16x8, through shared memory and ldmatrix.
extern "C" __global__ void fragments(const half *in, float *out) {
    __shared__ half a[16 * 16], b[8 * 16];
    for (int i = threadIdx.x; i < 256; i += 32) a[i] = in[i];
    for (int i = threadIdx.x; i < 128; i += 32) b[i] = in[256 + i];
    __syncthreads();
    unsigned ra[4], rb[2], t = threadIdx.x;
    unsigned sa = __cvta_generic_to_shared(&a[t % 16 * 16 + t / 16 * 8]);
    unsigned sb = __cvta_generic_to_shared(&b[t % 8 * 16 + t / 8 % 2 * 8]);
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(ra[0]), "=r"(ra[1]), "=r"(ra[2]), "=r"(ra[3]) : "r"(sa));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];" : "=r"(rb[0]), "=r"(rb[1]) : "r"(sb));
    float d[4] = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
    for (int i = 0; i < 4; i++) out[(t / 4 + 8 * (i / 2)) * 8 + 2 * (t % 4) + i % 2] = d[i];
}

extern "C" __global__ void wide(const unsigned long long *in, unsigned long long *out) {
    unsigned long long x = in[threadIdx.x], y = in[threadIdx.x ^ 1] | 1;
    unsigned __int128 p = (unsigned __int128)x * y + x;
    out[threadIdx.x] = (unsigned long long)(p >> 64) ^ (unsigned long long)(p / (y | 0x100000000ull))
        ^ (unsigned long long)(p % (x | 3)) ^ (x % y) ^ (unsigned long long)__mul64hi((long long)x, (long long)y);
}
