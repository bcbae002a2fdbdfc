// JsonStructure: where the tokens of JSON text begin, found 64 bytes at a time by simdjson's first stage,
// which also checks that the text is UTF-8 and that strings hold no bare control characters.
//
// One thread; reused from text to text. The positions live until the next Index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace caudal {

class JsonStructure {
 public:
  JsonStructure();
  ~JsonStructure();

  // Finds the tokens of `text`: { } [ ] : , the opening quotes of strings, and the first bytes of other
  // scalars. Null, or what is wrong with the text as a whole.
  const char* Index(std::string_view text);

  // Ascending offsets into the text, closed by one more that is text.size().
  const uint32_t* positions() const { return positions_; }
  size_t count() const { return count_; }

 private:
  struct Stage;
  std::unique_ptr<Stage> stage_;
  const uint32_t* positions_ = nullptr;
  size_t count_ = 0;
};

}  // namespace caudal
