#include "op/row/accumulator_row.h"

#include <cstring>

#include "data/column_view.h"

namespace caudal {
namespace {

constexpr size_t kCountWidth = sizeof(int64_t);
constexpr size_t kRowCount = 0;  // where it stands

void AddToCount(char* row, int64_t by) {
  int64_t count;
  std::memcpy(&count, row, sizeof(count));
  count += by;
  std::memcpy(row, &count, sizeof(count));
}

// How many rows the group has, which stands in front anyway.
bool CountsRows(const AggregateCall& call, const Aggregator& aggregator) {
  return call.name == "COUNT" && call.args.empty() && !call.distinct && call.filter < 0 &&
         aggregator.width() == kCountWidth;
}

Status DamagedRow() { return Status::Data("a saved accumulator is damaged"); }

}  // namespace

Result<std::unique_ptr<AccumulatorRow>> AccumulatorRow::Make(const std::vector<AggregateCall>& calls,
                                                             const Schema& input, bool retracting) {
  std::vector<std::unique_ptr<Aggregator>> aggregators;
  for (const AggregateCall& call : calls) {
    std::vector<Type> types;
    for (int arg : call.args) types.push_back(input[arg].type);
    ASSIGN_OR_RETURN(std::unique_ptr<Aggregator> aggregator,
                     call.function->bind(types, call.distinct, retracting));
    if (retracting && !aggregator->can_retract()) {
      return Status::User("'" + call.name + "' cannot take rows away, but its input is updated")
          .Hint("aggregate an insert-only input");
    }
    aggregators.push_back(std::move(aggregator));
  }
  return {std::make_unique<AccumulatorRow>(calls, std::move(aggregators))};
}

AccumulatorRow::AccumulatorRow(std::vector<AggregateCall> calls,
                               std::vector<std::unique_ptr<Aggregator>> aggregators)
    : calls_(std::move(calls)), aggregators_(std::move(aggregators)), width_(kCountWidth) {
  for (size_t a = 0; a < aggregators_.size(); ++a) {
    const bool in_front = CountsRows(calls_[a], *aggregators_[a]);
    offsets_.push_back(in_front ? kRowCount : width_);
    if (!in_front) {
      own_.push_back(a);
      width_ += (static_cast<size_t>(aggregators_[a]->width()) + 7) / 8 * 8;
    }
  }
}

void AccumulatorRow::Init(char* row) const {
  std::memset(row, 0, kCountWidth);
  for (const size_t a : own_) aggregators_[a]->Init(row + offsets_[a]);
}

void AccumulatorRow::Destroy(char* row) const {
  for (const size_t a : own_) aggregators_[a]->Destroy(row + offsets_[a]);
}

int64_t AccumulatorRow::ExtraBytes(const char* row) const {
  int64_t bytes = 0;
  for (const size_t a : own_) bytes += aggregators_[a]->ExtraBytes(row + offsets_[a]);
  return bytes;
}

void AccumulatorRow::UpdateRun(char* const* rows, const Chunk& chunk, RowSet picked, bool add) {
  const size_t count = static_cast<size_t>(picked.count);
  for (size_t i = 0; i < count; ++i) AddToCount(rows[i], add ? 1 : -1);
  for (const size_t a : own_) {
    const AggregateCall& call = calls_[a];
    pointers_.clear();
    RowSet taken = picked;
    if (call.filter < 0) {
      for (size_t i = 0; i < count; ++i) pointers_.push_back(rows[i] + offsets_[a]);
    } else {
      // FILTER (WHERE …): the rows for which it is TRUE.
      const ColumnView<uint8_t> condition(*chunk.column(call.filter));
      numbers_.clear();
      for (size_t i = 0; i < count; ++i) {
        const int32_t row = picked[static_cast<int32_t>(i)];
        if (condition.IsNull(row) || condition[row] == 0) continue;
        numbers_.push_back(static_cast<uint16_t>(row));
        pointers_.push_back(rows[i] + offsets_[a]);
      }
      taken = {numbers_.data(), static_cast<int32_t>(numbers_.size())};
    }
    if (taken.count == 0) continue;
    args_.clear();
    for (int arg : call.args) args_.push_back(chunk.column(arg));
    if (add) {
      aggregators_[a]->Add(pointers_.data(), args_, taken);
    } else {
      aggregators_[a]->Retract(pointers_.data(), args_, taken);
    }
  }
  args_.clear();
}

void AccumulatorRow::Update(char* const* rows, const Chunk& chunk, RowSet picked) {
  if (chunk.insert_only()) return UpdateRun(rows, chunk, picked, true);
  // In runs of one sign, so that what is taken away was added before.
  for (int32_t first = 0; first < picked.count;) {
    const bool add = IsAdd(chunk.kind(picked[first]));
    int32_t last = first + 1;
    while (last < picked.count && IsAdd(chunk.kind(picked[last])) == add) ++last;
    std::vector<uint16_t> run;
    for (int32_t i = first; i < last; ++i) run.push_back(static_cast<uint16_t>(picked[i]));
    UpdateRun(rows + first, chunk, {run.data(), last - first}, add);
    first = last;
  }
}

void AccumulatorRow::Merge(char* into, const char* from) const {
  AddToCount(into, row_count(from));
  for (const size_t a : own_) aggregators_[a]->Merge(into + offsets_[a], from + offsets_[a]);
}

void AccumulatorRow::Assign(char* into, const char* from) const {
  std::memcpy(into, from, kCountWidth);
  for (const size_t a : own_) aggregators_[a]->Assign(into + offsets_[a], from + offsets_[a]);
}

void AccumulatorRow::Results(const char* const* rows, int32_t count, ColumnBuilder* builders) {
  for (size_t a = 0; a < aggregators_.size(); ++a) {
    pointers_.clear();
    for (int32_t i = 0; i < count; ++i) pointers_.push_back(const_cast<char*>(rows[i]) + offsets_[a]);
    aggregators_[a]->Result(const_cast<const char* const*>(pointers_.data()), count, &builders[a]);
  }
}

// As if each call had an accumulator of its own.
void AccumulatorRow::Encode(const char* row, std::string* out) const {
  out->append(row, kCountWidth);
  for (size_t a = 0; a < aggregators_.size(); ++a) aggregators_[a]->Encode(row + offsets_[a], out);
}

Status AccumulatorRow::Decode(std::string_view* in, char* row) const {
  if (in->size() < kCountWidth) return DamagedRow();
  std::memcpy(row, in->data(), kCountWidth);
  in->remove_prefix(kCountWidth);
  for (size_t a = 0; a < aggregators_.size(); ++a) {
    if (offsets_[a] != kRowCount) {
      RETURN_IF_ERROR(aggregators_[a]->Decode(in, row + offsets_[a]));
    } else if (in->size() < kCountWidth || std::memcmp(in->data(), row, kCountWidth) != 0) {
      return DamagedRow();
    } else {
      in->remove_prefix(kCountWidth);
    }
  }
  return Status();
}

std::string AccumulatorRow::Fingerprint() const {
  std::string text = "accumulators(";
  for (size_t a = 0; a < aggregators_.size(); ++a) {
    text += a == 0 ? "" : ", ";
    text += calls_[a].name + " " + aggregators_[a]->accumulator_type().ToString();
    if (calls_[a].distinct) text += " distinct";
    if (calls_[a].filter >= 0) text += " filtered";
  }
  return text + ")";
}

}  // namespace caudal
