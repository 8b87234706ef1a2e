// A candidate's cubin in the worker: functions with their attributes, parameters and tensor maps for every
// operand set, launches in order. See resident.h.
#include <algorithm>
#include <array>
#include <cstring>

#include "target/cuda/launch_text.h"
#include "target/cuda/resident.h"

namespace kw::cuda {
namespace {

constexpr size_t kSlotBytes = 128;  // of one parameter: the largest is a tensor map
constexpr int64_t kDefaultSharedBytes = 48 << 10;
constexpr int64_t kPortableCluster = 8;

int tensor_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF16:
      return kTensorF16;
    case Dtype::kBf16:
      return kTensorBf16;
    case Dtype::kF32:
      return kTensorF32;
    case Dtype::kF64:
      return kTensorF64;
  }
  return kTensorF32;
}

int swizzle_of(int64_t bytes) {
  switch (bytes) {
    case 32:
      return kSwizzle32;
    case 64:
      return kSwizzle64;
    case 128:
      return kSwizzle128;
    default:
      return kSwizzleNone;
  }
}

struct alignas(64) Slot {
  std::byte bytes[kSlotBytes] = {};
};

// One kernel with the parameters of every set.
struct BoundKernel {
  BoundLaunch launch;
  Function function = nullptr;
  std::vector<Slot> slots;        // [set * arguments + argument]
  std::vector<void*> parameters;  // the same, as the driver wants them
};

template <class T>
void put(Slot& slot, const T& value) {
  static_assert(sizeof value <= kSlotBytes);
  std::memcpy(slot.bytes, &value, sizeof value);
}

class Kernels final : public Callable {
 public:
  explicit Kernels(const Gpu& gpu) : gpu_(gpu) {}
  ~Kernels() override {
    if (module_ != nullptr) gpu_.driver().module_unload(module_);
  }
  [[nodiscard]] Done load(const std::string& cubin) {
    return gpu_.check(gpu_.driver().module_load_data(&module_, cubin.data()), "load the module");
  }
  [[nodiscard]] Done add(const Block& block, BoundLaunch launch, const std::vector<Dtype>& dtypes,
                         DevicePointer workspace, Json& facts);
  [[nodiscard]] Done enqueue(int set, Stream stream) override;

 private:
  [[nodiscard]] Done set_attributes(const BoundKernel& kernel) const;
  [[nodiscard]] Done fill(Slot& slot, const BoundArgument& argument, const Block& block, int set,
                          const std::vector<Dtype>& dtypes, DevicePointer workspace) const;
  const Gpu& gpu_;
  Module module_ = nullptr;
  std::vector<std::unique_ptr<BoundKernel>> kernels_;
};

Done Kernels::set_attributes(const BoundKernel& kernel) const {
  const GridNumbers& grid = kernel.launch.grid;
  const auto set = [&](FunctionAttribute attribute, int64_t value, const char* what) {
    return gpu_.check(
        gpu_.driver().function_set_attribute(kernel.function, attribute, static_cast<int>(value)), what);
  };
  if (grid.shared_bytes > kDefaultSharedBytes)
    KW_GPU(set(kFunctionMaxDynamicSharedBytes, grid.shared_bytes, "ask for so much shared memory"));
  if (grid.cluster[0] * grid.cluster[1] * grid.cluster[2] > kPortableCluster)
    KW_GPU(set(kFunctionNonPortableCluster, 1, "ask for a cluster of more than 8"));
  if (grid.carveout_percent >= 0)
    KW_GPU(set(kFunctionCarveout, grid.carveout_percent, "prefer this share of shared memory"));
  return {};
}

Done Kernels::fill(Slot& slot, const BoundArgument& argument, const Block& block, int set,
                   const std::vector<Dtype>& dtypes, DevicePointer workspace) const {
  using Kind = Argument::Kind;
  switch (argument.kind) {
    case Kind::kOperand:
      put(slot, block.address(set, argument.operand));
      return {};
    case Kind::kWorkspace:
      put(slot, workspace + static_cast<DevicePointer>(argument.value));
      return {};
    case Kind::kInt32:
      put(slot, static_cast<int32_t>(argument.value));
      return {};
    case Kind::kInt64:
      put(slot, argument.value);
      return {};
    case Kind::kFloat32:
      put(slot, static_cast<float>(argument.scalar));
      return {};
    case Kind::kTensorMap:
      break;
  }
  const TensorMapNumbers& map = argument.map;
  std::array<uint64_t, 5> sizes = {}, strides = {};
  std::array<uint32_t, 5> box = {}, element_strides = {1, 1, 1, 1, 1};
  std::copy(map.sizes.begin(), map.sizes.end(), sizes.begin());
  std::copy(map.stride_bytes.begin(), map.stride_bytes.end(), strides.begin());
  std::copy(map.box.begin(), map.box.end(), box.begin());
  EncodedTensorMap encoded;
  const int type = tensor_type(dtypes[static_cast<size_t>(argument.operand)]);
  KW_GPU(gpu_.check(
      gpu_.driver().tensor_map_encode(&encoded, type, static_cast<uint32_t>(map.sizes.size()),
                                      reinterpret_cast<void*>(block.address(set, argument.operand)),
                                      sizes.data(), strides.data(), box.data(), element_strides.data(), 0,
                                      swizzle_of(map.swizzle_bytes), kL2Promotion256, 0),
      "build a tensor map"));
  put(slot, encoded);
  return {};
}

