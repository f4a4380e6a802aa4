//! Builds a GEMM, compiles it for Hopper and prints the PTX.
