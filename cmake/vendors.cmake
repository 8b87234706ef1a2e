# The LIBXSMM plug-in: Debian ships LIBXSMM as a static library only, so it is wrapped into a shared one that is loaded
# at run time (src/target/cpu/vendor_xsmm.cc). Left out, with a line that says so, where libxsmm-dev is missing.
find_path(KW_XSMM_INCLUDE libxsmm.h)
find_library(KW_XSMM_LIBRARY NAMES libxsmm.a)
find_library(KW_XSMM_NOBLAS_LIBRARY NAMES libxsmmnoblas.a)
if(KW_XSMM_INCLUDE AND KW_XSMM_LIBRARY AND KW_XSMM_NOBLAS_LIBRARY)
  add_library(kernelwright_xsmm MODULE ${CMAKE_SOURCE_DIR}/vendor/xsmm/xsmm_plugin.c)
  set_target_properties(kernelwright_xsmm PROPERTIES
    C_VISIBILITY_PRESET hidden
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  target_include_directories(kernelwright_xsmm PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_include_directories(kernelwright_xsmm SYSTEM PRIVATE ${KW_XSMM_INCLUDE})
  # --exclude-libs: LIBXSMM's symbols, among them BLAS names, stay inside.
  target_link_libraries(kernelwright_xsmm PRIVATE ${KW_XSMM_LIBRARY} ${KW_XSMM_NOBLAS_LIBRARY}
    Threads::Threads ${CMAKE_DL_LIBS} m -Wl,--exclude-libs,ALL)
  install(TARGETS kernelwright_xsmm LIBRARY DESTINATION lib/kernelwright)
  if(TARGET target_test)
    add_dependencies(target_test kernelwright_xsmm)
  endif()
else()
  message(STATUS "LIBXSMM not found: its baseline is left out (Debian package libxsmm-dev)")
endif()
# The toolkit's headers, where they are installed: only a test reads them, to hold our own declarations against them.
find_path(KW_CUBLAS_INCLUDE cublasLt.h PATHS /usr/local/cuda/include $ENV{CUDA_HOME}/include)
if(TARGET target_test AND KW_CUBLAS_INCLUDE)
  target_include_directories(target_test SYSTEM PRIVATE ${KW_CUBLAS_INCLUDE})
endif()
