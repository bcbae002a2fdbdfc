#include "sql/insert_binder.h"

#include <fmt/format.h>

#include <algorithm>

#include "expr/scalar_function.h"
#include "sql/parse/name_parser.h"
#include "sql/physical/not_null_check.h"
#include "sql/select_binder.h"
#include "sql/table_name.h"

namespace caudal::sql {
namespace {

class InsertBinder {
 public:
  InsertBinder(const Insert& insert, QueryBinder& queries, const SourceText& source)
      : insert_(insert), queries_(queries), source_(source) {}

  Result<int> Bind() {
    RETURN_IF_ERROR(FindTarget());
    const Options& settings = queries_.catalog().settings();
    const auto enforcer = settings.find("table.exec.sink.not-null-enforcer");
    drops_nulls_ = enforcer != settings.end() && enforcer->second == "DROP";
    RETURN_IF_ERROR(ChooseColumns());
    BindContext context{&source_, table_.name};
    ASSIGN_OR_RETURN(Relation relation, queries_.Bind(*insert_.query, context));
    if (relation.scope.columns.size() != static_cast<int>(targets_.size())) {
      return ErrorAt(source_, insert_.query->range,
                     fmt::format("the query gives {} columns, table '{}' takes {}",
                                 relation.scope.columns.size(), table_.name, targets_.size()))
          .Hint(fmt::format("it takes {}", TargetNames()));
    }
    ASSIGN_OR_RETURN(std::vector<Projection> projections, CastColumns(relation));
    relation = Project(queries_.builder(), relation, table_.name, std::move(filters_), std::move(projections),
                       Position());
    SinkNode sink;
    for (int key : table_.primary_key) {
      const auto found = std::ranges::find(stored_, key);
      sink.key.push_back(static_cast<int>(found - stored_.begin()));
    }
    sink.table = table_;
    return queries_.builder().AddSink(table_.name + "/sink", relation.node, std::move(sink), Position());
  }

 private:
  SqlPosition Position() const { return source_.Position(insert_.target.range); }

  Status FindTarget() {
    const Catalog& catalog = queries_.catalog();
    ASSIGN_OR_RETURN(std::string name, TableName(insert_.target, catalog, source_));
    const Table* table = catalog.FindTable(name);
    if (table == nullptr) {
      if (catalog.FindView(name) != nullptr) {
        return ErrorAt(source_, insert_.target.range,
                       fmt::format("'{}' is a view: nothing can be inserted into it", name));
      }
      return UnknownTable(insert_.target, name, catalog, source_);
    }
    table_ = *table;
    for (const Option& option : insert_.options) table_.options[option.key] = option.value;
    const Connector* connector = catalog.FindConnector(table_.option("connector"));
    if (connector == nullptr) {
      return ErrorAt(source_, insert_.target.range,
                     fmt::format("unknown connector '{}' of table '{}'", table_.option("connector"), name));
    }
    if (!connector->can_write()) {
      return ErrorAt(
          source_, insert_.target.range,
          fmt::format("table '{}' cannot be written: connector '{}' only reads", name, connector->name()));
    }
    if (insert_.options.empty()) return Status();
    Status valid = ValidateOptions(*connector, table_);
    return valid.ok() ? valid : std::move(valid).At(source_.Frame(insert_.options.front().key_range));
  }

  // What the connector stores: physical columns and metadata that can be written.
  static bool IsStored(const TableColumn& column) {
    return column.kind == TableColumn::Kind::kPhysical ||
           (column.kind == TableColumn::Kind::kMetadata && !column.is_virtual);
  }

