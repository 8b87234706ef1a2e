/* C = alpha * A * B^T + beta * C for row-major A (m x k), B (n x k), C (m x n): one work item is one row of C.
   Try it:
     kernelwright check examples/kernels/dot_nt.c --launch examples/kernels/dot_nt.json --m 17 --n 33 --k 65
   What a kernel gets and may do is in doc/kernel.md. */
void dot_nt(long long item, const kw_call* call) {
  const long long m = call->size[0], n = call->size[1], k = call->size[2];
  const long long lda = call->size[3], ldb = call->size[4], ldc = call->size[5];
  const float* a = (const float*)call->operand[0];
  const float* b = (const float*)call->operand[1];
  float* c = (float*)call->operand[2];
  const float alpha = (float)call->scalar[0], beta = (float)call->scalar[1];
  if (item >= m) return;
  for (long long j = 0; j < n; ++j) {
    float sum = 0;
    for (long long p = 0; p < k; ++p) sum += a[item * lda + p] * b[j * ldb + p];
    float* out = &c[item * ldc + j];
    float product = alpha == 0 ? 0 : alpha * sum;
    *out = beta == 0 ? product : product + beta * *out;
  }
}
