#include "sql/create_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/expression_binder.h"
#include "sql/merge_like.h"
#include "sql/parse/name_parser.h"
#include "sql/query_binder.h"
#include "sql/type_binder.h"

namespace caudal::sql {
namespace {

// No user can write this name: a computed column that others must not use.
constexpr std::string_view kHiddenName = "\x01";

class TableBinder {
 public:
  TableBinder(const CreateTable& create, const Catalog& catalog, const SourceText& source)
      : create_(create), catalog_(catalog), source_(source) {}

  Result<Table> Bind() {
    ASSIGN_OR_RETURN(table_.name, TableName(create_.name, source_));
    table_.comment = create_.comment.value_or("");
    if (create_.like) RETURN_IF_ERROR(MergeLike(*create_.like, create_, catalog_, source_, &table_));
    inherited_ = table_.columns.size();
    RETURN_IF_ERROR(BindColumns());
    RETURN_IF_ERROR(BindComputed());
    RETURN_IF_ERROR(BindWatermark());
    RETURN_IF_ERROR(BindPrimaryKey());
    RETURN_IF_ERROR(BindPartitions());
    for (const Option& option : create_.options) table_.options[option.key] = option.value;
    RETURN_IF_ERROR(CheckConnector());
    return std::move(table_);
  }

 private:
  Status Fail(SourceRange range, std::string message) const {
    return ErrorAt(source_, range, std::move(message));
  }

  Status BindColumns() {
    for (const ColumnDefinition& definition : create_.columns) {
      TableColumn column;
      column.name = definition.name.text;
      column.comment = definition.comment.value_or("");
      if (table_.schema().Find(column.name)) {
        return Fail(definition.name.range, fmt::format("column '{}' stands twice", column.name));
      }
      if (column.name.starts_with('$')) {
        return Fail(definition.name.range, "a column name must not begin with '$'");
      }
      if (definition.computed) {
        column.kind = TableColumn::Kind::kComputed;
      } else {
        ASSIGN_OR_RETURN(column.type, BindType(*definition.type, source_));
      }
      if (definition.metadata) {
        column.kind = TableColumn::Kind::kMetadata;
        column.metadata_key = definition.metadata_key.value_or(column.name);
        column.is_virtual = definition.is_virtual;
      }
      table_.columns.push_back(std::move(column));
    }
    return Status();
  }

  // Computed columns see all others but not each other.
  Status BindComputed() {
    Scope scope{table_.name, table_.schema()};
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      if (table_.columns[i].kind == TableColumn::Kind::kComputed) scope.columns.fields[i].name = kHiddenName;
    }
    ExpressionBinder binder(source_, scope);
    for (size_t i = inherited_; i < table_.columns.size(); ++i) {
      TableColumn& column = table_.columns[i];
      if (column.kind != TableColumn::Kind::kComputed) continue;
      const ColumnDefinition& definition = create_.columns[i - inherited_];
      ASSIGN_OR_RETURN(column.computed, binder.Bind(*definition.computed));
      column.type = column.computed->type;
      if (column.type.id() == TypeId::kNull) {
        return Fail(definition.computed->range, fmt::format("column '{}' has no type", column.name))
            .Hint("write CAST(NULL AS type)");
      }
    }
    return Status();
  }

  Status BindWatermark() {
    if (create_.watermarks.empty()) return Status();
    if (create_.watermarks.size() > 1)
      return Fail(create_.watermarks[1].range, "a table has one WATERMARK only");
    const WatermarkDefinition& definition = create_.watermarks[0];
    if (definition.column.size() > 1) {
      return NotBuiltAt(source_, definition.range, "WATERMARK FOR a field of a ROW");
    }
    const Name& name = definition.column[0];
    const std::optional<int> column = table_.schema().Find(name.text);
    if (!column) return UnknownColumn(name);
    const Type& type = table_.columns[static_cast<size_t>(*column)].type;
    if (!type.is_timestamp() || type.precision() > 3) {
      return Fail(
          name.range,
          fmt::format("the time attribute '{}' must be TIMESTAMP(p) or TIMESTAMP_LTZ(p) with p up to 3, "
                      "not {}",
                      name.text, type.ToString()));
    }
    Scope scope{table_.name, table_.schema()};
    ExpressionBinder binder(source_, scope);
    ASSIGN_OR_RETURN(Expr expr, binder.Bind(*definition.expression));
    if (!expr.type.is_timestamp()) {
      return Fail(definition.expression->range,
                  fmt::format("the watermark must be a timestamp, not {}", expr.type.ToString()));
    }
    table_.watermark = WatermarkSpec{*column, std::move(expr)};
    return Status();
  }

  Status BindPrimaryKey() {
    if (create_.primary_keys.empty()) return Status();
    if (create_.primary_keys.size() > 1) {
      return Fail(create_.primary_keys[1].range, "a table has one PRIMARY KEY only");
    }
    const PrimaryKeyDefinition& key = create_.primary_keys[0];
    if (!key.not_enforced) {
      return Fail(key.range, "a PRIMARY KEY cannot be enforced").Hint("write PRIMARY KEY … NOT ENFORCED");
    }
    table_.primary_key.clear();
    for (const Name& name : key.columns) {
      const std::optional<int> column = table_.schema().Find(name.text);
      if (!column) return UnknownColumn(name);
      TableColumn& target = table_.columns[static_cast<size_t>(*column)];
      if (target.kind != TableColumn::Kind::kPhysical) {
        return Fail(name.range,
                    fmt::format("column '{}' is not stored: it cannot be in the PRIMARY KEY", name.text));
      }
      if (std::ranges::find(table_.primary_key, *column) != table_.primary_key.end()) {
        return Fail(name.range, fmt::format("column '{}' stands twice in the PRIMARY KEY", name.text));
      }
      target.type = target.type.WithNullable(false);
      table_.primary_key.push_back(*column);
    }
    return Status();
  }

