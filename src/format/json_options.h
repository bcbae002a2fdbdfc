// JsonOptions: Flink's options of the JSON format, and the reading of them.
#pragma once

#include <map>
#include <string>

#include "base/status.h"
#include "data/text/time_text.h"

namespace caudal {

struct JsonOptions {
  bool fail_on_missing_field = false;
  bool ignore_parse_errors = false;  // a bad field is NULL; a bad record stays an error of that record
  TimestampForm timestamp_form = TimestampForm::kSql;
  enum class NullKey { kFail, kDrop, kLiteral } null_key = NullKey::kFail;
  std::string null_key_literal = "null";
  bool ignore_null_fields = false;
  bool plain_decimals = true;  // false: as Java's BigDecimal without trailing zeros writes itself, 1E+2

  // From a table's options, under their names with the prefix ("json.").
  static Result<JsonOptions> From(const std::map<std::string, std::string, std::less<>>& options,
                                  std::string_view prefix = "json.");
};

}  // namespace caudal
