// DispatchFixed, DispatchInteger: call a generic lambda with the C++ type behind a Physical.
#pragma once

#include "base/check.h"
#include "data/int128.h"
#include "data/type.h"

namespace caudal {

// `f.template operator()<T>()` for the fixed-width physical types. REQUIRES: it is one of them.
template <typename F>
auto DispatchFixed(Physical physical, F f) {
  switch (physical) {
    case Physical::kBool:
      return f.template operator()<uint8_t>();
    case Physical::kInt8:
      return f.template operator()<int8_t>();
    case Physical::kInt16:
      return f.template operator()<int16_t>();
    case Physical::kInt32:
      return f.template operator()<int32_t>();
    case Physical::kInt64:
      return f.template operator()<int64_t>();
    case Physical::kInt128:
      return f.template operator()<int128_t>();
    case Physical::kFloat:
      return f.template operator()<float>();
    default:
      CHECK(physical == Physical::kDouble);
      return f.template operator()<double>();
  }
}

// The same for whole numbers only.
template <typename F>
auto DispatchInteger(Physical physical, F f) {
  switch (physical) {
    case Physical::kInt8:
      return f.template operator()<int8_t>();
    case Physical::kInt16:
      return f.template operator()<int16_t>();
    case Physical::kInt32:
      return f.template operator()<int32_t>();
    case Physical::kInt128:
      return f.template operator()<int128_t>();
    default:
      CHECK(physical == Physical::kInt64);
      return f.template operator()<int64_t>();
  }
}

}  // namespace caudal
