// StringView: 16 bytes for a string or bytes value; up to 12 bytes are held inside.
//
// Velox's and Umbra's form of Arrow's BinaryView: length, then the bytes themselves or a 4-byte prefix and a
// pointer. It owns nothing: the bytes belong to a Buffer that the view's Column keeps alive. Unused inline
// bytes are zero, so that equality of short strings is two word compares.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace caudal {

class StringView {
 public:
  static constexpr uint32_t kInline = 12;

  StringView() : words_{0, 0} {}
  // REQUIRES: text.size() < 2^31; text's bytes outlive the view unless it is inline.
  explicit StringView(std::string_view text) : words_{0, 0} {
    const uint32_t size = static_cast<uint32_t>(text.size());
    if (size == 0) return;  // its data may be null, which memcpy must not be given
    char* bytes = reinterpret_cast<char*>(words_);
    std::memcpy(bytes, &size, 4);
    if (size <= kInline) {
      std::memcpy(bytes + 4, text.data(), size);
    } else {
      std::memcpy(bytes + 4, text.data(), 4);
      const char* data = text.data();
      std::memcpy(bytes + 8, &data, 8);
    }
  }

  uint32_t size() const { return static_cast<uint32_t>(words_[0]); }
  bool empty() const { return size() == 0; }
  bool is_inline() const { return size() <= kInline; }
  // Points into the view itself when inline: valid while the view stays where it is.
  const char* data() const {
    if (is_inline()) return reinterpret_cast<const char*>(words_) + 4;
    const char* data;
    std::memcpy(&data, reinterpret_cast<const char*>(words_) + 8, 8);
    return data;
  }
  std::string_view view() const { return {data(), size()}; }
  std::string ToString() const { return std::string(view()); }

  bool operator==(const StringView& other) const {
    if (words_[0] != other.words_[0]) return false;  // length and prefix
    if (is_inline()) return words_[1] == other.words_[1];
    return std::memcmp(data(), other.data(), size()) == 0;
  }
  // Byte order, which for UTF-8 is code point order.
  bool operator<(const StringView& other) const { return view() < other.view(); }

 private:
  uint64_t words_[2];
};
static_assert(sizeof(StringView) == 16);

}  // namespace caudal
