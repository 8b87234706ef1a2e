# The portable program: static archives in place of shared libraries, libstdc++ and libgcc included. glibc stays
# shared, because libcuda, NVRTC and the vendors' libraries are loaded at run time.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
set(OPENSSL_USE_STATIC_LIBS TRUE)
add_link_options(-static-libstdc++ -static-libgcc)

# Makes an imported target of pkg-config stand for the archive.
function(link_statically target name)
  find_library(archive_${name} lib${name}.a REQUIRED)
  set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES ${archive_${name}})
endfunction()
