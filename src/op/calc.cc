#include "op/calc.h"

#include <algorithm>

#include "base/planted_fault.h"
#include "op/row/row_lists.h"

namespace caudal {

Calc::Calc(CalcNode node, const Schema& input, const Schema& output) : node_(std::move(node)) {
  for (int i = static_cast<int>(node_.projections.size()); i < output.size(); ++i) {
    const std::optional<int> hidden = input.Find(output[i].name);
    CHECK(hidden.has_value());
    node_.projections.push_back(Expr::Column(*hidden, output[i].name, output[i].type));
  }
}

Status Calc::Open(const OperatorContext& context) {
  evaluator_ = Evaluator(context.evaluator);
  env_ = context.env;
  fates_ = context.fates;
  for (const CalcNode::Filter& filter : node_.filters) {
    filtered_.push_back(context.fates->Get(Fate::kFiltered, filter.name));
  }
  return Status();
}

bool Calc::Filter(const Chunk& chunk, RowErrors& errors) {
  RowSet rows = chunk.rows();
  for (size_t f = 0; f < node_.filters.size(); ++f) {
    passed_.clear();
    const size_t failed = errors.size();
    evaluator_.Filter(node_.filters[f].condition, chunk, rows, errors, &passed_);
    if (errors.size() > failed) Blame("condition " + node_.filters[f].name, errors);
    *filtered_[f] +=
        rows.count - static_cast<int64_t>(passed_.size()) - static_cast<int64_t>(errors.size() - failed);
    kept_.swap(passed_);
    rows = {kept_.data(), static_cast<int32_t>(kept_.size())};
  }
  return !node_.filters.empty() && rows.count < chunk.size();
}

// What the errors that have come since the last call are errors of.
void Calc::Blame(const std::string& expression, const RowErrors& errors) {
  blamed_.resize(errors.size(), expression);
}

void Calc::RejectErrors(const Chunk& chunk, const RowErrors& errors, Output& out) {
  if (errors.empty()) return;
  std::vector<uint16_t> rows;
  std::vector<std::string> messages, places;
  for (size_t i = 0; i < errors.size(); ++i) {
    const RowErrors::Entry& entry = errors.entries()[i];
    if (!IsAdd(chunk.kind(entry.row))) {
      // The row that it takes away was rejected when it came.
      ++*fates_->Get(Fate::kFiltered, "rejected before");
      continue;
    }
    rows.push_back(static_cast<uint16_t>(entry.row));
    messages.push_back(blamed_[i] + ": " + entry.message);
    places.push_back(entry.position.known() ? entry.position.ToString() : "");
  }
  if (rows.empty()) return;
  out.Reject(chunk.WithSelection(MakeSelection(std::move(rows))),
             {Fate::kDead, "expression", std::move(messages), std::move(places)});
}

Result<Progress> Calc::OnChunk(int port, const Chunk& chunk, Output& out) {
  evaluator_.set_now_millis(env_->NowMillis());
  RowErrors errors;
  blamed_.clear();
  SelectionPtr selection = chunk.selection();
  if (Filter(chunk, errors) && !PLANTED_FAULT(selection_ignored)) selection = MakeSelection(std::move(kept_));
  Chunk rest = chunk.WithSelection(selection);
  const size_t stopped = errors.size();

  std::vector<ColumnPtr> columns;
  columns.reserve(node_.projections.size());
  if (!rest.empty()) {
    for (const Expr& projection : node_.projections) {
      const size_t before = errors.size();
      columns.push_back(evaluator_.Eval(projection, rest, rest.rows(), errors));
      if (errors.size() > before) Blame(projection.ToString(), errors);
    }
  }
  if (errors.size() > stopped) {
    // Rare: leave out the rows whose projection failed.
    std::vector<uint16_t> good;
    for (int32_t i = 0; i < rest.size(); ++i) {
      const int32_t row = rest.rows()[i];
      const bool failed = std::any_of(errors.entries().begin(), errors.entries().end(),
                                      [row](const RowErrors::Entry& entry) { return entry.row == row; });
      if (!failed) good.push_back(static_cast<uint16_t>(row));
    }
    rest = rest.WithSelection(MakeSelection(std::move(good)));
  }
  RejectErrors(chunk, errors, out);
  if (!rest.empty()) out.Emit(rest.WithColumns(std::move(columns)));
  return Progress::kDone;
}

}  // namespace caudal
