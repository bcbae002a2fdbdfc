#include "sql/create_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/expression_binder.h"
#include "sql/literal/type_binder.h"
#include "sql/parse/name_parser.h"
#include "sql/physical/substitute.h"
#include "sql/query_binder.h"
#include "sql/table_name.h"

namespace caudal::sql {
namespace {

// No user can write this name: a computed column that others must not use.
constexpr std::string_view kHiddenName = "\x01";

// What CREATE TABLE … LIKE takes from another table.
class LikeMerger {
 public:
  LikeMerger(const LikeClause& like, const CreateTable& create, const SourceText& source)
      : like_(like), create_(create), source_(source) {}

  Status Merge(const Table& from, Table* table) {
    RETURN_IF_ERROR(MergeColumns(from, table));
    if (from.watermark && Takes(LikeFeature::kWatermarks, !create_.watermarks.empty())) {
      if (!create_.watermarks.empty()) return Twice(create_.watermarks[0].range, "WATERMARK", "WATERMARKS");
      const int column = positions_[static_cast<size_t>(from.watermark->column)];
      if (column < 0) return Missing("WATERMARK");
      ASSIGN_OR_RETURN(Expr expr, Remap(from.watermark->expr, "WATERMARK"));
      table->watermark = WatermarkSpec{column, std::move(expr), from.watermark->text};
    }
    if (!from.primary_key.empty() && Takes(LikeFeature::kConstraints, !create_.primary_keys.empty())) {
      if (!create_.primary_keys.empty())
        return Twice(create_.primary_keys[0].range, "PRIMARY KEY", "CONSTRAINTS");
      for (int column : from.primary_key)
        table->primary_key.push_back(positions_[static_cast<size_t>(column)]);
    }
    if (!from.partition_keys.empty() && Takes(LikeFeature::kPartitions, !create_.partitioned_by.empty())) {
      if (!create_.partitioned_by.empty())
        return Twice(create_.partitioned_by[0].range, "PARTITIONED BY", "PARTITIONS");
      for (int column : from.partition_keys) {
        if (positions_[static_cast<size_t>(column)] < 0) return Missing("PARTITIONED BY");
        table->partition_keys.push_back(positions_[static_cast<size_t>(column)]);
      }
    }
    if (Rule(LikeFeature::kOptions) != LikeMerge::kExcluding) table->options = from.options;
    for (const Option& option : create_.options) {
      if (Rule(LikeFeature::kOptions) == LikeMerge::kIncluding && table->options.contains(option.key)) {
        return Twice(option.key_range, fmt::format("option '{}'", option.key), "OPTIONS");
      }
    }
    return Status();
  }

 private:
  LikeMerge Rule(LikeFeature feature) const {
    LikeMerge merge = feature == LikeFeature::kOptions ? LikeMerge::kOverwriting : LikeMerge::kIncluding;
    for (const LikeClause::Rule& rule : like_.rules) {
      if (rule.feature == LikeFeature::kAll) merge = rule.merge;
    }
    for (const LikeClause::Rule& rule : like_.rules) {
      if (rule.feature == feature) merge = rule.merge;
    }
    return merge;
  }

  // Whether the source's part is wanted; with OVERWRITING only where the new table states none itself.
  bool Takes(LikeFeature feature, bool stated) const {
    const LikeMerge rule = Rule(feature);
    return rule == LikeMerge::kIncluding || (rule == LikeMerge::kOverwriting && !stated);
  }

  Status MergeColumns(const Table& from, Table* table) {
    for (const TableColumn& column : from.columns) {
      const auto same = std::ranges::find_if(
          create_.columns, [&](const ColumnDefinition& each) { return each.name.text == column.name; });
      const bool stated = same != create_.columns.end();
      bool takes = true;
      if (column.kind == TableColumn::Kind::kComputed) takes = Takes(LikeFeature::kGenerated, stated);
      if (column.kind == TableColumn::Kind::kMetadata) takes = Takes(LikeFeature::kMetadata, stated);
      if (takes && stated) {
        return ErrorAt(source_, same->name.range,
                       fmt::format("column '{}' stands in table '{}' too", column.name, from.name));
      }
      positions_.push_back(takes ? static_cast<int>(table->columns.size()) : -1);
      if (takes) table->columns.push_back(column);
    }
    for (TableColumn& column : table->columns) {
      if (!column.computed) continue;
      ASSIGN_OR_RETURN(column.computed, Remap(*column.computed, "a computed column"));
    }
    return Status();
  }

  // Columns of the source as columns of the new table.
  Result<Expr> Remap(const Expr& expr, std::string_view what) const {
    bool missing = false;
    VisitColumns(expr,
                 [&](const Expr& column) { missing |= positions_[static_cast<size_t>(column.column)] < 0; });
    if (missing) return Missing(what);
    std::vector<Expr> columns(positions_.size());
    VisitColumns(expr, [&](const Expr& column) {
      columns[static_cast<size_t>(column.column)] =
          Expr::Column(positions_[static_cast<size_t>(column.column)], column.name, column.type);
    });
    return Substitute(expr, columns);
  }

  Status Missing(std::string_view what) const {
    return ErrorAt(source_, like_.source.range, fmt::format("{} needs a column that LIKE leaves out", what));
  }
  Status Twice(SourceRange range, std::string_view what, std::string_view feature) const {
    return ErrorAt(source_, range, fmt::format("{} stands in the table of LIKE too", what))
        .Hint(fmt::format("write LIKE … (OVERWRITING {}) or (EXCLUDING {})", feature, feature));
  }

