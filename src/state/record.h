// Records: the bytes that state tables write into snapshots, and their reader, which trusts nothing.
//
// Little endian; lengths are varints. A segment begins with its table's four-letter magic and a version byte.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/status.h"

namespace caudal {

inline void PutVarint(uint64_t value, std::string* out) {
  char bytes[10];
  size_t n = 0;
  while (value >= 0x80) {
    bytes[n++] = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  bytes[n++] = static_cast<char>(value);
  out->append(bytes, n);
}
inline void PutFixed64(uint64_t value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(value));
}
inline void PutBytes(std::string_view bytes, std::string* out) {
  PutVarint(bytes.size(), out);
  out->append(bytes);
}

// Reads from the front of `data`; after damage every read gives 0 or nothing and ok() is false.
class RecordReader {
 public:
  explicit RecordReader(std::string_view data) : data_(data) {}

  bool ok() const { return ok_; }
  bool empty() const { return data_.empty() || !ok_; }
  std::string_view rest() const { return data_; }
  // Takes over what is left after someone else read from rest().
  void set_rest(std::string_view rest) { data_ = rest; }
  void Fail() {
    ok_ = false;
    data_ = {};
  }

  uint8_t Byte() {
    const std::string_view byte = Raw(1);
    return byte.empty() ? 0 : static_cast<uint8_t>(byte[0]);
  }
  uint64_t Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t byte = Byte();
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    Fail();
    return 0;
  }
  uint64_t Fixed64() {
    const std::string_view bytes = Raw(8);
    uint64_t value = 0;
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), 8);
    return value;
  }
  std::string_view Bytes() { return Raw(Varint()); }
  std::string_view Raw(uint64_t size) {
    if (!ok_ || size > data_.size()) {
      Fail();
      return {};
    }
    const std::string_view bytes = data_.substr(0, size);
    data_.remove_prefix(size);
    return bytes;
  }

 private:
  std::string_view data_;
  bool ok_ = true;
};

// Checks and skips magic and version.
inline Status ExpectHeader(std::string_view magic, uint8_t version, std::string_view table,
                           RecordReader* reader) {
  if (reader->Raw(magic.size()) != magic) {
    return Status::Data("state table '" + std::string(table) + "': the segment is none of such a table");
  }
  const uint8_t found = reader->Byte();
  if (found == version) return Status();
  return Status::Data("state table '" + std::string(table) + "': segment format " + std::to_string(found) +
                      " is not known")
      .Hint("restore it with the release that wrote it, or a newer one");
}
inline Status DamagedSegment(std::string_view table) {
  return Status::Data("state table '" + std::string(table) + "': the segment is damaged");
}

}  // namespace caudal
