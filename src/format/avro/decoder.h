// Decoder: Avro's binary form, datum after datum out of one stretch of bytes that nobody vouches for.
//
// A value on the stack of one thread; schema and bytes must outlive it. It never reads past the bytes, never
// allocates by a length that they do not cover, and stops at the limits: a few bytes can otherwise stand for
// billions of empty items, or for a stack without end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "format/avro/schema.h"
#include "format/avro/value.h"

namespace caudal::avro {

struct Limits {
  int depth = 64;                          // types inside types
  int64_t values = int64_t{1} << 22;       // in one datum, those inside others counted
  int64_t block_bytes = int64_t{1} << 28;  // of a container's block, once unpacked
};

class Decoder {
 public:
  Decoder(const Schema* schema, std::string_view bytes, const Limits& limits = {})
      : schema_(schema), bytes_(bytes), limits_(limits) {}

  // The next datum of the schema's root. Data error that names the field path and the byte; afterwards the
  // decoder is of no use.
  Result<Value> Next();

  bool at_end() const { return position_ == bytes_.size(); }
  size_t position() const { return position_; }
  // The most data that the bytes left can hold.
  int64_t MostLeft() const;

  // Parts of the binary form that a container needs as well: false at the end of the bytes or if it is none.
  bool ReadLong(int64_t* value);
  bool ReadBytes(std::string_view* bytes);  // points into the decoder's bytes

 private:
  bool Read(NodeId id, int depth, Value* out);
  bool ReadScalar(const Node& node, Value* out);
  bool ReadInteger(Kind kind, Value* out);
  bool ReadText(Kind kind, Value* out);
  bool ReadFloating(Kind kind, Value* out);
  bool ReadRecord(const Node& node, int depth, Value* out);
  bool ReadItems(const Node& node, int depth, Value* out);
  bool ReadCount(const Node& item, int64_t* count);
  bool ReadUnion(const Node& node, int depth, Value* out);
  bool Fail(std::string what);
  size_t left() const { return bytes_.size() - position_; }

  const Schema* schema_;
  std::string_view bytes_;
  Limits limits_;
  size_t position_ = 0;
  int64_t values_left_ = 0;
  std::string what_;
  size_t failed_at_ = 0;
  std::string path_;  // of the field that failed, built from its end while the calls return
};

}  // namespace caudal::avro
