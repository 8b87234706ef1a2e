// CUDA kernels with a known verdict, as text: three right f16 GEMMs (nn, f32 accumulate) and wrong ones as
// changes to them. Data for a machine with a GPU; nothing here compiles or runs them. Their arguments: a, b,
// c, m, n, k, lda, ldb, ldc, alpha, beta, workspace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kw {

// One kernel of a call; launches run in order on one stream. Grid sizes are launch-record arithmetic over m,
// n, k.
struct CudaMutantLaunch {
  std::string kernel;
  std::string grid_x, grid_y = "1", grid_z = "1";
  std::string block_x;
  std::string smem_bytes = "0";  // dynamic shared memory
};

struct CudaMutant {
  std::string name;
  std::string text;  // self-contained, no includes
  std::vector<CudaMutantLaunch> launches;
  std::string workspace_bytes = "0";
  std::string expected = "pass";  // Verdict::code()
  bool compiles = true;           // nvcc takes it; else refused before or by the compiler
};

// The right ones: tiled through shared memory; mma.sync m16n8k16; split-k with a second kernel that joins.
[[nodiscard]] std::vector<CudaMutant> make_cuda_kernels();
[[nodiscard]] std::vector<CudaMutant> make_cuda_mutants();

// What both are made from: kernels with the words DECLARATIONS, BEGIN and END where mutants put something in.
[[nodiscard]] CudaMutant make_cuda_tiled();
[[nodiscard]] CudaMutant make_cuda_mma();
[[nodiscard]] CudaMutant make_cuda_split();

}  // namespace kw
