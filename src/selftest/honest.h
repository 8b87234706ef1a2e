// Right free-form kernels by style. Put together by make_honest_kernels; none may be rejected.
#pragma once

#include <string>
#include <vector>

#include "selftest/corpus.h"

namespace kw {

// `body` behind a struct Gemm with operands, sizes and scalars under their usual names, A(i, p) and B(p, j)
// by layout, store(i, j, sum) = C; least(x, y).
[[nodiscard]] CorpusKernel make_free_kernel(std::string name, const std::string& body,
                                            Layout layout = Layout::kNN);
// The body of gemm with `item` = 8 rows: `g`, first, last are at hand.
[[nodiscard]] CorpusKernel make_row_kernel(std::string name, const std::string& body,
                                           Layout layout = Layout::kNN);

void add_loop_orders(std::vector<CorpusKernel>& kernels);
void add_sums(std::vector<CorpusKernel>& kernels);  // other roundings of the sum over k
void add_vectors(std::vector<CorpusKernel>& kernels);
void add_splits(std::vector<CorpusKernel>& kernels);     // work items of every kind
void add_memory(std::vector<CorpusKernel>& kernels);     // workspace, scratch, tables
void add_contracts(std::vector<CorpusKernel>& kernels);  // domains, declared non-determinism
void add_printed(std::vector<CorpusKernel>& kernels);    // our own family

}  // namespace kw
