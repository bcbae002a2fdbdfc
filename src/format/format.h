// The row formats by name: what 'format' = '…' means.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "format/decoder.h"
#include "format/record_framing.h"

namespace caudal {

using FormatOptions = std::map<std::string, std::string, std::less<>>;  // a table's, all of them

// User error, with the formats there are, if `format` is not a row format or cannot read the schema.
Result<std::unique_ptr<Decoder>> MakeDecoder(std::string_view format, const Schema& schema,
                                             const FormatOptions& options);
Result<std::unique_ptr<Encoder>> MakeEncoder(std::string_view format, const Schema& schema,
                                             const FormatOptions& options);
// The name and the options of a row format, before there is a schema. User error as above.
Status CheckFormat(std::string_view format, const FormatOptions& options);
// How the format's records stand in a file. REQUIRES: MakeDecoder takes the format.
RecordFraming MakeFraming(std::string_view format);

}  // namespace caudal
