#include "connect/iceberg/sink/iceberg_sink_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "connect/iceberg/iceberg_columns.h"
#include "connect/iceberg/iceberg_types.h"
#include "connect/iceberg/sink/sink_files.h"
#include "iceberg/catalog/table_files.h"
#include "iceberg/index/key_hash.h"
#include "iceberg/manifest/manifest_schema.h"

namespace caudal {
namespace {

constexpr int64_t kTargetBytes = int64_t{512} << 20;

Result<std::string> BranchOf(const Table& declared, const iceberg::TableMetadata& table) {
  std::string branch(declared.option("branch"));
  if (branch.empty()) branch = "main";
  const iceberg::SnapshotRef* ref = table.FindRef(branch);
  if (ref == nullptr || ref->type == "branch") return branch;
  return Status::User(fmt::format("'{}' is a tag, which is not written", branch))
      .Hint("write to a branch: 'caudal table branch create' makes one where the tag is");
}

}  // namespace

Result<IcebergSinkPlan> IcebergSinkPlan::Make(const Table& declared, const IcebergOptions& options,
                                              const iceberg::TableMetadata& table,
                                              const ConnectorContext& context) {
  IcebergSinkPlan plan;
  plan.env = context.env == nullptr ? Env::Real() : context.env;
  plan.state_files = context.files == nullptr ? FileSystem::Local() : context.files;
  ASSIGN_OR_RETURN(plan.files, options.FilesOf(context.files));
  plan.options = options;
  ASSIGN_OR_RETURN(plan.branch, BranchOf(declared, table));
  plan.table = table;
  ASSIGN_OR_RETURN(plan.ids, MatchColumns(declared, options, table));
  ASSIGN_OR_RETURN(const Schema stored, StoredColumns(declared));
  const iceberg::Schema& schema = *table.FindSchema(table.current_schema_id);
  for (size_t i = 0; i < plan.ids.size(); ++i) {
    plan.rows.fields.push_back(stored.fields[i]);
    plan.content.fields.push_back({stored.fields[i].name, FileTypeOf(stored.fields[i].type)});
    plan.types.push_back(schema.FindField(plan.ids[i])->type);
  }
  for (const int column : declared.primary_key) {
    const std::string& name = declared.columns[static_cast<size_t>(column)].name;
    const auto found = std::find_if(stored.fields.begin(), stored.fields.end(),
                                    [&](const Field& field) { return field.name == name; });
    plan.key.push_back(static_cast<int>(found - stored.fields.begin()));
  }
  plan.key_seed = iceberg::KeySeed(table.table_uuid);
  plan.scratch = context.segment_dir;
  plan.spec = *table.FindSpec(table.default_spec_id);
  ASSIGN_OR_RETURN(plan.partition_types, iceberg::PartitionTypes(schema, plan.spec));
  for (const iceberg::PartitionField& field : plan.spec.fields) {
    IcebergPartitionField made{iceberg::Transform::Parse(field.transform), {}, -1};
    const auto source = std::find(plan.ids.begin(), plan.ids.end(), field.source_ids[0]);
    if (source != plan.ids.end() && made.transform.kind != iceberg::Transform::Kind::kVoid) {
      made.column = static_cast<int>(source - plan.ids.begin());
      made.source = plan.types[static_cast<size_t>(made.column)];
    }
    plan.partition.push_back(std::move(made));
  }
  std::map<std::string, std::string> properties = options.properties;
  properties.insert(table.properties.begin(), table.properties.end());
  const auto codec = properties.find(kCodecProperty);
  if (codec != properties.end()) {
    ASSIGN_OR_RETURN(plan.parquet.compression, ParquetCodec(codec->second));
  }
  plan.parquet.field_ids = plan.ids;
  const auto target = properties.find("write.target-file-size-bytes");
  plan.target_bytes = target == properties.end() ? kTargetBytes : std::atoll(target->second.c_str());
  if (plan.target_bytes < 1) {
    return Status::User(
        fmt::format("'write.target-file-size-bytes': '{}' is no number of bytes", target->second));
  }
  plan.pipeline = fmt::format("{}@{}/{}", context.query, context.identity, context.sink);
  plan.sink = SinkNumber(context.identity, context.query, context.sink);
  plan.generation = context.generation;
  plan.ephemeral = context.ephemeral;
  return plan;
}

std::string IcebergSinkPlan::key_identity() const {
  std::string text;
  for (const int column : key) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{} {}", ids[static_cast<size_t>(column)], rows[column].type.ToString());
  }
  return text;
}

std::string IcebergSinkPlan::table_name() const {
  return options.catalog_name + "." + options.name.ToString();
}

std::string IcebergSinkPlan::data_folder() const { return iceberg::DataFolder(table); }

}  // namespace caudal
