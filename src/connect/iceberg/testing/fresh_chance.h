// FreshChance: the real clock, and numbers that no other process draws: one that was forked for a test must
// not draw those of its parent, which name files. Any thread. Header only.
#pragma once

#include <random>

#include "base/env.h"

namespace caudal {

class FreshChance : public Env {
 public:
  int64_t NowMicros() override { return Env::Real()->NowMicros(); }
  int64_t SteadyNanos() override { return Env::Real()->SteadyNanos(); }
  uint64_t Random() override {
    std::random_device chance;
    return uint64_t{chance()} << 32 | chance();
  }
};

}  // namespace caudal
