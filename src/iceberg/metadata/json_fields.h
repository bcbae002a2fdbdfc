// JsonFields: one object of a table's metadata, read member by member; what nobody asked for is unknown, and
// kept.
//
// On the stack of one thread. The first fault goes to the shared Status, with its place
// ("snapshots[3].summary is missing"); afterwards every read gives an empty value, so that a caller checks
// once, at the end.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace caudal::iceberg {

using Json = nlohmann::ordered_json;

// Members that this version of caudal does not know: name and JSON text. They are written back behind the
// known ones, so that a table made by a newer writer loses nothing.
using UnknownFields = std::vector<std::pair<std::string, std::string>>;

class JsonFields {
 public:
  // `json` and `error` must outlive it. `place` is for messages, "" for the root.
  JsonFields(const Json& json, std::string place, Status* error);

  // The member of this name; null if it is missing or null.
  const Json* Find(std::string_view name);
  bool Has(std::string_view name) { return Find(name) != nullptr; }

  int64_t Integer(std::string_view name);
  int32_t Int(std::string_view name);  // 32 bits
  std::string Text(std::string_view name);
  bool Boolean(std::string_view name);
  const Json& Array(std::string_view name);
  const Json& Object(std::string_view name);
  std::optional<int64_t> OptionalInteger(std::string_view name);
  std::optional<std::string> OptionalText(std::string_view name);
  // The items of an array, or none if it is missing.
  const Json& OptionalArray(std::string_view name);
  // The JSON text of a member; nothing if it is missing.
  std::optional<std::string> OptionalJson(std::string_view name);

  UnknownFields Unknown() const;
  // The place of a member, or of one of its items.
  std::string Place(std::string_view name) const;
  std::string Place(std::string_view name, size_t item) const;
  void Fail(std::string what);  // "<place>: what"

 private:
  const Json* Need(std::string_view name);
  void Wrong(std::string_view name, std::string_view wanted);

  const Json& json_;
  std::string place_;
  Status* error_;
  std::set<std::string, std::less<>> known_;
};

void WriteUnknown(const UnknownFields& unknown, Json* json);

}  // namespace caudal::iceberg
