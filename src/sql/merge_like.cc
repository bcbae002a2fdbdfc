#include "sql/merge_like.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/physical/substitute.h"
#include "sql/query_binder.h"

namespace caudal::sql {
namespace {

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
      table->watermark = WatermarkSpec{column, std::move(expr)};
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

}  // namespace

Status MergeLike(const LikeClause& like, const CreateTable& create, const Catalog& catalog,
                 const SourceText& source, Table* table) {
  ASSIGN_OR_RETURN(std::string name, TableName(like.source, source));
  const Table* from = catalog.FindTable(name);
  if (from == nullptr) return ErrorAt(source, like.source.range, fmt::format("unknown table '{}'", name));
  return LikeMerger(like, create, source).Merge(*from, table);
}

}  // namespace caudal::sql
