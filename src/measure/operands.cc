// Operands for timing: how many sets, and what is in them. In: workload, device, buffers. Out: filled
// buffers. Equal distribution on both sides of a comparison, never zeros (protocol.md B).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/parallel.h"
#include "base/random.h"
#include "measure/measure.h"

namespace kw {
namespace {

constexpr size_t kBlock = 1 << 16;           // normals drawn once; stays in L2
constexpr size_t kChunk = 1 << 12;           // elements copied from one random place of the block
constexpr size_t kPieceBytes = 1 << 20;      // filled by one thread at a time
constexpr int64_t kPiecesAThread = 4;        // fewer are not worth a thread
constexpr double kDefaultL2Bytes = 2 << 20;  // where the machine does not tell

// To nearest even; what is too small for a normal f16 becomes 0.
uint16_t half_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff;
  if (magnitude < 0x38800000) return static_cast<uint16_t>(sign);
  const uint32_t rounded = magnitude + 0xfff + ((magnitude >> 13) & 1);
  return static_cast<uint16_t>(sign | ((rounded - 0x38000000) >> 13));
}

uint16_t bfloat_bits(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

template <class T>
void append(std::vector<std::byte>& block, T value) {
  const size_t size = block.size();
  block.resize(size + sizeof value);
  std::memcpy(block.data() + size, &value, sizeof value);
}

std::vector<std::byte> make_normal_block(Dtype dtype, uint64_t seed) {
  Random random(seed, 1);
  std::vector<std::byte> block;
  block.reserve((kBlock + kChunk) * static_cast<size_t>(dtype_bytes(dtype)));
  for (size_t i = 0; i < kBlock + kChunk; ++i) {
    const double value = random.normal();
    const auto single = static_cast<float>(value);
    switch (dtype) {
      case Dtype::kF64:
        append(block, value);
        break;
      case Dtype::kF32:
        append(block, single);
        break;
      case Dtype::kF16:
        append(block, half_bits(single));
        break;
      case Dtype::kBf16:
        append(block, bfloat_bits(single));
        break;
    }
  }
  return block;
}

// An operand's elements of all sets, without the gaps between rows, in pieces of at most kPieceBytes.
std::vector<std::span<std::byte>> list_pieces(Buffers& buffers, int index) {
  const Operand& operand = buffers.workload().operands[static_cast<size_t>(index)];
  const auto element_bytes = static_cast<size_t>(dtype_bytes(operand.dtype));
  const bool gapless = operand.ld == operand.cols;
  const int64_t runs = gapless ? 1 : operand.rows;
  const auto run_bytes = static_cast<size_t>(gapless ? operand.span() : operand.cols) * element_bytes;
  std::vector<std::span<std::byte>> pieces;
  for (int set = 0; set < buffers.sets(); ++set) {
    const auto contents = buffers.contents(set, index);
    if (contents.empty()) continue;
    for (int64_t row = 0; row < runs; ++row) {
      const auto run = contents.subspan(static_cast<size_t>(row * operand.ld) * element_bytes, run_bytes);
      for (size_t at = 0; at < run_bytes; at += kPieceBytes)
        pieces.push_back(run.subspan(at, std::min(kPieceBytes, run_bytes - at)));
    }
  }
  return pieces;
}

// Copies chunks from random places of the block, so that no two rows or sets are alike.
void fill_piece(std::span<std::byte> bytes, const std::vector<std::byte>& block, size_t element_bytes,
                Random random) {
  for (size_t at = 0; at < bytes.size();) {
    const size_t size = std::min(bytes.size() - at, kChunk * element_bytes);
    std::memcpy(bytes.data() + at, block.data() + random.below(kBlock) * element_bytes, size);
    at += size;
  }
}

}  // namespace

int plan_sets(const Workload& workload, const DeviceFacts& device) {
  constexpr double kLine = 64, kPage = 4096;
  // On a GPU the sets are the nodes of one graph; where they fit into the cache it is emptied before each
  // replay.
  const bool on_gpu = device.target == "cuda";
  const double max_sets = on_gpu ? kMaxGraphNodes : 4096, max_bytes = on_gpu ? kMaxGpuSetBytes : kMaxSetBytes;
  double footprint = 0, memory = 0;
  for (const Operand& operand : workload.operands) {
    const auto bytes = static_cast<double>(operand.span_bytes());
    footprint += std::ceil(bytes / kLine) * kLine;
    memory += (std::ceil(bytes / kPage) + 1) * kPage;  // with a guard page
  }
  if (footprint == 0 || 2 * memory > max_bytes) return 1;
  const double l2_bytes = device.l2_bytes > 0 ? static_cast<double>(device.l2_bytes) : kDefaultL2Bytes;
  const double wanted = std::max(2.0, std::ceil(4 * l2_bytes / footprint));
  return static_cast<int>(std::min({wanted, max_sets, std::floor(max_bytes / memory)}));
}

void fill_for_timing(Buffers& buffers, uint64_t seed) {
  const auto& operands = buffers.workload().operands;
  std::vector<std::byte> block;
  for (size_t index = 0; index < operands.size(); ++index) {
    const Operand& operand = operands[index];
    const auto element_bytes = static_cast<size_t>(dtype_bytes(operand.dtype));
    if (index == 0 || operand.dtype != operands[index - 1].dtype)
      block = make_normal_block(operand.dtype, seed);
    const auto pieces = list_pieces(buffers, static_cast<int>(index));
    for_ranges(static_cast<int64_t>(pieces.size()), kPiecesAThread, [&](int64_t begin, int64_t end) {
      for (auto at = static_cast<size_t>(begin); at < static_cast<size_t>(end); ++at) {
        if (operand.access == Access::kOut)
          std::memset(pieces[at].data(), 0xff, pieces[at].size());  // NaN in every type
        else
          fill_piece(pieces[at], block, element_bytes, Random(seed, (uint64_t{index} + 1) << 40 | at));
      }
    });
  }
}

}  // namespace kw
