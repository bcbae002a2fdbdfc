// ChangeBuilder: rows of a changelog, made out of order, into chunks in order.
//
// Each row made is tagged with the place in the input that it answers to; Emit sorts by that, stably. Owned
// by one operator.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "api/operator.h"
#include "data/column_builder.h"
#include "data/schema.h"

namespace caudal {

class ChangeBuilder {
 public:
  // Rows that may be pending at most.
  static constexpr int32_t kMost = Chunk::kMaxRows;

  // A trailing $clock of `output` is filled by Emit.
  explicit ChangeBuilder(const Schema& output);

  // The columns of `output`, $clock left out: the caller appends one value to each, then calls Close.
  ColumnBuilder* columns() { return builders_.data(); }
  size_t column_count() const { return builders_.size(); }
  void Close(RowKind kind, int32_t place) {
    kinds_.push_back(kind);
    places_.push_back(place);
  }
  int32_t size() const { return static_cast<int32_t>(kinds_.size()); }
  bool empty() const { return kinds_.empty(); }
  // One chunk, if there are rows. `clock`: the last watermark that was sent.
  void Emit(int64_t clock, Output& out);

 private:
  std::vector<ColumnBuilder> builders_;
  std::vector<RowKind> kinds_;
  std::vector<int32_t> places_;
  Type clock_type_;
  bool has_clock_;
};

}  // namespace caudal
