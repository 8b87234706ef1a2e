/* LIBXSMM behind four C functions, in a shared library of its own, because Debian has LIBXSMM as a static
 * library only. In: a row-major GEMM. Out: a generated kernel. Loaded by src/target/cpu/vendor_xsmm.cc;
 * computes nothing itself. */
#include "target/cpu/vendor_xsmm_plugin.h"

#include <libxsmm.h>

#define KW_EXPORT __attribute__((visibility("default")))

KW_EXPORT int kw_xsmm_interface(void) { return KW_XSMM_INTERFACE; }

KW_EXPORT const char* kw_xsmm_version(void) { return LIBXSMM_VERSION; }

KW_EXPORT const char* kw_xsmm_instruction_set(void) {
  libxsmm_init();
  return libxsmm_get_target_arch();
}

/* LIBXSMM is column-major: row-major C = A B is column-major C^T = B^T A^T, so our B is its A, and our
 * transposed A its transposed B. */
KW_EXPORT kw_xsmm_kernel kw_xsmm_make_kernel(const struct KwXsmmGemm* gemm) {
  const float alpha = 1, beta = (float)gemm->beta;
  const int flags = gemm->a_transposed ? LIBXSMM_GEMM_FLAG_TRANS_B : LIBXSMM_GEMM_FLAG_NONE;
  const int prefetch = LIBXSMM_GEMM_PREFETCH_NONE;
  libxsmm_init();
  return (kw_xsmm_kernel)libxsmm_smmdispatch(gemm->n, gemm->m, gemm->k, &gemm->ldb, &gemm->lda, &gemm->ldc,
                                             &alpha, &beta, &flags, &prefetch);
}
