#include "format/format.h"

#include <fmt/format.h>

#include "format/json_decoder.h"
#include "format/json_encoder.h"
#include "format/raw_decoder.h"

namespace caudal {
namespace {

constexpr std::string_view kReadable = "'json', 'raw' and, for files, 'parquet'";

Status UnknownFormat(std::string_view format, std::string_view known) {
  return Status::User(fmt::format("format '{}' is not known here", format))
      .Hint(fmt::format("formats are {}", known));
}

}  // namespace

Result<std::unique_ptr<Decoder>> MakeDecoder(std::string_view format, const Schema& schema,
                                             const FormatOptions& options) {
  if (format == "json") {
    ASSIGN_OR_RETURN(JsonOptions json, JsonOptions::From(options));
    ASSIGN_OR_RETURN(std::unique_ptr<JsonDecoder> decoder, JsonDecoder::Make(schema, std::move(json)));
    return std::unique_ptr<Decoder>(std::move(decoder));
  }
  if (format == "raw") {
    ASSIGN_OR_RETURN(std::unique_ptr<RawDecoder> decoder, RawDecoder::Make(schema));
    return std::unique_ptr<Decoder>(std::move(decoder));
  }
  return UnknownFormat(format, kReadable);
}

Result<std::unique_ptr<Encoder>> MakeEncoder(std::string_view format, const Schema& schema,
                                             const FormatOptions& options) {
  if (format == "json") {
    ASSIGN_OR_RETURN(JsonOptions json, JsonOptions::From(options));
    ASSIGN_OR_RETURN(std::unique_ptr<JsonEncoder> encoder, JsonEncoder::Make(schema, std::move(json)));
    return std::unique_ptr<Encoder>(std::move(encoder));
  }
  return UnknownFormat(format, "'json' and, for files, 'parquet'");
}

Status CheckFormat(std::string_view format, const FormatOptions& options) {
  if (format == "json") return JsonOptions::From(options).status();
  return format == "raw" ? Status() : UnknownFormat(format, kReadable);
}

RecordFraming MakeFraming(std::string_view format) {
  return RecordFraming(format == "json" ? RecordFraming::Kind::kJson : RecordFraming::Kind::kLines);
}

}  // namespace caudal
