// Row lists: selections that operators hand out, and the rows that they refuse.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/operator.h"

namespace caudal {

inline SelectionPtr MakeSelection(std::vector<uint16_t> rows) {
  return SelectionPtr(new Selection{std::move(rows)});
}

// Row kinds to be filled and handed to a chunk.
using MutableRowKindsPtr = decltype(std::make_unique<std::vector<RowKind>>());
inline MutableRowKindsPtr MakeRowKinds() { return std::make_unique<std::vector<RowKind>>(); }

// Rejects the rows, if there are any, for one common reason.
inline void RejectRows(const Chunk& chunk, std::vector<uint16_t> rows, Fate fate, std::string_view name,
                       std::vector<std::string> messages, Output& out) {
  if (rows.empty()) return;
  out.Reject(chunk.WithSelection(MakeSelection(std::move(rows))), {fate, name, std::move(messages)});
}

inline void RejectLate(const Chunk& chunk, std::vector<uint16_t> rows, Output& out) {
  RejectRows(chunk, std::move(rows), Fate::kLate, "watermark", {"the row is behind its split's watermark"},
             out);
}
inline void RejectNullTime(const Chunk& chunk, std::vector<uint16_t> rows, Output& out) {
  RejectRows(chunk, std::move(rows), Fate::kDead, "contract", {"the row's time attribute is NULL"}, out);
}

}  // namespace caudal
