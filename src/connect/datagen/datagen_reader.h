// DatagenReader: makes the rows of a 'datagen' table at their rate.
#pragma once

#include <vector>

#include "api/source.h"
#include "base/env.h"
#include "connect/datagen/datagen_options.h"
#include "data/column_builder.h"

namespace caudal {

class DatagenReader : public SplitReader {
 public:
  // Where a column of the requested schema comes from.
  struct Output {
    Field field;
    int source =
        0;  // position in options.fields; -1 = the row's number ($offset), -2 = 0 ($split), -3 = NULL ($raw)
  };

  DatagenReader(const DatagenOptions* options, std::vector<Output> outputs, Env* env, int64_t next);

  Result<Poll> Next() override;
  Position position() const override;
  int64_t records_passed() const override { return next_ - first_; }
  Backlog backlog() const override { return {.rows = 0}; }
  // Rows there will be; the largest number if there is no end.
  static int64_t TotalRows(const DatagenOptions& options);

 private:
  void Append(const DatagenField& field, size_t column, int64_t row, ColumnBuilder* builder);

  const DatagenOptions* options_;
  std::vector<Output> outputs_;
  Env* env_;
  int64_t total_;
  int64_t next_;
  int64_t first_;  // row that was next at started_nanos_
  int64_t started_nanos_;
};

}  // namespace caudal
