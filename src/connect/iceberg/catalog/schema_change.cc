#include "connect/iceberg/catalog/schema_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "connect/iceberg/iceberg_types.h"

namespace caudal {
namespace {

using Id = iceberg::TypeId;

bool DiffersByCaseAlone(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// What is no property, though SET could be asked for it.
constexpr std::string_view kNoProperties[] = {
    "connector", "location", "format-version", "uuid", "current-snapshot-id", "cherry-pick-snapshot-id"};

class SchemaChange {
 public:
  explicit SchemaChange(const iceberg::TableMetadata& table)
      : table_(table),
        schema_(*table.FindSchema(table.current_schema_id)),
        last_id_(std::max(table.last_column_id, schema_.HighestId())) {}

  Status Apply(const AddColumn& add) {
    RETURN_IF_ERROR(CheckFree(add.column.name));
    iceberg::Field field;
    field.name = add.column.name;
    ASSIGN_OR_RETURN(field.type, IcebergTypeOf({add.column.name, add.column.type}, table_.format_version));
    if (!add.column.type.nullable()) {
      return Status::User(
                 fmt::format("column '{}' cannot be added as NOT NULL: rows that are there have no value",
                             add.column.name))
          .Hint("leave NOT NULL out");
    }
    field.id = ++last_id_;
    if (!add.column.comment.empty()) field.doc = add.column.comment;
    schema_.fields.push_back(std::move(field));
    return Move(add.column.name, add.place);
  }

  Status Apply(const ModifyColumn& modify) {
    ASSIGN_OR_RETURN(iceberg::Field * field, Find(modify.column.name));
    ASSIGN_OR_RETURN(const iceberg::Type type,
                     IcebergTypeOf({modify.column.name, modify.column.type}, table_.format_version));
    if (type != field->type && !CanWiden(field->type, type)) {
      return Status::User(fmt::format("column '{}' is {}: it cannot be made {}", field->name,
                                      iceberg::TypeText(field->type), iceberg::TypeText(type)))
          .Hint("types only grow: INT to BIGINT, FLOAT to DOUBLE, DECIMAL to more digits of one scale");
    }
    if (!field->required && !modify.column.type.nullable()) {
      return Status::User(fmt::format("column '{}' cannot become NOT NULL: rows may hold NULL", field->name));
    }
    if (modify.column.type.nullable() && IsKey(field->id)) {
      return Status::User(fmt::format("column '{}' is in the PRIMARY KEY: it cannot hold NULL", field->name))
          .Hint("write NOT NULL behind its type, or drop the PRIMARY KEY first");
    }
    field->type = type;
    field->required = !modify.column.type.nullable();
    if (modify.comments) field->doc = modify.column.comment;
    return Move(modify.column.name, modify.place);
  }

  Status Apply(const DropColumn& drop) {
    ASSIGN_OR_RETURN(const iceberg::Field* const field, Find(drop.name));
    const int32_t id = field->id;
    const auto refuse = [&](std::string_view what) {
      return Status::User(fmt::format("column '{}' cannot be dropped: {}", drop.name, what));
    };
    if (IsKey(id)) return refuse("it is in the PRIMARY KEY");
    if (schema_.fields.size() == 1) return refuse("it is the only one");
    for (const iceberg::PartitionField& part : table_.FindSpec(table_.default_spec_id)->fields) {
      const bool uses = std::ranges::find(part.source_ids, id) != part.source_ids.end();
      if (uses && part.transform != "void") return refuse("the table is partitioned by it");
    }
    for (const iceberg::SortOrder& order : table_.sort_orders) {
      if (order.order_id != table_.default_sort_order_id) continue;
      for (const iceberg::SortField& sorted : order.fields) {
        if (std::ranges::find(sorted.source_ids, id) != sorted.source_ids.end())
          return refuse("the table is sorted by it");
      }
    }
    std::erase_if(schema_.fields, [&](const iceberg::Field& each) { return each.id == id; });
    return Status();
  }

  Status Apply(const RenameColumn& rename) {
    ASSIGN_OR_RETURN(iceberg::Field * field, Find(rename.name));
    if (!DiffersByCaseAlone(rename.name, rename.to)) RETURN_IF_ERROR(CheckFree(rename.to));
    field->name = rename.to;
    return Status();
  }

  Status Apply(const SetKey& key) {
    schema_.identifier_field_ids.clear();
    for (const std::string& name : key.columns) {
      ASSIGN_OR_RETURN(const iceberg::Field* const field, Find(name));
      if (!field->required) {
        return Status::User(fmt::format("column '{}' may hold NULL: it cannot be in the PRIMARY KEY", name))
            .Hint("a column that was made NOT NULL can");
      }
      if (field->type.is_nested() || field->type.id == Id::kFloat || field->type.id == Id::kDouble) {
        return Status::User(fmt::format("column '{}' is {}: it cannot be in the PRIMARY KEY", name,
                                        iceberg::TypeText(field->type)));
      }
      if (IsKey(field->id))
        return Status::User(fmt::format("column '{}' stands twice in the PRIMARY KEY", name));
      schema_.identifier_field_ids.push_back(field->id);
    }
    return Status();
  }

  Status Apply(const SetOptions& set) {
    for (const auto& [key, value] : set.options) {
      RETURN_IF_ERROR(CheckProperty(key));
      set_.properties[key] = value;
    }
    return Status();
  }

  Status Apply(const ResetOptions& reset) {
    for (const std::string& key : reset.names) {
      RETURN_IF_ERROR(CheckProperty(key));
      removed_.names.push_back(key);
    }
    return Status();
  }

  iceberg::TableCommit Commit() && {
    iceberg::TableCommit commit;
    commit.requirements.push_back(iceberg::AssertTableUuid{table_.table_uuid});
    const iceberg::Schema& current = *table_.FindSchema(table_.current_schema_id);
    if (schema_ != current) {
      commit.requirements.push_back(iceberg::AssertCurrentSchemaId{table_.current_schema_id});
      // Services that keep tables refuse a number that is taken, or a schema that is there already.
      std::optional<int32_t> former;
      int32_t next = 0;
      for (const iceberg::Schema& known : table_.schemas) {
        next = std::max(next, known.schema_id + 1);
        schema_.schema_id = known.schema_id;
        if (schema_ == known) former = known.schema_id;
      }
      schema_.schema_id = next;
      if (former) {
        commit.updates.push_back(iceberg::SetCurrentSchema{*former});
      } else {
        commit.updates.push_back(iceberg::AddSchema{std::move(schema_), last_id_});
      }
    }
    if (!set_.properties.empty()) commit.updates.push_back(std::move(set_));
    if (!removed_.names.empty()) commit.updates.push_back(std::move(removed_));
    return commit;
  }

 private:
  Result<iceberg::Field*> Find(const std::string& name) {
    for (iceberg::Field& field : schema_.fields) {
      if (field.name == name) return &field;
    }
    for (const iceberg::Field& field : schema_.fields) {
      if (!DiffersByCaseAlone(field.name, name)) continue;
      return Status::User(fmt::format("the table has no column '{}'", name))
          .Hint(fmt::format("'{}' differs by case alone; names are taken as they are", field.name));
    }
    return Status::User(fmt::format("the table has no column '{}'", name));
  }

  Status CheckFree(const std::string& name) const {
    for (const iceberg::Field& field : schema_.fields) {
      if (field.name == name) return Status::User(fmt::format("the table has a column '{}' already", name));
      if (!DiffersByCaseAlone(field.name, name)) continue;
      return Status::User(
                 fmt::format("the columns '{}' and '{}' would differ by case alone", field.name, name))
          .Hint("other engines read names of any case");
    }
    return Status();
  }

  bool IsKey(int32_t id) const {
    return std::ranges::find(schema_.identifier_field_ids, id) != schema_.identifier_field_ids.end();
  }

  Status Move(const std::string& name, const ColumnPlace& place) {
    if (!place.first && place.after.empty()) return Status();
    if (place.after == name) return Status::User(fmt::format("column '{}' cannot stand after itself", name));
    if (!place.first) RETURN_IF_ERROR(Find(place.after).status());
    std::vector<iceberg::Field>& fields = schema_.fields;
    const auto is = [](const std::string& wanted) {
      return [&wanted](const iceberg::Field& field) { return field.name == wanted; };
    };
    const auto at = std::ranges::find_if(fields, is(name));
    iceberg::Field field = std::move(*at);
    fields.erase(at);
    const auto to = place.first ? fields.begin() : std::ranges::find_if(fields, is(place.after)) + 1;
    fields.insert(to, std::move(field));
    return Status();
  }

  static Status CheckProperty(const std::string& key) {
    const bool refused = std::ranges::find(kNoProperties, key) != std::end(kNoProperties);
    if (!refused && !key.starts_with("caudal.")) return Status();
    return Status::User(fmt::format("'{}' cannot be set or reset: it is no property of a table", key))
        .Hint(key == "format-version" ? "the format of a table that is there stays as it is, so far" : "");
  }

  const iceberg::TableMetadata& table_;
  iceberg::Schema schema_;
  int32_t last_id_;
  iceberg::SetProperties set_;
  iceberg::RemoveProperties removed_;
};

}  // namespace

bool CanWiden(const iceberg::Type& from, const iceberg::Type& to) {
  if (from.id == Id::kInt) return to.id == Id::kLong;
  if (from.id == Id::kFloat) return to.id == Id::kDouble;
  return from.id == Id::kDecimal && to.id == Id::kDecimal && from.scale == to.scale &&
         from.precision < to.precision;
}

Result<iceberg::TableCommit> CommitOf(const std::vector<TableChange>& changes,
                                      const iceberg::TableMetadata& table) {
  SchemaChange change(table);
  for (const TableChange& each : changes) {
    RETURN_IF_ERROR(std::visit([&](const auto& one) { return change.Apply(one); }, each));
  }
  return std::move(change).Commit();
}

}  // namespace caudal
