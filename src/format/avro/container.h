// ContainerReader and ContainerWriter: Avro's object container files: a header with metadata and the schema,
// then blocks of data, each behind its length and before the file's sync marker.
//
// Each belongs to one thread. The format's page is Avro's specification, "Object Container Files".
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "format/avro/codec.h"
#include "format/avro/decoder.h"
#include "format/avro/schema.h"
#include "format/avro/value.h"

namespace caudal::avro {

using SyncMarker = std::array<char, 16>;
using Metadata = std::vector<std::pair<std::string, std::string>>;

class ContainerReader {
 public:
  // `bytes` is the whole file and must outlive the reader; `name` is for messages. Data error if the header
  // is none.
  static Result<std::unique_ptr<ContainerReader>> Open(std::string_view bytes, std::string name,
                                                       const Limits& limits = {});

  const Schema& schema() const { return schema_; }
  const Metadata& metadata() const { return metadata_; }
  // The value of a metadata key; null if it is not there. Lives as long as the reader.
  const std::string* FindMetadata(std::string_view key) const;

  // The next datum; none at the end. Data error that names block, record, field path and byte.
  Result<std::optional<Value>> Next();

 private:
  ContainerReader(std::string_view bytes, std::string name, const Limits& limits)
      : bytes_(bytes), name_(std::move(name)), limits_(limits) {}
  Status ReadHeader();
  Status NextBlock();
  std::string Place() const;

  std::string_view bytes_;
  std::string name_;
  Limits limits_;
  Schema schema_;
  Metadata metadata_;
  Codec codec_ = Codec::kNull;
  std::string_view sync_;
  size_t position_ = 0;     // of the next block
  size_t block_start_ = 0;  // of the block at hand
  int64_t block_ = -1;      // its number
  int64_t record_ = 0;      // of the next datum in it
  int64_t records_ = 0;     // in it
  std::string data_;        // of it, unpacked
  std::optional<Decoder> decoder_;
};

class ContainerWriter {
 public:
  // `metadata` must not hold keys of Avro's own ("avro.…").
  ContainerWriter(Schema schema, const Metadata& metadata, Codec codec, const SyncMarker& sync);

  Status Append(const Value& value);
  // The whole file. Nothing may be appended afterwards.
  Result<std::string> Finish();
  // About what Finish would give now.
  size_t size() const { return file_.size() + block_.size(); }

 private:
  Status EndBlock();

  Schema schema_;
  Codec codec_;
  SyncMarker sync_;
  std::string file_;
  std::string block_;
  int64_t records_ = 0;
};

}  // namespace caudal::avro