  Status BindPartitions() {
    for (const Name& name : create_.partitioned_by) {
      const std::optional<int> column = table_.schema().Find(name.text);
      if (!column) return UnknownColumn(name);
      if (std::ranges::find(table_.partition_keys, *column) != table_.partition_keys.end()) {
        return Fail(name.range, fmt::format("column '{}' stands twice in PARTITIONED BY", name.text));
      }
      table_.partition_keys.push_back(*column);
    }
    return Status();
  }

  Status CheckConnector() {
    const std::string_view name = table_.option("connector");
    if (name.empty()) {
      return Fail(create_.name.range, fmt::format("table '{}' has no connector", table_.name))
          .Hint("write WITH ('connector' = '…')");
    }
    const Connector* connector = catalog_.FindConnector(name);
    if (connector == nullptr) {
      std::string known;
      for (const Connector* each : catalog_.connectors()) {
        known += (known.empty() ? "" : ", ") + std::string(each->name());
      }
      return Fail(OptionRange("connector"), fmt::format("unknown connector '{}'", name))
          .Hint("connectors are " + known);
    }
    Status valid = ValidateOptions(*connector, table_);
    if (!valid.ok()) return std::move(valid).At(source_.Frame(FaultyOption(valid.message())));
    for (const TableColumn& column : table_.columns) {
      if (column.kind == TableColumn::Kind::kMetadata) RETURN_IF_ERROR(CheckMetadata(column, *connector));
    }
    return Status();
  }

  Status CheckMetadata(const TableColumn& column, const Connector& connector) {
    std::string known;
    for (const Field& field : connector.metadata()) {
      if (field.name == column.metadata_key) {
        if (field.type.EqualsIgnoringNullability(column.type)) return Status();
        return Fail(ColumnRange(column.name), fmt::format("metadata '{}' is {}, not {}", field.name,
                                                          field.type.ToString(), column.type.ToString()));
      }
      known += (known.empty() ? "" : ", ") + field.name;
    }
    Status status = Fail(ColumnRange(column.name), fmt::format("connector '{}' has no metadata '{}'",
                                                               connector.name(), column.metadata_key));
    return std::move(status).Hint(known.empty() ? "it has none" : "it has " + known);
  }

  SourceRange ColumnRange(std::string_view name) const {
    for (const ColumnDefinition& column : create_.columns) {
      if (column.name.text == name) return column.range;
    }
    return create_.name.range;
  }

  SourceRange OptionRange(std::string_view key) const {
    for (const Option& option : create_.options) {
      if (option.key == key) return option.value_range;
    }
    return create_.name.range;
  }

  // The option that a message of ValidateOptions quotes.
  SourceRange FaultyOption(std::string_view message) const {
    for (const Option& option : create_.options) {
      if (message.find(fmt::format("'{}'", option.key)) != std::string_view::npos) return option.key_range;
    }
    return create_.name.range;
  }

  Status UnknownColumn(const Name& name) const {
    std::vector<std::string> known;
    for (const TableColumn& column : table_.columns) known.push_back(column.name);
    Status status = Fail(name.range, fmt::format("unknown column '{}'", name.text));
    const std::string nearest = NearestName(name.text, known);
    return nearest.empty() ? status : std::move(status).Hint(fmt::format("did you mean '{}'?", nearest));
  }

  const CreateTable& create_;
  const Catalog& catalog_;
  const SourceText& source_;
  Table table_;
  size_t inherited_ = 0;  // columns that came by LIKE stand in front
};

}  // namespace

Result<Table> BindCreateTable(const CreateTable& create, const Catalog& catalog, const SourceText& source) {
  return TableBinder(create, catalog, source).Bind();
}

Result<View> BindCreateView(const CreateView& create, const Catalog& catalog, const SourceText& source) {
  View view;
  ASSIGN_OR_RETURN(view.name, TableName(create.name, source));
  view.position = source.Position(create.query->range);
  view.query = std::string(source.Slice(create.query->range));
  PlanBuilder scratch;
  // Whether ORDER BY is possible depends on the mode in which the view is used.
  QueryBinder binder(&catalog, &scratch, /*batch=*/true);
  ASSIGN_OR_RETURN(Relation relation, binder.Bind(*create.query, BindContext{&source, view.name}));
  for (const Name& name : create.columns) view.columns.push_back(name.text);
  if (!view.columns.empty() && static_cast<int>(view.columns.size()) != relation.scope.columns.size()) {
    return ErrorAt(
        source, Cover(create.columns.front().range, create.columns.back().range),
        fmt::format("{} names for {} columns", view.columns.size(), relation.scope.columns.size()));
  }
  return view;
}

}  // namespace caudal::sql
