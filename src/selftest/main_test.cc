// Entry of selftest's test program: it is also the worker program of the batteries that its tests make.
#include <gmock/gmock.h>

#include <cstring>

#include "target/cpu/worker.h"

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], kw::kWorkerArgument) == 0) return kw::run_worker();
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
