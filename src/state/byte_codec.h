// ByteWriter and ByteReader: the plain binary form of durable files: little-endian fixed integers, strings
// with a 32-bit length.
//
// Values on the stack of one thread. A reader never reads past its bytes: after the first failure every
// further read gives zero values and ok() stays false.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace caudal {

class ByteWriter {
 public:
  template <typename T>
  void Integer(T value) {
    static_assert(std::is_integral_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void String(std::string_view text) {
    Integer(static_cast<uint32_t>(text.size()));
    bytes_.append(text);
  }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  T Integer() {
    T value{};
    if (bytes_.size() < sizeof(T)) {
      Fail();
      return value;
    }
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_.remove_prefix(sizeof(T));
    return value;
  }
  std::string_view String() {
    const uint32_t size = Integer<uint32_t>();
    if (size > bytes_.size()) {
      Fail();
      return {};
    }
    const std::string_view text = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return text;
  }
  // A count of elements that take at least `least` bytes each: never more than the bytes left can hold.
  uint32_t Count(size_t least) {
    const uint32_t count = Integer<uint32_t>();
    if (count > bytes_.size() / least) Fail();
    return ok_ ? count : 0;
  }
  bool ok() const { return ok_; }
  bool at_end() const { return bytes_.empty(); }

 private:
  void Fail() {
    ok_ = false;
    bytes_ = {};
  }
  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace caudal
