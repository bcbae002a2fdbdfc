#include "base/env.h"

#include <chrono>

namespace caudal {
namespace {

class RealEnv : public Env {
 public:
  int64_t NowMicros() override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  }
  int64_t SteadyNanos() override {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  }
  uint64_t Random() override {
    thread_local std::mt19937_64 random{std::random_device{}()};
    return random();
  }
};

}  // namespace

Env* Env::Real() {
  static RealEnv* env = new RealEnv();
  return env;
}

}  // namespace caudal
