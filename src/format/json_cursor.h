// JsonCursor: walks the tokens that JsonStructure found, one by one, and is strict about each.
//
// A borrowed view for one thread: the text (followed by Buffer::kPadding readable bytes) and the positions
// outlive it. Nothing is allocated. Every call that returns false leaves the cursor where the fault is.
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <cstdint>
#include <string_view>

namespace caudal {

struct JsonScalar {
  enum class Kind : uint8_t { kString, kInteger, kNumber, kTrue, kFalse, kNull };
  Kind kind = Kind::kNull;
  bool escaped = false;   // a string with backslashes in `text`
  std::string_view text;  // what stands between the quotes, or the token itself
};

// True if a string has escapes. Reads up to 15 bytes past the text.
inline bool HasBackslash(std::string_view text) {
#ifdef __SSE2__
  const __m128i backslashes = _mm_set1_epi8('\\');
  const char* at = text.data();
  for (size_t left = text.size();; at += 16, left -= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const int found = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, backslashes));
    if (left <= 16) return (found & ((1 << left) - 1)) != 0;
    if (found != 0) return true;
  }
#else
  return text.find('\\') != std::string_view::npos;
#endif
}

class JsonCursor {
 public:
  static constexpr int kMaxDepth = 1000;  // as Jackson's

  JsonCursor(const char* text, const uint32_t* at, const uint32_t* end) : text_(text), at_(at), end_(end) {}

  bool at_end() const { return at_ == end_; }
  // First byte of the token; 0 at the end.
  char kind() const { return at_ == end_ ? '\0' : text_[*at_]; }
  // Where the token begins. At the end: the text's size.
  uint32_t position() const { return *at_; }
  const char* here() const { return text_ + *at_; }
  // Bytes from the token to the end of the text.
  size_t rest() const { return *end_ - *at_; }
  void Advance() { ++at_; }
  // Where the token before begins. REQUIRES: Advance was called.
  uint32_t before() const { return at_[-1]; }

  // What stands between the quotes of the string here, as it is written; moves past it.
  bool ReadString(std::string_view* raw) {
    const std::string_view token = Token();
    if (token.size() < 2 || token.front() != '"' || token.back() != '"') return false;
    *raw = token.substr(1, token.size() - 2);
    ++at_;
    return true;
  }
  // For loops that keep the place in a register: the places of tokens, and moving to one.
  const char* text() const { return text_; }
  const uint32_t* at() const { return at_; }
  const uint32_t* end() const { return end_; }
  void MoveTo(const uint32_t* at) { at_ = at; }
  // A string, number or literal; moves past it. False for anything else.
  bool ReadScalar(JsonScalar* out) {
    if (kind() == '"') {
      if (!ReadString(&out->text)) return false;
      out->kind = JsonScalar::Kind::kString;
      out->escaped = HasBackslash(out->text);
      return true;
    }
    return ReadUnquoted(out);
  }
  // Moves past one value of any kind, checking all of it; `raw`: its text.
  bool Skip(std::string_view* raw = nullptr);
  // Why Skip failed: the value has more than kMaxDepth levels.
  bool too_deep() const { return too_deep_; }

 private:
  // The token with the white space behind it cut off.
  std::string_view Token() const {
    const char* begin = text_ + *at_;
    const char* end = text_ + at_[1];
    while (end > begin && (end[-1] == ' ' || end[-1] == '\n' || end[-1] == '\r' || end[-1] == '\t')) --end;
    return {begin, static_cast<size_t>(end - begin)};
  }
  bool ReadUnquoted(JsonScalar* out);
  bool SkipContainer();

  const char* text_;
  const uint32_t* at_;
  const uint32_t* end_;  // the position that is the text's size
  bool too_deep_ = false;
};

// True if the text is one JSON number; `integer`: without fraction and exponent.
bool IsJsonNumber(std::string_view text, bool* integer);

// Turns escapes into what they stand for. `out` has room for raw.size() bytes; false if an escape is none or
// stands for half a surrogate pair.
bool UnescapeJson(std::string_view raw, char* out, size_t* size);

}  // namespace caudal
