#include "connect/iceberg/iceberg_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "api/connector.h"
#include "fs/file_path.h"
#include "fs/store_file_system.h"
#include "iceberg/catalog/table_files.h"
#include "iceberg/rest/rest_catalog.h"

namespace caudal {
namespace {

constexpr std::string_view kPropertyPrefixes[] = {"write.", "commit.", "history.", "gc.", "read."};
constexpr int kMostFiles = 10'000;

// Of PyIceberg ("sqlite:///rel", "sqlite:////abs"), of Java ("jdbc:sqlite:path"), or a path.
Result<std::string> CatalogFile(const Table& table, std::string_view uri) {
  for (const std::string_view scheme : {"sqlite:///", "jdbc:sqlite:"}) {
    if (uri.starts_with(scheme)) return std::string(uri.substr(scheme.size()));
  }
  if (uri.find("://") == std::string_view::npos) return std::string(uri);
  return Status::User(fmt::format("table '{}': 'uri' = '{}' is no SQLite file", table.name, uri))
      .Hint("write 'uri' = 'sqlite:////path/catalog.db'");
}

Status CheckCatalogType(const Table& table) {
  const std::string_view type = table.option("catalog-type", "sqlite");
  if (type == "sqlite" || type == "jdbc" || type == "hadoop" || type == "rest") return Status();
  const bool known = type == "hive" || type == "glue" || type == "nessie";
  return Status::User(fmt::format("table '{}': a catalog of type '{}' is {}", table.name, type,
                                  known ? "not built yet" : "not known"))
      .Hint(
          "there are 'sqlite', a file that PyIceberg's SqlCatalog and Java's JdbcCatalog read too, 'hadoop', "
          "a "
          "folder, and 'rest', a service");
}

Status CheckProperties(const Table& table) {
  const std::string_view format = table.option("write.format.default", "parquet");
  if (format != "parquet" && format != "PARQUET") {
    return Status::User(
               fmt::format("table '{}': data files of format '{}' are not written", table.name, format))
        .Hint("leave 'write.format.default' out: it is 'parquet'");
  }
  RETURN_IF_ERROR(ParquetCodec(std::string(table.option(kCodecProperty, "zstd"))).status());
  if (table.option("write.upsert.enabled", "false") != "false" && table.primary_key.empty()) {
    return Status::User(fmt::format("table '{}' is to be upserted, and has no key", table.name))
        .Hint("declare PRIMARY KEY (…) NOT ENFORCED, or leave 'write.upsert.enabled' out");
  }
  return Status();
}

// 'header.x-y' = 'z' is sent along.
constexpr std::string_view kHeader = "header.";

Status ReadRest(const Table& table, IcebergOptions* options) {
  iceberg::RestOptions& rest = options->rest;
  options->catalog_type = IcebergOptions::CatalogType::kRest;
  rest.uri = table.option("uri");
  while (rest.uri.ends_with('/')) rest.uri.pop_back();
  if (rest.uri.ends_with("/v1")) rest.uri.resize(rest.uri.size() - 3);
  if (!rest.uri.starts_with("http://") && !rest.uri.starts_with("https://")) {
    return Status::User(fmt::format("table '{}': 'uri' names no REST catalog", table.name))
        .Hint("write 'uri' = 'https://host:port/path', without '/v1'");
  }
  rest.warehouse = table.option("warehouse");
  options->warehouse = rest.warehouse;
  rest.prefix = table.option("prefix");
  rest.token = table.option("token");
  rest.credential = table.option("credential");
  rest.scope = table.option("scope", "catalog");
  rest.oauth2_server_uri = table.option("oauth2-server-uri");
  const std::string_view millis = table.option("rest.client.socket-timeout-ms", "60000");
  const auto [end, error] =
      std::from_chars(millis.data(), millis.data() + millis.size(), rest.timeout_millis);
  if (error != std::errc() || end != millis.data() + millis.size() || rest.timeout_millis < 1) {
    return Status::User(fmt::format("table '{}': 'rest.client.socket-timeout-ms' = '{}' is no time in ms",
                                    table.name, millis));
  }
  if (!rest.token.empty() && !rest.credential.empty()) {
    return Status::User(fmt::format("table '{}' has both 'token' and 'credential'", table.name))
        .Hint("'credential' gets tokens, and renews them; a 'token' is taken as it is");
  }
  for (const auto& [key, value] : table.options) {
    if (key.starts_with(kHeader)) rest.headers[key.substr(kHeader.size())] = value;
  }
  return Status();
}

// Where the catalog is, and its tables.
Status ReadPlace(const Table& table, IcebergOptions* options) {
  if (table.option("catalog-type") == "rest") return ReadRest(table, options);
  options->warehouse = table.option("warehouse");
  while (options->warehouse.size() > 1 && options->warehouse.ends_with('/')) options->warehouse.pop_back();
  std::string folder;
  if (!options->warehouse.empty()) {
    ASSIGN_OR_RETURN(folder, iceberg::PathOf(options->warehouse));
    folder = AbsolutePath(folder);
    // Readers compare locations as text, so that one is never relative.
    const bool is_whole = options->warehouse.front() == '/' || options->warehouse.starts_with("file:");
    if (!is_whole && SchemeOf(options->warehouse).empty()) options->warehouse = folder;
  }
  if (table.option("catalog-type") == "hadoop") {
    options->catalog_type = IcebergOptions::CatalogType::kHadoop;
    if (folder.empty()) {
      return Status::User(fmt::format("table '{}' does not name its 'warehouse'", table.name))
          .Hint("add 'warehouse' = '/path': the folder is the catalog");
    }
  }
  const std::string_view uri = table.option("uri");
  if (uri.empty() && folder.empty()) {
    return Status::User(fmt::format("table '{}' names neither 'uri' nor 'warehouse'", table.name))
        .Hint("add 'warehouse' = '/path': the catalog is kept in its file 'catalog.db'");
  }
  if (options->catalog_type != IcebergOptions::CatalogType::kHadoop && uri.empty() &&
      !SchemeOf(folder).empty()) {
    return Status::User(fmt::format("table '{}': a catalog of SQLite is a file of this machine, and '{}' is "
                                    "none",
                                    table.name, options->warehouse))
        .Hint("add 'uri' = 'sqlite:////path/catalog.db', or take 'catalog-type' = 'rest' or 'hadoop'");
  }
  ASSIGN_OR_RETURN(std::string file, CatalogFile(table, uri));
  options->catalog_file = AbsolutePath(uri.empty() ? folder + "/catalog.db" : file);
  if (options->catalog_type == IcebergOptions::CatalogType::kHadoop) options->catalog_file = folder;
  return Status();
}

Result<IcebergUnique> UniqueOf(const Table& table) {
  const std::string_view unique = table.option("caudal.unique");
  if (!unique.empty() && table.primary_key.empty()) {
    return Status::User(fmt::format("table '{}': 'caudal.unique' is of a key, and there is none", table.name))
        .Hint("declare PRIMARY KEY (…) NOT ENFORCED");
  }
  if (unique.empty() || unique == "upsert") return IcebergUnique::kUpsert;
  if (unique == "ignore") return IcebergUnique::kIgnore;
  if (unique == "fail") return IcebergUnique::kFail;
  return Status::User(fmt::format("table '{}': 'caudal.unique' = '{}' is not known", table.name, unique))
      .Hint("there are 'upsert', 'ignore' and 'fail'");
}

Result<IcebergEvolution> EvolutionOf(const Table& table) {
  const std::string_view evolution = table.option("caudal.schema-evolution", "stop");
  if (evolution == "stop") return IcebergEvolution::kStop;
  if (evolution == "evolve") return IcebergEvolution::kEvolve;
  if (evolution == "dead-letter") return IcebergEvolution::kDeadLetter;
  return Status::User(
             fmt::format("table '{}': 'caudal.schema-evolution' = '{}' is not known", table.name, evolution))
      .Hint("there are 'stop', 'evolve' and 'dead-letter'");
}

}  // namespace

Result<ParquetOptions::Compression> ParquetCodec(std::string name) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name == "zstd") return ParquetOptions::Compression::kZstd;
  if (name == "snappy") return ParquetOptions::Compression::kSnappy;
  if (name == "uncompressed") return ParquetOptions::Compression::kNone;
  return Status::User(fmt::format("'{}': '{}' is not written", kCodecProperty, name))
      .Hint(
          "there are 'zstd', 'snappy' and 'uncompressed'; the sink's option wins over the table's property");
}

