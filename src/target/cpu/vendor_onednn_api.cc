// Binds oneDNN's functions. See vendor_onednn_api.h.
#include "target/cpu/vendor_onednn_api.h"

#include "target/cpu/vendor_library.h"

namespace kw::onednn {
namespace {

void bind_shared(const Library& library, Api& api, std::string& missing) {
  library.bind(api.engine_create, "dnnl_engine_create", missing);
  library.bind(api.engine_destroy, "dnnl_engine_destroy", missing);
  library.bind(api.stream_create, "dnnl_stream_create", missing);
  library.bind(api.stream_wait, "dnnl_stream_wait", missing);
  library.bind(api.stream_destroy, "dnnl_stream_destroy", missing);
  library.bind(api.memory_create, "dnnl_memory_create", missing);
  library.bind(api.memory_destroy, "dnnl_memory_destroy", missing);
  library.bind(api.attr_create, "dnnl_primitive_attr_create", missing);
  library.bind(api.attr_set_post_ops, "dnnl_primitive_attr_set_post_ops", missing);
  library.bind(api.attr_destroy, "dnnl_primitive_attr_destroy", missing);
  library.bind(api.post_ops_create, "dnnl_post_ops_create", missing);
  library.bind(api.post_ops_destroy, "dnnl_post_ops_destroy", missing);
  library.bind(api.primitive_desc_query, "dnnl_primitive_desc_query", missing);
  library.bind(api.primitive_desc_destroy, "dnnl_primitive_desc_destroy", missing);
  library.bind(api.primitive_create, "dnnl_primitive_create", missing);
  library.bind(api.primitive_execute, "dnnl_primitive_execute", missing);
  library.bind(api.primitive_destroy, "dnnl_primitive_destroy", missing);
}

void bind_version_2(const Library& library, Api& api, std::string& missing) {
  library.bind(api.memory_desc_init_v2, "dnnl_memory_desc_init_by_strides", missing);
  library.bind(api.matmul_desc_init_v2, "dnnl_matmul_desc_init", missing);
  library.bind(api.primitive_desc_create_v2, "dnnl_primitive_desc_create", missing);
  library.bind(api.append_sum_v2, "dnnl_post_ops_append_sum", missing);
  library.bind(api.set_output_scales_v2, "dnnl_primitive_attr_set_output_scales", missing);
}

void bind_version_3(const Library& library, Api& api, std::string& missing) {
  library.bind(api.memory_desc_create_v3, "dnnl_memory_desc_create_with_strides", missing);
  library.bind(api.memory_desc_destroy_v3, "dnnl_memory_desc_destroy", missing);
  library.bind(api.matmul_primitive_desc_create_v3, "dnnl_matmul_primitive_desc_create", missing);
  library.bind(api.append_sum_v3, "dnnl_post_ops_append_sum", missing);
  library.bind(api.set_scales_mask_v3, "dnnl_primitive_attr_set_scales_mask", missing);
}

}  // namespace

Result<Api> load_api() {
  const LibrarySource source = {"KERNELWRIGHT_ONEDNN",
                                {"libdnnl.so.2", "libdnnl.so.3", "libdnnl.so"},
                                "install the Debian package libdnnl2 (libdnnl3 on newer systems)"};
  KW_TRY(const Library library, Library::load(source));
  Api api;
  api.path = library.path();
  std::string missing;
  if (!library.bind(api.version, "dnnl_version", missing)) {
    return fail("{} has no {}: not a oneDNN; {}", api.path, missing, source.install);
  }
  api.major = api.version()->major;
  bind_shared(library, api, missing);
  if (api.major == 2) {
    bind_version_2(library, api, missing);
  } else if (api.major == 3) {
    bind_version_3(library, api, missing);
  } else {
    return fail("{} has version {}: 2 and 3 are supported; {}", api.path, api.major, source.install);
  }
  if (!missing.empty()) return fail("{} has no {}: {}", api.path, missing, source.install);
  api.omp_set_num_threads = library.find<void(int)>("omp_set_num_threads");
  api.omp_get_max_threads = library.find<int()>("omp_get_max_threads");
  return api;
}

}  // namespace kw::onednn
