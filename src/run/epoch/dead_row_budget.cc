#include "run/epoch/dead_row_budget.h"

#include <fmt/format.h>

#include <utility>

namespace caudal {

DeadRowBudget::Counts DeadRowBudget::Counts::Of(const EpochTotals& totals, int nodes) {
  Counts counts;
  for (int node = 0; node < nodes; ++node) {
    counts.read += totals.node(node).rows_read;
    for (const CountedFate& fate : totals.node(node).fates) {
      if (fate.fate == "dead") counts.dead[fate.name] += fate.rows;
    }
  }
  return counts;
}

const DeadRowBudget::Counts* DeadRowBudget::Base(const Counts& now) const {
  for (auto past = past_.rbegin(); past != past_.rend(); ++past) {
    if (now.read - past->read >= limit_.rows) return &*past;
  }
  return nullptr;
}

Status DeadRowBudget::Check(const Counts& now, const std::optional<DeadExample>& first) const {
  if (limit_.ratio >= 1) return Status();
  const Counts* base = Base(now);
  if (base == nullptr) return Status();
  int64_t dead = 0;
  std::string classes;
  for (const auto& [name, rows] : now.dead) {
    const auto before = base->dead.find(name);
    const int64_t since = rows - (before == base->dead.end() ? 0 : before->second);
    if (since == 0) continue;
    dead += since;
    classes += fmt::format("{}{} {}", classes.empty() ? "" : ", ", since, name);
  }
  const int64_t read = now.read - base->read;
  const double ratio = static_cast<double>(dead) / static_cast<double>(read);
  if (ratio <= limit_.ratio) return Status();
  Status status = Status::Data(
      fmt::format("{} of the last {} rows are dead ({}): {:.1f} %, and 'caudal.max-dead-ratio' is {}", dead,
                  read, classes, 100 * ratio, limit_.ratio));
  if (first) {
    std::string example = fmt::format("the first of this epoch, {}: {}", first->error_class, first->message);
    status = std::move(status).At(first->place.empty() ? example : first->place + ", " + example);
  }
  return std::move(status).Hint(
      "this epoch is not committed: none of its rows is written or kept aside, and the next start reads them "
      "again. "
      "Correct the table, the query or what sends these rows; if they are to be kept aside, raise "
      "'caudal.max-dead-ratio'");
}

void DeadRowBudget::Note(Counts counts) {
  const Counts* base = Base(counts);
  if (base != nullptr) {
    while (&past_.front() != base) past_.pop_front();
  }
  past_.push_back(std::move(counts));
}

}  // namespace caudal
