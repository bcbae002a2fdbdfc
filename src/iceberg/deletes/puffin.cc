#include "iceberg/deletes/puffin.h"

#include <fmt/format.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "base/json_document.h"
#include "iceberg/deletes/deletion_vector.h"
#include "iceberg/metadata/json_fields.h"
#include "iceberg/metadata/snapshot_json.h"

namespace caudal::iceberg {
namespace {

constexpr std::string_view kPuffinMagic = "PFA1";
constexpr size_t kFooterEnd = 12;                // length of the payload, flags, magic
constexpr int32_t kPositionColumn = 2147483645;  // the reserved id of a row's position

Status NoPuffin(std::string what) { return Status::Data(fmt::format("no Puffin file: {}", what)); }

PuffinBlob BlobFromJson(const Json& json, const std::string& place, Status* error) {
  JsonFields object(json, place, error);
  PuffinBlob blob;
  blob.type = object.Text("type");
  for (const Json& id : object.Array("fields")) {
    if (id.is_number_integer()) blob.fields.push_back(id.get<int32_t>());
  }
  blob.snapshot_id = object.Integer("snapshot-id");
  blob.sequence_number = object.Integer("sequence-number");
  blob.offset = object.Integer("offset");
  blob.length = object.Integer("length");
  blob.compression_codec = object.OptionalText("compression-codec");
  if (object.Has("properties")) {
    blob.properties = TextsFromJson(object.Object("properties"), object.Place("properties"), error);
  }
  return blob;
}

Json BlobToJson(const PuffinBlob& blob) {
  Json json = {{"type", blob.type}, {"fields", blob.fields}};
  json["snapshot-id"] = blob.snapshot_id;
  json["sequence-number"] = blob.sequence_number;
  json["offset"] = blob.offset;
  json["length"] = blob.length;
  if (blob.compression_codec) json["compression-codec"] = *blob.compression_codec;
  if (!blob.properties.empty()) json["properties"] = blob.properties;
  return json;
}

}  // namespace

Result<PuffinFooter> ReadPuffinFooter(std::string_view file) {
  const size_t least = 2 * kPuffinMagic.size() + kFooterEnd;
  if (file.size() < least || file.substr(0, 4) != kPuffinMagic ||
      file.substr(file.size() - 4) != kPuffinMagic) {
    return NoPuffin("it does not begin and end with PFA1");
  }
  int32_t length = 0;
  uint32_t flags = 0;
  std::memcpy(&length, file.data() + file.size() - kFooterEnd, sizeof(length));
  std::memcpy(&flags, file.data() + file.size() - kFooterEnd + sizeof(length), sizeof(flags));
  if (flags == 1) return NoPuffin("its footer is compressed, which is not read");
  if (flags != 0) return NoPuffin(fmt::format("its footer has the flags {:x}, which are not known", flags));
  if (length < 0 || static_cast<size_t>(length) > file.size() - least) {
    return NoPuffin(fmt::format("its footer says {} bytes of {}", length, file.size()));
  }
  const size_t start = file.size() - kFooterEnd - static_cast<size_t>(length);
  if (file.substr(start - 4, 4) != kPuffinMagic) return NoPuffin("its footer does not begin with PFA1");
  ASSIGN_OR_RETURN(const Json json, ParseJsonDocument(file.substr(start, static_cast<size_t>(length))));
  Status error;
  JsonFields object(json, "footer", &error);
  PuffinFooter footer;
  const Json& blobs = object.Array("blobs");
  for (size_t i = 0; i < blobs.size() && error.ok(); ++i) {
    footer.blobs.push_back(BlobFromJson(blobs[i], object.Place("blobs", i), &error));
    const PuffinBlob& blob = footer.blobs.back();
    const auto end = static_cast<int64_t>(start - 4);
    if (error.ok() &&
        (blob.offset < 4 || blob.length < 0 || blob.offset > end || blob.length > end - blob.offset)) {
      error = Status::Data(fmt::format("blob {} does not lie inside the file", i));
    }
  }
  if (object.Has("properties"))
    footer.properties = TextsFromJson(object.Object("properties"), "properties", &error);
  if (!error.ok()) return NoPuffin(error.message());
  return footer;
}

PuffinWriter::PuffinWriter() : file_(kPuffinMagic) {}

PuffinBlob PuffinWriter::Add(std::string_view bytes, PuffinBlob blob) {
  blob.offset = static_cast<int64_t>(file_.size());
  blob.length = static_cast<int64_t>(bytes.size());
  file_ += bytes;
  footer_.blobs.push_back(blob);
  return blob;
}

PuffinBlob PuffinWriter::AddDeletionVector(std::string_view bytes, const std::string& data_file,
                                           int64_t positions) {
  return Add(bytes, {.type = std::string(kDeletionVectorBlob),
                     .fields = {kPositionColumn},
                     .properties = {{"referenced-data-file", data_file},
                                    {"cardinality", std::to_string(positions)}}});
}

std::string PuffinWriter::Finish(const std::string& created_by) {
  Json json = {{"blobs", Json::array()}};
  for (const PuffinBlob& blob : footer_.blobs) json["blobs"].push_back(BlobToJson(blob));
  json["properties"] = {{"created-by", created_by}};
  const std::string payload = json.dump();
  file_ += kPuffinMagic;
  file_ += payload;
  const auto length = static_cast<int32_t>(payload.size());
  file_.append(reinterpret_cast<const char*>(&length), sizeof(length));
  file_.append(4, '\0');  // flags
  file_ += kPuffinMagic;
  return std::move(file_);
}

}  // namespace caudal::iceberg
