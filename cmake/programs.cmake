# The command-line program, its facts about the build, installation.

file(GLOB cli_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/cli/*.cc)
list(FILTER cli_sources EXCLUDE REGEX "_test\\.cc$")
add_executable(kernelwright ${cli_sources})
target_link_libraries(kernelwright PRIVATE kw_loop kw_ship kw_selftest CLI11::CLI11 PkgConfig::SECCOMP)
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
target_compile_definitions(kernelwright PRIVATE
  KW_COMPILER="${CMAKE_CXX_COMPILER_ID}" KW_BUILD_FLAGS="${CMAKE_CXX_FLAGS_${build_type}}")
set_target_properties(kernelwright PROPERTIES INSTALL_RPATH "$ORIGIN/../lib")
install(TARGETS kernelwright RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATADIR}/kernelwright)
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
