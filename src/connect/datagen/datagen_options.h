// DatagenOptions: how each column of a 'datagen' table is made, from Flink's options "fields.<name>.…".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/table.h"
#include "base/status.h"

namespace caudal {

struct DatagenField {
  Type type;
  bool sequence = false;  // counts from `min` to `max`, then the source ends; else random in between
  double min = 0, max = 0;
  int64_t length = 100;         // of text and bytes
  double null_rate = 0;         // 0 … 1
  int64_t max_past_millis = 0;  // of times: how far behind now at most
};

struct DatagenOptions {
  int64_t rows_per_second = 10'000;
  int64_t number_of_rows = -1;       // -1: no end
  std::vector<DatagenField> fields;  // one a physical column

  static Result<DatagenOptions> From(const Table& table);
};

}  // namespace caudal