bool IsTableProperty(std::string_view option) {
  return std::ranges::any_of(kPropertyPrefixes,
                             [&](std::string_view prefix) { return option.starts_with(prefix); });
}

std::vector<std::string> NamespaceOf(std::string_view database) {
  std::vector<std::string> levels;
  for (size_t dot = database.find('.'); dot != std::string_view::npos; dot = database.find('.')) {
    levels.emplace_back(database.substr(0, dot));
    database.remove_prefix(dot + 1);
  }
  levels.emplace_back(database);
  return levels;
}

ChangelogKinds IcebergChangelog(const Table& table) {
  const bool keeps = table.option("caudal.unique", "upsert") != "upsert";
  return table.primary_key.empty() || keeps ? ChangelogKinds::InsertOnly() : ChangelogKinds::Upsert();
}

Result<IcebergOptions> IcebergOptions::From(const Table& table) {
  RETURN_IF_ERROR(CheckCatalogType(table));
  RETURN_IF_ERROR(CheckProperties(table));
  IcebergOptions options;
  options.declared = table.name;
  options.catalog_name = table.option("catalog-name");
  RETURN_IF_ERROR(ReadPlace(table, &options));
  options.name.space = NamespaceOf(table.option("catalog-database", "default_database"));
  options.name.name = table.option("catalog-table", table.name);
  const std::string_view version = table.option("format-version", "2");
  if (version != "2" && version != "3") {
    return Status::User(fmt::format("table '{}': format {} of Iceberg is not written", table.name, version))
        .Hint("'format-version' is '2' or '3'");
  }
  options.format_version = version == "2" ? 2 : 3;
  options.partition_by = table.option("caudal.partition-by");
  for (const auto& [key, value] : table.options) {
    if (IsTableProperty(key)) options.properties[key] = value;
    if (key.starts_with("s3.") || key == "client.region") options.store[key] = value;
  }
  const std::string_view files = table.option("caudal.sink.max-open-files", "32");
  const auto [end, error] =
      std::from_chars(files.data(), files.data() + files.size(), options.max_open_files);
  if (error != std::errc() || options.max_open_files < 1 || options.max_open_files > kMostFiles) {
    return Status::User(fmt::format("option 'caudal.sink.max-open-files' of table '{}': '{}' is not 1 to {}",
                                    table.name, files, kMostFiles));
  }
  ASSIGN_OR_RETURN(options.unique, UniqueOf(table));
  ASSIGN_OR_RETURN(options.evolution, EvolutionOf(table));
  // What waits for its key to come again needs no large files: a run goes into the file that is open.
  const char* const buffer = table.primary_key.empty() ? "64MB" : "16MB";
  ASSIGN_OR_RETURN(options.buffer_bytes, ParseBytes(table.option("caudal.sink.buffer-size", buffer)));
  return options;
}

