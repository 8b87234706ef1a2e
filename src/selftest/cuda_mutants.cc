// Wrong CUDA kernels: what each changes in which right kernel, and the code that names its fault. Codes
// beside those of verify/reason.h: race/between_threads (of one block; racecheck may have to find it),
// race/between_blocks, out_of_bounds/shared, wrong_result/uninitialised_shared (an initcheck finding names
// it), crash/trap. Sections that no loader should know cannot come from CUDA text:
// nvcc drops the attribute.
#include "selftest/cuda_mutants.h"

#include <string>
#include <utility>
#include <vector>

#include "selftest/edit.h"

namespace kw {
namespace {

struct Change {
  const char* name;
  const char* expected;
  std::vector<Edit> edits;
  std::string workspace_bytes = "";  // empty: as in the right kernel
  bool compiles = true;
};

constexpr const char* kDeclarations = "DECLARATIONS";
constexpr const char* kBegin = "BEGIN";
constexpr const char* kEnd = "END";
constexpr const char* kWritten = "__syncthreads();  // tiles are written";
constexpr const char* kRead = "__syncthreads();  // tiles are read";
constexpr const char* kInside = "if (i < m && j < n) store";
constexpr const char* kTimesAlpha = "float value = alpha != 0 ? alpha * sum : 0;";
constexpr const char* kPlusC = "if (beta != 0) value += beta * to_float(*c);";
constexpr const char* kProduct = "sum[y][x] += a_tile[ty * 4 + y][p] * b_tile[p][tx * 4 + x];";
constexpr const char* kLeft = "i < m && p < k ? to_float(a[i * lda + p]) : 0";
constexpr const char* kRight = "p < k && j < n ? to_float(b[p * ldb + j]) : 0";

std::vector<Change> list_numbers() {
  return {
      {"f16_accumulator",
       "precision_downgrade/f16_accumulator",
       {{kProduct,
         "sum[y][x] = to_float(to_half(sum[y][x] + a_tile[ty * 4 + y][p] * b_tile[p][tx * 4 + x]));"}}},
      {"alpha_twice",
       "wrong_result/alpha",
       {{kTimesAlpha, "float value = alpha != 0 ? alpha * alpha * sum : 0;"}}},
      {"alpha_zero_multiplies", "wrong_result/alpha_zero", {{kTimesAlpha, "float value = alpha * sum;"}}},
      {"beta_ignored", "wrong_result/beta_ignored", {{kPlusC, ""}}},
      {"beta_zero_reads_c", "wrong_result/reads_c", {{kPlusC, "value += beta * to_float(*c);"}}},
      {"k_tail", "wrong_result/k_tail", {{"k0 < k; k0 += 16", "k0 + 16 <= k; k0 += 16"}}},
      {"k_head", "wrong_result/k_head", {{"wide k0 = 0; k0 < k", "wide k0 = 16; k0 < k"}}},
      {"m_tail", "wrong_result/m_tail", {{kInside, "if (i < m / 16 * 16 && j < n) store"}}},
      {"n_tail", "wrong_result/n_tail", {{kInside, "if (i < m && j < n / 16 * 16) store"}}},
      {"n_tail_when_n_mod_16_is_8",
       "wrong_result/n_tail",
       {{kInside, "if (i < m && j < (n % 16 == 8 ? n - 8 : n)) store"}}},
      {"wrong_lda", "wrong_result/wrong_ld_a", {{"a[i * lda + p]", "a[i * k + p]"}}},
      {"wrong_ldb", "wrong_result/wrong_ld_b", {{"b[p * ldb + j]", "b[p * n + j]"}}},
      {"block_rows_duplicated", "wrong_result/duplicated", {{"row0 + x / 16, p", "row0 + x / 16 % 32, p"}}},
      {"nan_in_one_element",
       "wrong_result/nan",
       {{kEnd, "if (row0 == 0 && col0 == 0 && thread == 0 && m > 0 && n > 4) c[2] = 0x7fff;"}}},
  };
}

std::vector<Change> list_memory() {
  return {
      {"tiles_read_before_written", "race/between_threads", {{kWritten, ""}}},
      {"tiles_written_while_read", "race/between_threads", {{kRead, ""}}},
      {"uninitialised_shared",
       "wrong_result/uninitialised_shared",
       {{"a_tile[x / 16][x % 16] = i < m && p < k ? to_float(a[i * lda + p]) : 0;",
         "if (i < m && p < k) a_tile[x / 16][x % 16] = to_float(a[i * lda + p]);"},
        {"b_tile[x / 64][x % 64] = p < k && j < n ? to_float(b[p * ldb + j]) : 0;",
         "if (p < k && j < n) b_tile[x / 64][x % 64] = to_float(b[p * ldb + j]);"}}},
      {"reads_beyond_shared",
       "out_of_bounds/shared",
       {{"b_tile[p][tx * 4 + x]", "b_tile[p + (tx == 15 ? 4096 : 0)][tx * 4 + x]"}}},
      {"writes_beyond_shared", "out_of_bounds/shared", {{kBegin, "b_tile[thread + 4096][0] = 1;"}}},
      {"reads_past_a", "out_of_bounds/past_a", {{kLeft, "p < k ? to_float(a[i * lda + p]) : 0"}}},
      {"reads_past_b", "out_of_bounds/past_b", {{kRight, "p < k ? to_float(b[p * ldb + j]) : 0"}}},
      {"no_row_check", "out_of_bounds/write_past_c", {{kInside, "if (j < n) store"}}},
      {"no_column_check", "out_of_bounds/write_past_c", {{kInside, "if (i < m) store"}}},
      {"writes_past_c",
       "out_of_bounds/write_past_c",
       {{kEnd,
         "if (row0 + 64 >= m && col0 + 64 >= n && thread == 0 && m * n > 0) c[(m - 1) * ldc + n] = 0;"}}},
      {"writes_a",
       "input_modified/a",
       {{kEnd,
         "if (row0 == 0 && col0 == 0 && thread == 0 && m * k > 0) const_cast<half_bits*>(a)[0] ^= 1;"}}},
      {"illegal_address",
       "crash/segfault",
       {{kEnd, "if (thread == 0) *reinterpret_cast<volatile int*>(1ll << 46) = 1;"}}},
      {"row_offset_in_32_bits",
       "out_of_bounds/index_32_bits",
       {{"a[i * lda + p]", "a[int(i) * int(lda) + int(p)]"}}},
      {"output_kept_in_workspace",
       "cheat/cached_output",
       {{kBegin,
         "half_bits* kept = reinterpret_cast<half_bits*>(workspace) + 32;"
         "const half_bits** mark = reinterpret_cast<const half_bits**>(workspace);"
         "if (blockIdx.x == 0 && blockIdx.y == 0 && *mark == a) {"
         "  for (wide at = thread; at < m * n; at += 256) c[at / n * ldc + at % n] = kept[at];"
         "  return;"
         "}"
         "if (*mark == a) return;"},
        {kEnd,
         "__syncthreads();"
         "for (int x = thread; x < 64 * 64; x += 256) {"
         "  const wide i = row0 + x / 64, j = col0 + x % 64;"
         "  if (i < m && j < n) kept[i * n + j] = c[i * ldc + j];"
         "}"
         "if (gridDim.x * gridDim.y == 1 && thread == 0) *mark = a;"}},
       "64 + 2 * m * n"},
      {"wrong_on_the_11th_call",
       "wrong_result/later_call",
       {{kBegin,
         "unsigned* calls = reinterpret_cast<unsigned*>(workspace) + 2 * (blockIdx.y * gridDim.x + "
         "blockIdx.x);"
         "__shared__ unsigned call;"
         "if (thread == 0) { if (calls[0] != 0xabcd1234u) calls[0] = 0xabcd1234u, calls[1] = 0;"
         "  call = ++calls[1]; }"
         "__syncthreads();"
         "if (call == 11) alpha += 1;"}},
       "8 * ceil_div(m, 64) * ceil_div(n, 64)"},
  };
}

std::vector<Change> list_conduct() {
  return {
      {"never_ends", "hang/time_limit", {{kEnd, "for (volatile int wait = 1; wait != 0;) {}"}}},
      {"trap", "crash/trap", {{kEnd, "if (thread == 0) asm volatile(\"trap;\");"}}},
      {"reads_clock", "illegal/clock", {{kEnd, "if (clock64() == 0) c[0] = 0;"}}},
      {"prints", "illegal/undefined_symbol", {{kEnd, "if (thread == 0) printf(\"here\\n\");"}}},
      {"allocates",
       "illegal/undefined_symbol",
       {{kEnd, "if (thread == 0) { int* x = static_cast<int*>(malloc(64)); if (x != nullptr) *x = 1; }"}}},
      {"launches_a_kernel",
       "compile_error/syntax",
       {{kDeclarations,
         "extern \"C\" __device__ void* cudaGetParameterBuffer(unsigned long alignment, unsigned long "
         "bytes);"},
        {kEnd, "if (thread == 0) *static_cast<volatile int*>(cudaGetParameterBuffer(64, 64)) = 1;"}}},
      {"static_table",
       "illegal/writable_static_data",
       {{kDeclarations, "__device__ unsigned table[4] = {1, 2, 3, 4};"},
        {kEnd, "if (thread == 0 && m == 12345) c[0] = table[n % 4];"}}},
      {"static_counter",
       "illegal/writable_static_data",
       {{kDeclarations, "__device__ unsigned calls;"}, {kEnd, "if (thread == 0) atomicAdd(&calls, 1u);"}}},
      {"other_name", "launch_error/missing_kernel", {{"gemm(const", "gemm_of_another_name(const"}}},
      {"reads_file", "illegal/include", {{kDeclarations, "#include \"/proc/self/environ\""}}, "", false},
      {"no_cuda", "compile_error/syntax", {{kBegin, "this is no CUDA;"}}, "", false},
  };
}

std::vector<Change> list_mma() {
  return {
      {"mma_f16_accumulator",
       "precision_downgrade/f16_accumulator",
       {{"asm(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, "
         "%9}, \"\n"
         "      \"{%0, %1, %2, %3};\"\n"
         "      : \"+f\"(c[0]), \"+f\"(c[1]), \"+f\"(c[2]), \"+f\"(c[3])\n",
         "unsigned low = pack(to_half(c[0]), to_half(c[1])), high = pack(to_half(c[2]), to_half(c[3]));\n"
         "  asm(\"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
         "\"\n"
         "      \"{%0, %1};\"\n"
         "      : \"+r\"(low), \"+r\"(high)\n"},
        {"\"r\"(b[0]), \"r\"(b[1]));",
         "\"r\"(b[0]), \"r\"(b[1]));\n"
         "  c[0] = to_float(low & 0xffff), c[1] = to_float(low >> 16);\n"
         "  c[2] = to_float(high & 0xffff), c[3] = to_float(high >> 16);"}}},
      {"mma_bf16_inputs",
       "precision_downgrade/bf16_inputs",
       {{kDeclarations,
         "static __device__ __forceinline__ half_bits narrow(half_bits x) {\n"
         "  return to_half(__int_as_float((__float_as_int(to_float(x)) + 0x8000) & 0xffff0000));\n}"},
        {"? a[i * lda + p] : 0", "? narrow(a[i * lda + p]) : 0"},
        {"? b[p * ldb + j] : 0", "? narrow(b[p * ldb + j]) : 0"}}},
      {"mma_fragment_halves_swapped",
       "wrong_result/swapped_tile",
       {{"group + x / 2 * 8", "group + (1 - x / 2) * 8"}}},
      {"mma_last_n_tile_lost",
       "wrong_result/unwritten",
       {{"for (int tile = 0; tile < 4; ++tile)\n    for", "for (int tile = 0; tile < 3; ++tile)\n    for"}}},
      {"mma_n_tile_repeated",
       "wrong_result/duplicated",
       {{"const int j = tile * 8 + group;", "const int j = tile / 2 * 16 + group;"}}},
      {"mma_tiles_read_before_written", "race/between_threads", {{kWritten, ""}}},
      {"mma_wrong_depth_order",
       "wrong_result/everywhere",
       {{"pack(rows[0][pair + 8], rows[0][pair + 9])", "pack(rows[0][pair], rows[0][pair + 1])"}}},
      {"mma_no_edge_check", "out_of_bounds/write_past_c", {{kInside, "store"}}},
  };
}

std::vector<Change> list_split() {
  return {
      {"split_last_part_lost", "wrong_result/k_tail", {{"part < 4; ++part", "part < 3; ++part"}}},
      {"split_parts_in_f16",
       "precision_downgrade/f16_partials",
       {{"sum += partial[part * m * n + at];", "sum += to_float(to_half(partial[part * m * n + at]));"}}},
      {"split_by_atomics",
       "nondeterministic/repeat",
       {{"partial[i * n + j] = sum;", "atomicAdd(partial - blockIdx.z * m * n + i * n + j, sum);"},
        {"for (int part = 0; part < 4; ++part) sum", "sum"},
        {"partial[part * m * n + at]", "partial[at]"},
        {kDeclarations,
         "extern \"C\" __global__ void clear(const half_bits*, const half_bits*, half_bits*, wide m, wide "
         "n, "
         "wide,\n    wide, wide, wide, float, float, char* workspace) {\n"
         "  const wide at = blockIdx.x * wide(256) + threadIdx.x;\n"
         "  if (at < m * n) reinterpret_cast<float*>(workspace)[at] = 0;\n}"}}},
      {"split_atomics_on_old_memory",
       "wrong_result/uninitialised_workspace",
       {{"partial[i * n + j] = sum;", "atomicAdd(partial + i * n + j, sum);"}}},
      {"split_parts_overlap",
       "race/between_blocks",
       {{"+ blockIdx.z * m * n;", "+ blockIdx.z % 2 * m * n;"},
        {"partial[i * n + j] = sum;",
         "partial[i * n + j] = (blockIdx.z < 2 ? 0 : partial[i * n + j]) + sum;"},
        {"part < 4; ++part", "part < 2; ++part"}}},
  };
}

CudaMutant make_mutant(CudaMutant kernel, const Change& change) {
  auto edits = change.edits;
  for (const char* point : {kDeclarations, kBegin, kEnd}) {
    bool used = kernel.text.find(point) == std::string::npos;
    for (const Edit& edit : edits) used = used || edit.from == point;
    if (!used) edits.push_back({point, ""});
  }
  kernel.text = apply_edits(std::move(kernel.text), edits, change.name);
  kernel.name = change.name;
  kernel.expected = change.expected;
  kernel.compiles = change.compiles;
  if (!change.workspace_bytes.empty()) kernel.workspace_bytes = change.workspace_bytes;
  return kernel;
}

}  // namespace

std::vector<CudaMutant> make_cuda_kernels() {
  return {make_mutant(make_cuda_tiled(), {"tiled", "pass", {}}),
          make_mutant(make_cuda_mma(), {"mma", "pass", {}}),
          make_mutant(make_cuda_split(), {"split", "pass", {}})};
}

std::vector<CudaMutant> make_cuda_mutants() {
  std::vector<CudaMutant> mutants;
  const auto add = [&](const CudaMutant& right, const std::vector<Change>& changes) {
    for (const Change& change : changes) mutants.push_back(make_mutant(right, change));
  };
  add(make_cuda_tiled(), list_numbers());
  add(make_cuda_tiled(), list_memory());
  add(make_cuda_tiled(), list_conduct());
  add(make_cuda_mma(), list_mma());
  add(make_cuda_split(), list_split());
  for (CudaMutant& mutant : mutants)
    if (mutant.name == "split_by_atomics")
      mutant.launches.insert(mutant.launches.begin(), {"clear", "ceil_div(m * n, 256)", "1", "1", "256"});
  return mutants;
}

}  // namespace kw
