#include "iceberg/rest/rest_catalog.h"

#include <fmt/format.h>

#include <algorithm>

#include "iceberg/metadata/partition_json.h"
#include "iceberg/metadata/snapshot_json.h"

namespace caudal::iceberg {
namespace {

constexpr int kBadRequest = 400;
constexpr int kNotFound = 404;
constexpr int kConflict = 409;
constexpr size_t kDeepestNamespace = 16;  // levels of namespaces that are looked into

Json Identifier(const TableName& name) { return Json{{"namespace", name.space}, {"name", name.name}}; }

Json RequirementToJson(const AssertTableUuid& wanted) {
  return {{"type", "assert-table-uuid"}, {"uuid", wanted.uuid}};
}
Json RequirementToJson(const AssertRefSnapshotId& wanted) {
  Json json{{"type", "assert-ref-snapshot-id"}, {"ref", wanted.ref}, {"snapshot-id", nullptr}};
  if (wanted.snapshot_id) json["snapshot-id"] = *wanted.snapshot_id;
  return json;
}
Json RequirementToJson(const AssertCurrentSchemaId& wanted) {
  return {{"type", "assert-current-schema-id"}, {"current-schema-id", wanted.schema_id}};
}
Json RequirementToJson(const AssertDefaultSpecId& wanted) {
  return {{"type", "assert-default-spec-id"}, {"default-spec-id", wanted.spec_id}};
}

void AddUpdate(const AddSnapshot& update, Json* updates) {
  updates->push_back({{"action", "add-snapshot"}, {"snapshot", SnapshotToJson(update.snapshot)}});
}
void AddUpdate(const SetSnapshotRef& update, Json* updates) {
  Json json{{"action", "set-snapshot-ref"}, {"ref-name", update.name}};
  json.update(RefToJson(update.ref));
  updates->push_back(std::move(json));
}
void AddUpdate(const SetProperties& update, Json* updates) {
  updates->push_back({{"action", "set-properties"}, {"updates", update.properties}});
}
void AddUpdate(const RemoveProperties& update, Json* updates) {
  updates->push_back({{"action", "remove-properties"}, {"removals", update.names}});
}
void AddUpdate(const AddSchema& update, Json* updates) {
  constexpr int kTheOneThatWasAdded = -1;
  updates->push_back({{"action", "add-schema"},
                      {"schema", SchemaToJson(update.schema)},
                      {"last-column-id", std::max(update.last_column_id, update.schema.HighestId())}});
  updates->push_back({{"action", "set-current-schema"}, {"schema-id", kTheOneThatWasAdded}});
}
void AddUpdate(const SetCurrentSchema& update, Json* updates) {
  updates->push_back({{"action", "set-current-schema"}, {"schema-id", update.schema_id}});
}

void AddUpdate(const RemoveSnapshotRef& update, Json* updates) {
  updates->push_back({{"action", "remove-snapshot-ref"}, {"ref-name", update.name}});
}
void AddUpdate(const RemoveSnapshots& update, Json* updates) {
  updates->push_back({{"action", "remove-snapshots"}, {"snapshot-ids", update.ids}});
}

// A snapshot's numbers are the table's and the head that is asserted is the branch's: when another branch was
// quicker, some services do not say 409.
bool IsBehind(const RestAnswer& answer) {
  return answer.error.find("older than last sequence number") != std::string::npos ||
         answer.error.find("first-row-id is behind") != std::string::npos;
}

}  // namespace

std::string CommitBody(const TableName& name, const TableCommit& commit) {
  Json json{{"identifier", Identifier(name)}, {"requirements", Json::array()}, {"updates", Json::array()}};
  for (const TableRequirement& requirement : commit.requirements) {
    json["requirements"].push_back(
        std::visit([](const auto& wanted) { return RequirementToJson(wanted); }, requirement));
  }
  for (const TableUpdate& update : commit.updates) {
    std::visit([&](const auto& change) { AddUpdate(change, &json["updates"]); }, update);
  }
  return json.dump();
}

Result<std::string> RestCatalog::SpacePath(const std::vector<std::string>& space) {
  ASSIGN_OR_RETURN(const std::string separator, session_.NamespaceSeparator());
  std::string path;
  for (const std::string& level : space) path += (path.empty() ? "" : separator) + UrlEncoded(level);
  return path;
}

Result<std::string> RestCatalog::TablePath(const TableName& name) {
  ASSIGN_OR_RETURN(const std::string space, SpacePath(name.space));
  return fmt::format("namespaces/{}/tables/{}", space, UrlEncoded(name.name));
}

Status RestCatalog::ChangeOnce(const std::string& method, const std::string& path, const std::string& body,
                               int fine) {
  ASSIGN_OR_RETURN(const RestAnswer answer, session_.Change(method, path, body));
  if (answer.ok() || (answer.http.status.ok() && answer.http.code == fine)) return Status();
  return Failure(answer);
}

Result<Json> RestCatalog::GetAll(const std::string& path, const char* member) {
  Json all = Json::array();
  std::string token;
  while (true) {
    const char* joint = path.find('?') == std::string::npos ? "?" : "&";
    const std::string page =
        token.empty() ? path : fmt::format("{}{}pageToken={}", path, joint, UrlEncoded(token));
    ASSIGN_OR_RETURN(const RestAnswer answer, session_.Get(page));
    if (!answer.ok()) return Failure(answer);
    const auto items = answer.json.find(member);
    if (items != answer.json.end() && items->is_array()) all.insert(all.end(), items->begin(), items->end());
    const std::string next = TextOf(answer.json, "next-page-token");
    if (next.empty() || next == token) return all;
    token = next;
  }
}

Status RestCatalog::CreateNamespace(const std::vector<std::string>& space) {
  const Json body{{"namespace", space}, {"properties", Json::object()}};
  return ChangeOnce("POST", "namespaces", body.dump(), kConflict);
}

Status RestCatalog::AddNamespaces(const std::vector<std::string>& parent,
                                  std::vector<std::vector<std::string>>* found) {
  if (parent.size() == kDeepestNamespace) return Status();
  ASSIGN_OR_RETURN(const std::string above, SpacePath(parent));
  const std::string path = parent.empty() ? "namespaces" : "namespaces?parent=" + above;
  ASSIGN_OR_RETURN(const Json spaces, GetAll(path, "namespaces"));
  for (const std::vector<std::string>& levels : NamespacesOf(spaces)) {
    if (levels.size() <= parent.size()) continue;  // a service that knows no levels gives the same again
    found->push_back(levels);
    RETURN_IF_ERROR(AddNamespaces(levels, found));
  }
  return Status();
}

Result<std::vector<std::vector<std::string>>> RestCatalog::ListNamespaces() {
  std::vector<std::vector<std::string>> found;
  RETURN_IF_ERROR(AddNamespaces({}, &found));
  return found;
}

Result<std::vector<std::string>> RestCatalog::ListTables(const std::vector<std::string>& space) {
  ASSIGN_OR_RETURN(const std::string path, SpacePath(space));
  Result<Json> identifiers = GetAll(fmt::format("namespaces/{}/tables", path), "identifiers");
  if (!identifiers.ok()) {
    // A namespace that is not there has no tables.
    if (identifiers.status().message().find("answers 404") != std::string::npos)
      return std::vector<std::string>();
    return std::move(identifiers).status();
  }
  return TableNamesOf(*identifiers);
}

Result<LoadedTable> RestCatalog::CreateTable(const TableName& name, const NewTable& table) {
  Json properties = table.properties;
  properties["format-version"] = std::to_string(table.format_version);
  Json body{{"name", name.name},
            {"schema", SchemaToJson(table.schema)},
            {"partition-spec", SpecToJson(table.spec)},
            {"stage-create", false},
            {"properties", std::move(properties)}};
  if (!table.location.empty()) body["location"] = table.location;
  ASSIGN_OR_RETURN(const std::string space, SpacePath(name.space));
  ASSIGN_OR_RETURN(const RestAnswer answer,
                   session_.Change("POST", fmt::format("namespaces/{}/tables", space), body.dump()));
  if (answer.ok()) return TableOf(answer.json);
  if (answer.http.status.ok() && answer.http.code == kConflict)
    return Status::User(fmt::format("the table '{}' is there already", name.ToString()));
  if (answer.http.status.ok() && answer.http.code == kNotFound) {
    return Status::User(fmt::format("there is no namespace '{}'", fmt::join(name.space, ".")))
        .Hint("create it first");
  }
  return Failure(answer);
}

Result<LoadedTable> RestCatalog::LoadTable(const TableName& name) {
  ASSIGN_OR_RETURN(const std::string path, TablePath(name));
  ASSIGN_OR_RETURN(const RestAnswer answer, session_.Get(path));
  if (answer.ok()) return TableOf(answer.json);
  if (answer.http.status.ok() && answer.http.code == kNotFound)
    return Status::User(fmt::format("there is no table '{}' in the catalog", name.ToString()));
  return Failure(answer);
}

Result<TableGrant> RestCatalog::AskForGrant(const TableName& name) {
  ASSIGN_OR_RETURN(const Json configuration, session_.Configuration());
  ASSIGN_OR_RETURN(const std::string path, TablePath(name));
  ASSIGN_OR_RETURN(const RestAnswer answer, session_.Get(path));
  if (answer.ok()) return GrantOf(configuration, answer.json);
  return Failure(answer);
}

Status RestCatalog::DropTable(const TableName& name) {
  ASSIGN_OR_RETURN(const std::string path, TablePath(name));
  ASSIGN_OR_RETURN(const RestAnswer answer, session_.Change("DELETE", path + "?purgeRequested=false", ""));
  if (answer.ok()) return Status();
  if (answer.http.status.ok() && answer.http.code == kNotFound)
    return Status::User(fmt::format("there is no table '{}' in the catalog", name.ToString()));
  return Failure(answer);
}

Status RestCatalog::DropNamespace(const std::vector<std::string>& space) {
  ASSIGN_OR_RETURN(const std::string path, SpacePath(space));
  ASSIGN_OR_RETURN(const RestAnswer answer, session_.Change("DELETE", "namespaces/" + path, ""));
  if (answer.ok()) return Status();
  if (answer.http.status.ok() && answer.http.code == kNotFound)
    return Status::User(fmt::format("there is no namespace '{}'", fmt::join(space, ".")));
  if (answer.http.status.ok() && answer.http.code == kConflict) {
    return Status::User(fmt::format("the namespace '{}' is not empty", fmt::join(space, ".")))
        .Hint("drop its tables first");
  }
  return Failure(answer);
}

Status RestCatalog::RenameTable(const TableName& name, const TableName& to) {
  const Json body{{"source", Identifier(name)}, {"destination", Identifier(to)}};
  ASSIGN_OR_RETURN(const RestAnswer answer, session_.Change("POST", "tables/rename", body.dump()));
  if (answer.ok()) return Status();
  if (answer.http.status.ok() && answer.http.code == kConflict)
    return Status::User(fmt::format("the table '{}' is there already", to.ToString()));
  return Failure(answer);
}

CommitAnswer RestCatalog::Commit(const TableName& name, const TableCommit& commit) {
  const Result<std::string> path = TablePath(name);
  if (!path.ok()) return {CommitOutcome::kRefused, path.status(), {}};
  Result<RestAnswer> sent = session_.Change("POST", *path, CommitBody(name, commit));
  if (!sent.ok()) return {CommitOutcome::kRefused, sent.status(), {}};
  const HttpAnswer& http = sent->http;
  if (!http.status.ok())
    return {http.sent ? CommitOutcome::kUnknown : CommitOutcome::kRefused, http.status, {}};
  if (sent->ok()) {
    Result<LoadedTable> table = TableOf(sent->json);
    if (table.ok()) return {CommitOutcome::kDone, {}, *std::move(table)};
    // Done, but what became of the table is to be looked up.
    return {CommitOutcome::kUnknown, table.status(), {}};
  }
  Status failure = Failure(*sent);
  constexpr int kFirstServerError = 500;
  if (http.code >= kFirstServerError) return {CommitOutcome::kUnknown, std::move(failure), {}};
  if (http.code == kConflict || (http.code == kBadRequest && IsBehind(*sent))) {
    return {CommitOutcome::kRefused,
            Status::External(
                fmt::format("the table '{}' was changed by another writer: {}", name.ToString(), sent->error),
                Retry::kBackoff)
                .Hint("the commit is rebuilt and tried again"),
            {}};
  }
  return {CommitOutcome::kRefused, std::move(failure), {}};
}

}  // namespace caudal::iceberg
