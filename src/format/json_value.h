// ReadJsonValue: one JSON value as a Value of a SQL type, nested types included: the general way, for ROW,
// ARRAY and MAP columns.
#pragma once

#include "data/value.h"
#include "format/json_cursor.h"
#include "format/json_options.h"

namespace caudal {

enum class JsonRead {
  kDone,
  kWrongValue,  // JSON, but no such value; the cursor is past it
  kWrongJson,   // the cursor is where the JSON breaks
};

// True if JSON can be read into the type.
bool CanReadJson(const Type& type);
JsonRead ReadJsonValue(JsonCursor* cursor, const Type& type, const JsonOptions& options, Value* out);

// JSON text without the white space between tokens. REQUIRES: `text` is JSON.
std::string MinifyJson(std::string_view text);

}  // namespace caudal