  const LikeClause& like_;
  const CreateTable& create_;
  const SourceText& source_;
  std::vector<int> positions_;  // of the source's columns in the new table; -1 = left out
};

// Puts columns, watermark, key, partitions and options of the source into `table` as the rules say (by
// default INCLUDING ALL OVERWRITING OPTIONS, as in Flink). A part that the statement states too is a User
// error unless the rule is OVERWRITING or EXCLUDING.
Status MergeLike(const LikeClause& like, const CreateTable& create, const Catalog& catalog,
                 const SourceText& source, bool made_outside, Table* table) {
  ASSIGN_OR_RETURN(std::string name, TableName(like.source, catalog, source));
  const Table* from = catalog.FindTable(name);
  if (from == nullptr) return UnknownTable(like.source, name, catalog, source);
  const ExternalTable* outside = catalog.externals().FindLoaded(name);
  if (!made_outside || outside == nullptr) return LikeMerger(like, create, source).Merge(*from, table);
  // Which catalog a table is in is said by its name.
  Table own = *from;
  own.options = outside->own;
  return LikeMerger(like, create, source).Merge(own, table);
}

class TableBinder {
 public:
  TableBinder(const CreateTable& create, const Catalog& catalog, const SourceText& source)
      : create_(create), catalog_(catalog), source_(source) {}

  Result<Table> Bind() {
    ASSIGN_OR_RETURN(path_, ResolvePath(create_.name, catalog_, source_));
    const bool outside = IsOutside(path_) && !create_.temporary;
    table_.name = NameInCatalog(path_);
    table_.comment = create_.comment.value_or("");
    if (create_.like) RETURN_IF_ERROR(MergeLike(*create_.like, create_, catalog_, source_, outside, &table_));
    inherited_ = table_.columns.size();
    RETURN_IF_ERROR(BindColumns());
    RETURN_IF_ERROR(BindComputed());
    RETURN_IF_ERROR(BindWatermark());
    RETURN_IF_ERROR(BindPrimaryKey());
    RETURN_IF_ERROR(BindPartitions());
    for (const Option& option : create_.options) table_.options[option.key] = option.value;
    RETURN_IF_ERROR(outside ? CheckOutside() : CheckConnector());
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
      column.computed_text = source_.Slice(definition.computed->range);
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
    const std::optional<Expr>& computed = table_.columns[static_cast<size_t>(*column)].computed;
    if (computed && computed->kind == Expr::Kind::kCall && computed->name == "PROCTIME") {
      return Fail(name.range, fmt::format("'{}' is processing time, which has no watermark", name.text))
          .Hint("leave WATERMARK out, or name a column with the time of the event");
    }
    Scope scope{table_.name, table_.schema()};
    ExpressionBinder binder(source_, scope);
    ASSIGN_OR_RETURN(Expr expr, binder.Bind(*definition.expression));
    if (!expr.type.is_timestamp()) {
      return Fail(definition.expression->range,
                  fmt::format("the watermark must be a timestamp, not {}", expr.type.ToString()));
    }
    table_.watermark =
        WatermarkSpec{*column, std::move(expr), std::string(source_.Slice(definition.expression->range))};
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

  // A table that a catalog outside keeps: its columns, key, partitions and properties, and nothing that the
  // catalog has no place for.
  Status CheckOutside() const {
    const auto refuse = [&](SourceRange range, std::string_view what) {
      return Fail(range, fmt::format("catalog '{}' keeps no {}", path_.catalog, what))
          .Hint(fmt::format("declare it for the session: CREATE TEMPORARY TABLE t (…) LIKE {}", table_.name));
    };
    for (const TableColumn& column : table_.columns) {
      if (column.kind == TableColumn::Kind::kPhysical) continue;
      const bool computed = column.kind == TableColumn::Kind::kComputed;
      return refuse(ColumnRange(column.name),
                    fmt::format("{} column, as '{}' is", computed ? "computed" : "metadata", column.name));
    }
    if (table_.watermark) {
      return refuse(create_.watermarks.empty() ? create_.name.range : create_.watermarks[0].range,
                    "WATERMARK");
    }
    if (table_.options.contains("connector")) {
      return Fail(OptionRange("connector"),
                  fmt::format("a table of catalog '{}' takes no option 'connector'", path_.catalog))
          .Hint(create_.like ? "write LIKE … (EXCLUDING OPTIONS)"
                             : "leave it out, or declare a table of the session: CREATE TEMPORARY TABLE");
    }
    Status valid = catalog_.externals().CheckTable(path_, table_);
    return valid.ok() ? valid : std::move(valid).At(source_.Frame(FaultyOption(valid.message())));
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
  ObjectPath path_;
  Table table_;
  size_t inherited_ = 0;  // columns that came by LIKE stand in front
};

}  // namespace

Result<Table> BindCreateTable(const CreateTable& create, const Catalog& catalog, const SourceText& source) {
  return TableBinder(create, catalog, source).Bind();
}

Result<View> BindCreateView(const CreateView& create, const Catalog& catalog, const SourceText& source) {
  View view;
  ASSIGN_OR_RETURN(const ObjectPath path, ResolvePath(create.name, catalog, source));
  if (IsOutside(path) && !create.temporary) {
    return ErrorAt(source, create.name.range, fmt::format("catalog '{}' keeps no views", path.catalog))
        .Hint("write CREATE TEMPORARY VIEW: the session keeps it");
  }
  view.name = NameInCatalog(path);
  view.current = catalog.current();
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
