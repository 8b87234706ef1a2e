// Somebody outside: sends one signal to the first child of this process that has worked for some time. In:
// which signal, after how much processor time. Used by the fault run to kill and stop honest kernels'
// workers.
#pragma once

#include <atomic>
#include <thread>

#include "base/clock.h"

namespace kw {

class Saboteur {
 public:
  Saboteur(int signal, std::chrono::microseconds worked);
  ~Saboteur();  // gives up
  Saboteur(const Saboteur&) = delete;
  Saboteur& operator=(const Saboteur&) = delete;
  bool has_struck() const { return struck_.load(); }

 private:
  void watch(int signal, std::chrono::microseconds worked);
  std::atomic<bool> stop_{false}, struck_{false};
  std::thread thread_;
};

}  // namespace kw
