// OnlySegment: a snapshot that is small enough to be one segment, or nothing.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "state/state_table.h"

namespace caudal {

inline std::string OnlySegment(StateTable& table, StateTable::SnapshotKind kind) {
  std::string segment = table.NextSegment(kind);
  if (!segment.empty()) {
    EXPECT_EQ(table.NextSegment(kind), "");
  }
  return segment;
}

}  // namespace caudal