  // Which stored columns the query's columns go to, in the query's order.
  Status ChooseColumns() {
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      if (IsStored(table_.columns[i])) stored_.push_back(static_cast<int>(i));
    }
    if (insert_.columns.empty()) {
      targets_ = stored_;
      return Status();
    }
    for (const Name& name : insert_.columns) {
      const std::optional<int> column = table_.schema().Find(name.text);
      if (!column) {
        std::vector<std::string> known;
        for (int stored : stored_) known.push_back(table_.columns[static_cast<size_t>(stored)].name);
        Status status = ErrorAt(source_, name.range,
                                fmt::format("table '{}' has no column '{}'", table_.name, name.text));
        return std::move(status).Hint(fmt::format("it takes {}", fmt::join(known, ", ")));
      }
      if (!IsStored(table_.columns[static_cast<size_t>(*column)])) {
        return ErrorAt(source_, name.range,
                       fmt::format("column '{}' is not stored: nothing can be inserted into it", name.text));
      }
      if (std::ranges::find(targets_, *column) != targets_.end()) {
        return ErrorAt(source_, name.range, fmt::format("column '{}' stands twice", name.text));
      }
      targets_.push_back(*column);
    }
    return Status();
  }

  std::string TargetNames() const {
    std::string names;
    for (int target : targets_)
      names += (names.empty() ? "" : ", ") + table_.columns[static_cast<size_t>(target)].name;
    return names;
  }

  // One projection for each stored column; columns that the statement leaves out are NULL.
  Result<std::vector<Projection>> CastColumns(const Relation& relation) {
    std::vector<Projection> projections;
    for (int stored : stored_) {
      const TableColumn& column = table_.columns[static_cast<size_t>(stored)];
      const auto found = std::ranges::find(targets_, stored);
      if (found == targets_.end()) {
        if (!column.type.nullable()) {
          return ErrorAt(source_, insert_.target.range,
                         fmt::format("column '{}' is NOT NULL and gets no value", column.name));
        }
        projections.push_back({Expr::Literal(column.type, Value()), column.name});
        continue;
      }
      const int position = static_cast<int>(found - targets_.begin());
      const Field& field = relation.scope.columns[position];
      if (field.type.id() != TypeId::kNull && !CanStoreImplicitly(field.type, column.type)) {
        return ErrorAt(source_, ItemRange(static_cast<size_t>(position)),
                       fmt::format("column '{}' of table '{}' is {}, the query gives {}", column.name,
                                   table_.name, column.type.WithNullable(true).ToString(),
                                   field.type.WithNullable(true).ToString()))
            .Hint(fmt::format("write CAST(… AS {})", column.type.WithNullable(true).ToString()));
      }
      Expr expr = Expr::Column(position, field.name, field.type);
      ASSIGN_OR_RETURN(expr, BindCast(std::move(expr), column.type.WithNullable(field.type.nullable())));
      if (!column.type.nullable() && expr.type.nullable()) {
        if (drops_nulls_) {
          ASSIGN_OR_RETURN(Expr present, BindCall(*FindScalarFunction("IS NOT NULL"), {expr}));
          filters_.push_back(std::move(present));
        } else {
          expr = CheckNotNull(std::move(expr), column.name);
        }
      }
      projections.push_back({std::move(expr), column.name});
    }
    return projections;
  }

  // The entry of the list that gives the query's column, if it can be told.
  SourceRange ItemRange(size_t position) const {
    const Select* select = std::get_if<Select>(&insert_.query->body);
    if (select == nullptr || position >= select->items.size()) return insert_.query->range;
    for (size_t i = 0; i <= position; ++i) {
      if (select->items[i].star) return select->items[i].range;
    }
    return select->items[position].range;
  }

  const Insert& insert_;
  QueryBinder& queries_;
  const SourceText& source_;
  Table table_;
  bool drops_nulls_ = false;  // rows with NULL for a NOT NULL column are filtered, not refused
  std::vector<Expr> filters_;
  std::vector<int> stored_;   // positions in the table, in order
  std::vector<int> targets_;  // of the query's columns
};

}  // namespace

Result<int> BindInsert(const Insert& insert, QueryBinder& queries, const SourceText& source) {
  return InsertBinder(insert, queries, source).Bind();
}

}  // namespace caudal::sql