Result<FileSystem*> IcebergOptions::FilesOf(FileSystem* files) const {
  if (files == nullptr) files = FileSystem::Local();
  ASSIGN_OR_RETURN(FileSystem* const stated, FilesWithOptions(files, store));
  // Who has keys does not ask the catalog for some.
  if (catalog_type != CatalogType::kRest || store.contains("s3.access-key-id")) return stated;
  iceberg::RestOptions asking = rest;
  asking.headers.try_emplace("X-Iceberg-Access-Delegation", "vended-credentials");
  const auto ask = [asking, table = name, said = store]() -> Result<FileGrant> {
    iceberg::RestCatalog catalog(asking, Env::Real());
    ASSIGN_OR_RETURN(iceberg::TableGrant grant, catalog.AskForGrant(table));
    for (const auto& [option, value] : said) grant.options[option] = value;
    return FileGrant{std::move(grant.options), grant.expires_millis};
  };
  std::string grant = name.ToString();
  for (const std::string& part : {rest.uri, rest.warehouse, rest.prefix, rest.credential, rest.token,
                                  rest.scope, rest.oauth2_server_uri})
    grant += "\n" + part;
  for (const auto& [header, value] : rest.headers) grant += fmt::format("\n{}: {}", header, value);
  for (const auto& [option, value] : store) grant += fmt::format("\n{}={}", option, value);
  return FilesWithGrant(files, grant, ask);
}

std::string IcebergOptions::frame() const {
  return fmt::format("table '{}' of catalog '{}', declared as '{}'", name.ToString(), catalog_name, declared);
}

}  // namespace caudal
