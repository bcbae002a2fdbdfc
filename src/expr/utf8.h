// Characters of UTF-8 text: code points, as Flink's string functions count them.
//
// Pure inline functions; text that is no valid UTF-8 is counted by its lead bytes and never read past its
// end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace caudal {

inline bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

inline int32_t CharacterCount(std::string_view text) {
  int32_t count = 0;
  for (const char c : text) count += IsContinuation(c) ? 0 : 1;
  return count;
}

// Byte offset of character `index` (0 = the first); text.size() when there are fewer.
inline size_t CharacterOffset(std::string_view text, int64_t index) {
  if (static_cast<uint64_t>(index) >= text.size()) return text.size();
  size_t at = 0;
  while (index > 0 && at < text.size()) {
    ++at;
    while (at < text.size() && IsContinuation(text[at])) ++at;
    --index;
  }
  return at;
}

// The first `count` characters.
inline std::string_view CharacterPrefix(std::string_view text, int64_t count) {
  return text.substr(0, count <= 0 ? 0 : CharacterOffset(text, count));
}

// Takes one code point from the front; 0xFFFD for a broken sequence. REQUIRES: !text->empty().
inline char32_t TakeCharacter(std::string_view* text) {
  const unsigned char lead = static_cast<unsigned char>(text->front());
  size_t length = 1;
  while (length < text->size() && length < 4 && IsContinuation((*text)[length])) ++length;
  char32_t value = 0xFFFD;
  if (lead < 0x80) {
    length = 1;
    value = lead;
  } else if (lead >= 0xC2 && lead < 0xE0 && length >= 2) {
    length = 2;
    value = lead & 0x1F;
  } else if (lead >= 0xE0 && lead < 0xF0 && length >= 3) {
    length = 3;
    value = lead & 0x0F;
  } else if (lead >= 0xF0 && lead < 0xF5 && length >= 4) {
    value = lead & 0x07;
  } else {
    length = 1;
  }
  for (size_t i = 1; i < length; ++i) value = value << 6 | (static_cast<unsigned char>((*text)[i]) & 0x3F);
  text->remove_prefix(length);
  return value;
}

inline void AppendCharacter(char32_t value, std::string* out) {
  if (value < 0x80) {
    *out += static_cast<char>(value);
    return;
  }
  if (value < 0x800) {
    *out += static_cast<char>(0xC0 | value >> 6);
  } else if (value < 0x10000) {
    *out += static_cast<char>(0xE0 | value >> 12);
    *out += static_cast<char>(0x80 | (value >> 6 & 0x3F));
  } else {
    *out += static_cast<char>(0xF0 | value >> 18);
    *out += static_cast<char>(0x80 | (value >> 12 & 0x3F));
    *out += static_cast<char>(0x80 | (value >> 6 & 0x3F));
  }
  *out += static_cast<char>(0x80 | (value & 0x3F));
}

}  // namespace caudal
