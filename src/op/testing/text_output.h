// TextOutput: writes down as text what an operator emits and rejects. For tests alone.
//
// `full_after` makes it full that often. Emitted chunks are copied out of their buffers at once, as a lane's
// reader might see them only much later.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "api/operator.h"
#include "op/testing/chunk_text.h"

namespace caudal {

class TextOutput : public Output {
 public:
  void Emit(Chunk chunk) override {
    CHECK(chunk.size() <= Chunk::kMaxRows);
    rows += chunk.size();
    origin = chunk.origin();
    if (keep_text) text += ChunkText(chunk);
    ++chunks;
  }
  void Reject(const Chunk& chunk, Rejection rejection) override {
    text += ChunkText(chunk, fmt::format("{}{{{}}} ", FateName(rejection.fate), rejection.name));
    messages.insert(messages.end(), rejection.messages.begin(), rejection.messages.end());
    places.insert(places.end(), rejection.places.begin(), rejection.places.end());
    for (int32_t i = 0; chunk.origin() != nullptr && i < chunk.size(); ++i) {
      rejected_at.push_back(chunk.origin()->Place(chunk.rows()[i]));
    }
  }
  bool full() const override { return full_after > 0 && chunks >= full_after; }

  std::string text;
  std::vector<std::string> messages;  // of the rows rejected so far
  std::vector<std::string> places;    // theirs in the SQL
  std::vector<std::string> rejected_at;
  ChunkOriginPtr origin;  // of the chunk emitted last
  bool keep_text = true;
  int64_t rows = 0;
  int chunks = 0;
  int full_after = 0;
};

}  // namespace caudal
