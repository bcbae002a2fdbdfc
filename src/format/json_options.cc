#include "format/json_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace caudal {
namespace {

// Of all options that Set takes.
constexpr std::string_view kNames =
    "fail-on-missing-field, ignore-parse-errors, timestamp-format.standard, map-null-key.mode, "
    "map-null-key.literal, encode.ignore-null-fields, encode.decimal-as-plain-number, "
    "decode.json-parser.enabled";

std::string Upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return upper;
}

Status Bad(std::string_view name, std::string_view value, std::string_view allowed) {
  return Status::User(fmt::format("option '{}': '{}' is not {}", name, value, allowed));
}

Result<bool> ParseFlag(std::string_view name, std::string_view value) {
  const std::string upper = Upper(value);
  if (upper == "TRUE") return true;
  if (upper == "FALSE") return false;
  return Bad(name, value, "true or false");
}

Status Set(JsonOptions* json, std::string_view key, std::string_view name, const std::string& value) {
  const std::string upper = Upper(value);
  if (key == "fail-on-missing-field") {
    ASSIGN_OR_RETURN(json->fail_on_missing_field, ParseFlag(name, value));
  } else if (key == "ignore-parse-errors") {
    ASSIGN_OR_RETURN(json->ignore_parse_errors, ParseFlag(name, value));
  } else if (key == "timestamp-format.standard") {
    if (upper != "SQL" && upper != "ISO-8601") return Bad(name, value, "'SQL' or 'ISO-8601'");
    json->timestamp_form = upper == "SQL" ? TimestampForm::kSql : TimestampForm::kIso8601;
  } else if (key == "map-null-key.mode") {
    if (upper != "FAIL" && upper != "DROP" && upper != "LITERAL") {
      return Bad(name, value, "'FAIL', 'DROP' or 'LITERAL'");
    }
    json->null_key = upper == "FAIL"   ? JsonOptions::NullKey::kFail
                     : upper == "DROP" ? JsonOptions::NullKey::kDrop
                                       : JsonOptions::NullKey::kLiteral;
  } else if (key == "map-null-key.literal") {
    json->null_key_literal = value;
  } else if (key == "encode.ignore-null-fields") {
    ASSIGN_OR_RETURN(json->ignore_null_fields, ParseFlag(name, value));
  } else if (key == "encode.decimal-as-plain-number") {
    ASSIGN_OR_RETURN(json->plain_decimals, ParseFlag(name, value));
  } else if (key == "decode.json-parser.enabled") {
    // There is one parser: both values give the same.
    return ParseFlag(name, value).status();
  } else {
    return Status::User(fmt::format("unknown option '{}' of format 'json'", name))
        .Hint(fmt::format("they are {}", kNames));
  }
  return Status();
}

}  // namespace

Result<JsonOptions> JsonOptions::From(const std::map<std::string, std::string, std::less<>>& options,
                                      std::string_view prefix) {
  JsonOptions json;
  for (const auto& [name, value] : options) {
    if (!name.starts_with(prefix)) continue;
    RETURN_IF_ERROR(Set(&json, std::string_view(name).substr(prefix.size()), name, value));
  }
  if (json.fail_on_missing_field && json.ignore_parse_errors) {
    return Status::User(fmt::format(
        "options '{0}fail-on-missing-field' and '{0}ignore-parse-errors' exclude each other", prefix));
  }
  return json;
}

}  // namespace caudal
