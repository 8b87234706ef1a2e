// The one signature of CPU kernels. Pasted in front of every kernel text; also included by the worker that
// calls it. No includes: a kernel is a freestanding object with no undefined symbols but memcpy and memset.
typedef struct kw_call {
  void* const* operand;   // gemm: A, B, C
  const long long* size;  // gemm: m, n, k, lda, ldb, ldc
  const double* scalar;   // gemm: alpha, beta
  char* workspace;        // one block for the call, 64-byte aligned, launch record's workspace_bytes
  char* scratch;          // one block for this pool thread, 64-byte aligned, scratch_bytes
  int threads;            // pool threads; the variable "threads" of the launch record
  int slot;               // this pool thread, 0 <= slot < threads
} kw_call;
// A kernel: extern "C" void NAME(long long item, const kw_call* call), item in [0, items).