Done Kernels::add(const Block& block, BoundLaunch launch, const std::vector<Dtype>& dtypes,
                  DevicePointer workspace, Json& facts) {
  auto kernel = std::make_unique<BoundKernel>();
  const Driver& driver = gpu_.driver();
  KW_GPU(gpu_.check(driver.module_get_function(&kernel->function, module_, launch.kernel.c_str()),
                    "find the kernel"));
  kernel->launch = std::move(launch);
  KW_GPU(set_attributes(*kernel));
  const auto read = [&](FunctionAttribute attribute) {
    int value = 0;
    return driver.function_get_attribute(&value, attribute, kernel->function) == 0 ? value : -1;
  };
  facts.push_back({{"kernel", kernel->launch.kernel},
                   {"registers", read(kFunctionRegisters)},
                   {"local_bytes", read(kFunctionLocalBytes)},
                   {"shared_bytes", read(kFunctionSharedBytes) + kernel->launch.grid.shared_bytes}});
  const size_t sets = static_cast<size_t>(block.layout().sets), count = kernel->launch.arguments.size();
  kernel->slots.resize(sets * count);
  for (size_t at = 0; at < kernel->slots.size(); ++at) {
    KW_GPU(fill(kernel->slots[at], kernel->launch.arguments[at % count], block, static_cast<int>(at / count),
                dtypes, workspace));
    kernel->parameters.push_back(kernel->slots[at].bytes);
  }
  kernels_.push_back(std::move(kernel));
  return {};
}

Done Kernels::enqueue(int set, Stream stream) {
  for (const auto& kernel : kernels_) {
    const GridNumbers& grid = kernel->launch.grid;
    if (grid.is_empty()) continue;
    const auto number = [](int64_t value) { return static_cast<unsigned>(value); };
    LaunchAttribute attributes[2];
    LaunchConfig config;
    config.grid_x = number(grid.grid[0]), config.grid_y = number(grid.grid[1]);
    config.grid_z = number(grid.grid[2]);
    config.block_x = number(grid.block[0]), config.block_y = number(grid.block[1]);
    config.block_z = number(grid.block[2]);
    config.shared_bytes = number(grid.shared_bytes);
    config.stream = stream;
    config.attributes = attributes;
    if (grid.cluster[0] * grid.cluster[1] * grid.cluster[2] > 1) {
      LaunchAttribute& attribute = attributes[config.attribute_count++];
      attribute.id = kClusterDimension;
      attribute.value.cluster = {number(grid.cluster[0]), number(grid.cluster[1]), number(grid.cluster[2])};
    }
    if (grid.programmatic) {
      LaunchAttribute& attribute = attributes[config.attribute_count++];
      attribute.id = kProgrammaticSerialization;
      attribute.value.flag = 1;
    }
    const size_t first = static_cast<size_t>(set) * kernel->launch.arguments.size();
    KW_GPU(gpu_.check(
        gpu_.driver().launch_kernel(&config, kernel->function, kernel->parameters.data() + first, nullptr),
        kernel->launch.kernel.c_str()));
  }
  return {};
}

}  // namespace

tl::expected<LoadedKernels, Fault> load_kernels(const Gpu& gpu, const Block& block, const std::string& cubin,
                                                const Json& launches, const std::vector<Dtype>& dtypes,
                                                DevicePointer workspace) {
  auto kernels = std::make_unique<Kernels>(gpu);
  Json facts = Json::array();
  KW_GPU(kernels->load(cubin));
  for (const Json& launch : launches)
    KW_GPU(kernels->add(block, read_bound_launch(launch), dtypes, workspace, facts));
  return LoadedKernels{std::move(kernels), std::move(facts)};
}

}  // namespace kw::cuda
