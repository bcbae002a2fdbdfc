#include "connect/iceberg/sink/fitting_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "connect/iceberg/catalog/schema_change.h"
#include "connect/iceberg/iceberg_types.h"
#include "data/column_view.h"
#include "data/int128.h"
#include "data/text/number_text.h"

namespace caudal {
namespace {

// The values of the column as the narrower type; those that do not fit become 0, and `fits` is false there.
template <typename From, typename To, typename Fits>
ColumnPtr Narrow(const Column& column, const Type& type, const Fits& fits, std::vector<bool>* fit) {
  const ColumnView<From> view(column);
  const int32_t rows = column.size();
  MutableBufferPtr values = Buffer::Allocate(static_cast<size_t>(rows) * sizeof(To));
  const size_t words = (static_cast<size_t>(rows) + 63) / 64;
  MutableBufferPtr valid = Buffer::Allocate(words * sizeof(uint64_t));
  To* to = values->mutable_as<To>();
  uint64_t* bits = valid->mutable_as<uint64_t>();
  std::fill_n(bits, words, 0);
  for (int32_t row = 0; row < rows; ++row) {
    to[row] = To{0};
    if (view.IsNull(row)) continue;
    bits[row >> 6] |= uint64_t{1} << (row & 63);
    const bool good = fits(view[row]);
    (*fit)[static_cast<size_t>(row)] = good;
    if (good) to[row] = static_cast<To>(view[row]);
  }
  return Column::Flat(type, rows, values, column.may_have_nulls() ? BufferPtr(valid) : nullptr);
}

ColumnPtr NarrowTo(const Column& column, const Type& type, std::vector<bool>* fit) {
  if (type.id() == TypeId::kInt) {
    const auto fits = [](int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; };
    return Narrow<int64_t, int32_t>(column, type, fits, fit);
  }
  if (type.id() == TypeId::kFloat) {
    const auto fits = [](double value) {
      return std::isnan(value) || static_cast<double>(static_cast<float>(value)) == value;
    };
    return Narrow<double, float>(column, type, fits, fit);
  }
  const int128_t limit = PowerOfTen(type.precision());
  const auto fits = [limit](int128_t value) { return value > -limit && value < limit; };
  if (column.type().physical() == Physical::kInt64) return Narrow<int64_t, int64_t>(column, type, fits, fit);
  return type.physical() == Physical::kInt64 ? Narrow<int128_t, int64_t>(column, type, fits, fit)
                                             : Narrow<int128_t, int128_t>(column, type, fits, fit);
}

Result<ColumnFit> FitOf(const TableColumn& column, const iceberg::TableMetadata& table) {
  ColumnFit fit{column.name, column.type, column.type};
  const iceberg::Schema& schema = *table.FindSchema(table.current_schema_id);
  const auto found = std::ranges::find(schema.fields, column.name, &iceberg::Field::name);
  fit.gone = found == schema.fields.end();
  if (fit.gone) return fit;
  fit.required = found->required && column.type.nullable();
  ASSIGN_OR_RETURN(const iceberg::Type type, IcebergTypeOf({column.name, column.type}, table.format_version));
  const std::optional<Type> narrower = CanWiden(found->type, type) ? SqlTypeOf(found->type) : std::nullopt;
  if (narrower) fit.in_table = narrower->WithNullable(column.type.nullable());
  if (fit.required) fit.in_table = fit.in_table.WithNullable(false);
  return fit;
}

std::string WhyNot(const ColumnFit& fit, bool is_null) {
  if (fit.gone) return fmt::format("the table has no column '{}', and the row has a value of it", fit.name);
  if (is_null) return fmt::format("column '{}' is required in the table, and the row has NULL", fit.name);
  return fmt::format("the value of column '{}' does not fit {}, which the table has", fit.name,
                     fit.in_table.ToString());
}

}  // namespace

bool FittedTable::is_as_it_is() const { return std::ranges::all_of(fits, &ColumnFit::is_as_it_is); }

Result<FittedTable> FitTo(const Table& declared, const iceberg::TableMetadata& table) {
  FittedTable fitted;
  fitted.table = declared;
  fitted.table.columns.clear();
  fitted.table.watermark.reset();
  std::vector<int> place(declared.columns.size(), -1);
  for (size_t i = 0; i < declared.columns.size(); ++i) {
    const TableColumn& column = declared.columns[i];
    if (column.kind != TableColumn::Kind::kPhysical) continue;
    ASSIGN_OR_RETURN(ColumnFit fit, FitOf(column, table));
    if (!fit.gone) {
      place[i] = static_cast<int>(fitted.table.columns.size());
      fitted.table.columns.push_back(column);
      fitted.table.columns.back().type = fit.in_table;
    }
    fitted.fits.push_back(std::move(fit));
  }
  for (std::vector<int>* keys : {&fitted.table.primary_key, &fitted.table.partition_keys}) {
    for (int& key : *keys) {
      const std::string& name = declared.columns[static_cast<size_t>(key)].name;
      key = place[static_cast<size_t>(key)];
      if (key >= 0) continue;
      return Status::User(fmt::format("the table has no column '{}', which is in its key", name))
          .Hint("add it by ALTER TABLE");
    }
  }
  return fitted;
}

Status FittingWriter::Write(const Chunk& chunk, SinkRejects& rejects) {
  const RowSet rows = chunk.rows();
  std::vector<bool> refused(static_cast<size_t>(chunk.physical_rows()), false);
  std::vector<ColumnPtr> columns;
  for (size_t i = 0; i < fits_.size(); ++i) {
    const ColumnFit& fit = fits_[i];
    const ColumnPtr& column = chunk.column(static_cast<int>(i));
    std::vector<bool> good(static_cast<size_t>(chunk.physical_rows()), true);
    ColumnPtr written = column;
    const bool narrows = !fit.gone && !fit.type.EqualsIgnoringNullability(fit.in_table);
    if (narrows) written = NarrowTo(*column, fit.in_table, &good);
    std::vector<uint16_t> without, null;
    for (int32_t k = 0; k < rows.count; ++k) {
      const auto row = static_cast<size_t>(rows[k]);
      const bool is_null = column->IsNull(rows[k]);
      const bool bad = (fit.gone && !is_null) || (fit.required && is_null) || !good[row];
      if (!bad || refused[row] || !IsAdd(chunk.kind(rows[k]))) continue;
      refused[row] = true;
      (is_null ? null : without).push_back(static_cast<uint16_t>(row));
    }
    for (const auto* list : {&without, &null}) {
      const auto count = static_cast<int32_t>(list->size());
      if (count > 0) rejects.Reject(chunk, {list->data(), count}, WhyNot(fit, list == &null));
    }
    if (!fit.gone) columns.push_back(narrows ? written : column->WithType(fit.in_table));
  }
  auto kept = std::make_unique<Selection>();
  for (int32_t k = 0; k < rows.count; ++k) {
    const auto row = static_cast<uint16_t>(rows[k]);
    if (!refused[row]) kept->rows.push_back(row);
  }
  if (kept->rows.empty()) return Status();
  return inner_->Write(
      Chunk(std::move(columns), chunk.physical_rows(), SelectionPtr(std::move(kept)), chunk.kinds()),
      rejects);
}

}  // namespace caudal
