/* The C interface between vendor_xsmm.cc and the plug-in library libkernelwright_xsmm.so (vendor/xsmm), which
 * wraps LIBXSMM's static library. Plain C: the plug-in is compiled as C and loaded at run time. */
#ifndef KW_TARGET_CPU_VENDOR_XSMM_PLUGIN_H
#define KW_TARGET_CPU_VENDOR_XSMM_PLUGIN_H

#ifdef __cplusplus
extern "C" {
#endif

/* Raised with every change of this file; both sides compare it. */
#define KW_XSMM_INTERFACE 1

/* C = op(A) * B + beta * C, row-major f32, alpha = 1. */
struct KwXsmmGemm {
  int m, n, k;
  int lda, ldb, ldc; /* elements between rows as stored */
  int a_transposed;  /* A stored (k,m) */
  int beta;          /* 0 or 1 */
};

/* B before A: LIBXSMM is column-major and computes C^T = B^T A^T. */
typedef void (*kw_xsmm_kernel)(const float* b, const float* a, float* c);

int kw_xsmm_interface(void);
/* "1.17" */
const char* kw_xsmm_version(void);
/* Instruction set LIBXSMM generates for: "hsw", "skx", "cpx". */
const char* kw_xsmm_instruction_set(void);
/* Generates the kernel; null when LIBXSMM cannot. It lives as long as the process; there is nothing to free.
 */
kw_xsmm_kernel kw_xsmm_make_kernel(const struct KwXsmmGemm* gemm);

#ifdef __cplusplus
}
#endif

#endif
