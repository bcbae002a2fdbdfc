#include "connect/jdbc/jdbc_position.h"

#include <fmt/format.h>

#include "base/durable_name.h"

namespace caudal {

using Json = nlohmann::json;

Result<JdbcPosition> JdbcPosition::Parse(const Position& text, const std::string& origin,
                                         const std::string& file) {
  JdbcPosition position;
  if (text.empty()) return position;
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("origin") || !json["origin"].is_string()) {
    return Status::Data(fmt::format("'{}' is no position of connector 'jdbc'", text));
  }
  if (json["origin"] != ToDurableName(origin) && json["origin"] != origin) {
    return Status::User(fmt::format("the checkpoint was made of '{}', not of '{}'",
                                    json["origin"].get<std::string>(), origin))
        .Hint("start with another state folder, or read the same table as before");
  }
  // One relative path is another database in another folder.
  if (json.contains("file") && json["file"] != ToDurableName(file)) {
    return Status::User(fmt::format("the checkpoint was made of '{}', not of '{}'",
                                    json["file"].is_string() ? json["file"].get<std::string>() : "", file))
        .Hint("start in the folder where it was made, or with another state folder");
  }
  if (json.contains("after")) position.after = json.value("after", int64_t{0});
  position.key = json.value("key", Json());
  position.rows = json.value("rows", position.rows);
  return position;
}

Position JdbcPosition::ToText(const std::string& origin, const std::string& file) const {
  Json json{{"origin", ToDurableName(origin)}, {"file", ToDurableName(file)}};
  if (after) {
    json["after"] = *after;
  } else {
    json["rows"] = rows;
    if (!key.is_null()) json["key"] = key;
  }
  return json.dump();
}

}  // namespace caudal
