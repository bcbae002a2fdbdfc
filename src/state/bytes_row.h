// BytesRow: a RowCodec whose row is a string of bytes, empty at first: what was emitted, a whole SQL row.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "state/record.h"
#include "state/row_codec.h"

namespace caudal {

class BytesRow : public RowCodec {
 public:
  // `words`: what the bytes are, for the fingerprint.
  explicit BytesRow(std::string words) : words_(std::move(words)) {}

  static std::string_view Get(const char* row) {
    Held held;
    std::memcpy(&held, row, sizeof(held));
    return {held.bytes, held.size};
  }
  static void Set(char* row, std::string_view bytes) {
    Held held;
    std::memcpy(&held, row, sizeof(held));
    if (held.size != bytes.size()) {
      delete[] held.bytes;
      held = {bytes.empty() ? nullptr : new char[bytes.size()], bytes.size()};
      std::memcpy(row, &held, sizeof(held));
    }
    if (!bytes.empty()) std::memcpy(held.bytes, bytes.data(), bytes.size());
  }

  size_t width() const override { return sizeof(Held); }
  void Init(char* row) const override { std::memset(row, 0, sizeof(Held)); }
  void Destroy(char* row) const override { Set(row, {}); }
  int64_t ExtraBytes(const char* row) const override { return static_cast<int64_t>(Get(row).size()); }
  void Encode(const char* row, std::string* out) const override { PutBytes(Get(row), out); }
  Status Decode(std::string_view* in, char* row) const override {
    RecordReader reader(*in);
    Set(row, reader.Bytes());
    if (!reader.ok()) return Status::Data("a saved row is cut short");
    *in = reader.rest();
    return Status();
  }
  std::string Fingerprint() const override { return "bytes(" + words_ + ")"; }

 private:
  struct Held {
    char* bytes;
    size_t size;
  };
  std::string words_;
};

}  // namespace caudal
