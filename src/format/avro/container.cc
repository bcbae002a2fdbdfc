#include "format/avro/container.h"

#include <fmt/format.h>

#include "format/avro/encoder.h"

namespace caudal::avro {
namespace {

constexpr std::string_view kMagic("Obj\x01", 4);
constexpr size_t kBlockBytes = 64 * 1024;  // a block ends behind the datum that reaches this

// The header's metadata is itself an Avro datum.
const Schema& MetadataSchema() {
  static const Schema& schema = *new Schema(Schema::Parse(R"({"type": "map", "values": "bytes"})").value());
  return schema;
}

}  // namespace

Result<std::unique_ptr<ContainerReader>> ContainerReader::Open(std::string_view bytes, std::string name,
                                                               const Limits& limits) {
  std::unique_ptr<ContainerReader> reader(new ContainerReader(bytes, std::move(name), limits));
  Status status = reader->ReadHeader();
  if (!status.ok()) return std::move(status).At(fmt::format("the header of Avro file '{}'", reader->name_));
  return reader;
}

Status ContainerReader::ReadHeader() {
  if (bytes_.substr(0, kMagic.size()) != kMagic)
    return Status::Data("no Avro container: it does not begin with 'Obj' and 1");
  position_ = kMagic.size();
  Decoder decoder(&MetadataSchema(), bytes_.substr(position_), limits_);
  ASSIGN_OR_RETURN(Value metadata, decoder.Next());
  position_ += decoder.position();
  for (MapEntry& entry : std::get<MapEntries>(metadata.data)) {
    metadata_.emplace_back(std::move(entry.key), std::move(std::get<std::string>(entry.value.data)));
  }
  if (bytes_.size() - position_ < SyncMarker().size())
    return Status::Data("the file ends before the sync marker");
  sync_ = bytes_.substr(position_, SyncMarker().size());
  position_ += sync_.size();
  const std::string* schema = FindMetadata("avro.schema");
  if (schema == nullptr) return Status::Data("the metadata key 'avro.schema' is missing");
  ASSIGN_OR_RETURN(schema_, Schema::Parse(*schema));
  const std::string* codec = FindMetadata("avro.codec");
  ASSIGN_OR_RETURN(codec_, FindCodec(codec == nullptr || codec->empty() ? "null" : *codec));
  return {};
}

const std::string* ContainerReader::FindMetadata(std::string_view key) const {
  for (const auto& [name, value] : metadata_) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::string ContainerReader::Place() const {
  return fmt::format("record {} of block {} (byte {}) of Avro file '{}'", record_, block_, block_start_,
                     name_);
}

Status ContainerReader::NextBlock() {
  ++block_;
  record_ = 0;
  block_start_ = position_;
  Decoder header(&schema_, bytes_.substr(position_), limits_);
  std::string_view packed;
  if (!header.ReadLong(&records_) || records_ < 0) return Status::Data("the count of records is none");
  if (!header.ReadBytes(&packed))
    return Status::Data("the block's length is none, or more than the file has");
  position_ += header.position();
  if (bytes_.substr(position_, sync_.size()) != sync_) {
    return Status::Data("the block does not end with the file's sync marker")
        .Hint("the file is damaged or was cut; take it from its source again");
  }
  position_ += sync_.size();
  ASSIGN_OR_RETURN(data_, Unpack(codec_, packed, limits_.block_bytes));
  decoder_.emplace(&schema_, data_, limits_);
  if (records_ > decoder_->MostLeft()) {
    return Status::Data(fmt::format("{} records are claimed for {} bytes", records_, data_.size()));
  }
  return {};
}

Result<std::optional<Value>> ContainerReader::Next() {
  while (record_ == records_) {
    if (decoder_ && !decoder_->at_end()) {
      return Status::Data(fmt::format("{} bytes behind the last record", data_.size() - decoder_->position()))
          .At(Place());
    }
    decoder_.reset();
    if (position_ == bytes_.size()) return std::optional<Value>();
    Status status = NextBlock();
    if (!status.ok()) return std::move(status).At(Place());
  }
  Result<Value> value = decoder_->Next();
  if (!value.ok()) return std::move(value).status().At(Place());
  ++record_;
  return std::optional<Value>(std::move(value).value());
}

ContainerWriter::ContainerWriter(Schema schema, const Metadata& metadata, Codec codec, const SyncMarker& sync)
    : schema_(std::move(schema)), codec_(codec), sync_(sync), file_(kMagic) {
  EncodeLong(static_cast<int64_t>(metadata.size()) + 2, &file_);
  EncodeBytes("avro.schema", &file_);
  EncodeBytes(schema_.ToJson(), &file_);
  EncodeBytes("avro.codec", &file_);
  EncodeBytes(CodecName(codec), &file_);
  for (const auto& [key, value] : metadata) {
    EncodeBytes(key, &file_);
    EncodeBytes(value, &file_);
  }
  EncodeLong(0, &file_);
  file_.append(sync_.data(), sync_.size());
}

Status ContainerWriter::Append(const Value& value) {
  const size_t before = block_.size();
  Status status = Encode(schema_, value, &block_);
  if (!status.ok()) {
    block_.resize(before);
    return status;
  }
  ++records_;
  return block_.size() < kBlockBytes ? Status() : EndBlock();
}

Status ContainerWriter::EndBlock() {
  ASSIGN_OR_RETURN(const std::string packed, Pack(codec_, block_));
  EncodeLong(records_, &file_);
  EncodeBytes(packed, &file_);
  file_.append(sync_.data(), sync_.size());
  block_.clear();
  records_ = 0;
  return {};
}

Result<std::string> ContainerWriter::Finish() {
  if (records_ > 0) RETURN_IF_ERROR(EndBlock());
  return std::move(file_);
}

}  // namespace caudal::avro
