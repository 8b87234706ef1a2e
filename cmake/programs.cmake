# The command-line program, vendor plug-ins, cross-folder tests and installation.
if(EXISTS ${CMAKE_SOURCE_DIR}/src/cli/main.cc)
  kw_module(cli DEPENDS kw_loop CLI11::CLI11)
endif()
