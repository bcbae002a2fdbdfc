#include "connect/iceberg/iceberg_options.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <filesystem>

#include "api/connector.h"
#include "iceberg/catalog/table_files.h"

namespace caudal {
namespace {

constexpr std::string_view kPropertyPrefixes[] = {"write.", "commit.", "history.", "gc.", "read."};
constexpr int kMostFiles = 10'000;

std::string Absolute(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal().string();
}

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
  if (type == "sqlite" || type == "jdbc") return Status();
  const bool known = type == "rest" || type == "hadoop" || type == "hive" || type == "glue";
  return Status::User(fmt::format("table '{}': a catalog of type '{}' is {}", table.name, type,
                                  known ? "not built yet" : "not known"))
      .Hint("there is 'sqlite', a file that PyIceberg's SqlCatalog and Java's JdbcCatalog read too");
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

Result<IcebergOptions> IcebergOptions::From(const Table& table) {
  RETURN_IF_ERROR(CheckCatalogType(table));
  RETURN_IF_ERROR(CheckProperties(table));
  IcebergOptions options;
  options.declared = table.name;
  options.catalog_name = table.option("catalog-name");
  options.warehouse = table.option("warehouse");
  while (options.warehouse.size() > 1 && options.warehouse.ends_with('/')) options.warehouse.pop_back();
  std::string folder;
  if (!options.warehouse.empty()) {
    ASSIGN_OR_RETURN(folder, iceberg::PathOf(options.warehouse));
    folder = Absolute(folder);
    // Readers compare locations as text, so that one is never relative.
    if (options.warehouse.front() != '/' && !options.warehouse.starts_with("file:"))
      options.warehouse = folder;
  }
  const std::string_view uri = table.option("uri");
  if (uri.empty() && folder.empty()) {
    return Status::User(fmt::format("table '{}' names neither 'uri' nor 'warehouse'", table.name))
        .Hint("add 'warehouse' = '/path': the catalog is kept in its file 'catalog.db'");
  }
  ASSIGN_OR_RETURN(std::string file, CatalogFile(table, uri));
  options.catalog_file = Absolute(uri.empty() ? folder + "/catalog.db" : file);
  std::string_view space = table.option("catalog-database", "default_database");
  for (size_t dot = space.find('.'); dot != std::string_view::npos; dot = space.find('.')) {
    options.name.space.emplace_back(space.substr(0, dot));
    space.remove_prefix(dot + 1);
  }
  options.name.space.emplace_back(space);
  options.name.name = table.option("catalog-table", table.name);
  const std::string_view version = table.option("format-version", "2");
  if (version != "2" && version != "3") {
    return Status::User(fmt::format("table '{}': format {} of Iceberg is not written", table.name, version))
        .Hint("'format-version' is '2' or '3'");
  }
  options.format_version = version == "2" ? 2 : 3;
  options.partition_by = table.option("caudal.partition-by");
  for (const auto& [key, value] : table.options) {
    for (const std::string_view prefix : kPropertyPrefixes) {
      if (key.starts_with(prefix)) options.properties[key] = value;
    }
  }
  const std::string_view files = table.option("caudal.sink.max-open-files", "32");
  const auto [end, error] =
      std::from_chars(files.data(), files.data() + files.size(), options.max_open_files);
  if (error != std::errc() || options.max_open_files < 1 || options.max_open_files > kMostFiles) {
    return Status::User(fmt::format("option 'caudal.sink.max-open-files' of table '{}': '{}' is not 1 to {}",
                                    table.name, files, kMostFiles));
  }
  ASSIGN_OR_RETURN(options.buffer_bytes, ParseBytes(table.option("caudal.sink.buffer-size", "64MB")));
  return options;
}

std::string IcebergOptions::frame() const {
  return fmt::format("table '{}' of catalog '{}', declared as '{}'", name.ToString(), catalog_name, declared);
}

}  // namespace caudal
