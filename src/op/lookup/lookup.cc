#include "op/lookup/lookup.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "data/row_bytes.h"
#include "op/row/row_lists.h"

namespace caudal {
namespace {

constexpr int64_t kLookupStep = 10'000'000;       // ns
constexpr int64_t kFirstPause = 100'000'000;      // ns, before a request is repeated
constexpr int64_t kLongestPause = 5'000'000'000;  // ns
constexpr int64_t kNever = INT64_MAX;

int VisibleColumnsOf(const Schema& schema) {
  int visible = schema.size();
  while (visible > 0 && schema[visible - 1].name.starts_with('$')) --visible;
  return visible;
}

}  // namespace

Lookup::Lookup(LookupNode node, const Schema& input, const Schema& output)
    : node_(std::move(node)), visible_(VisibleColumnsOf(input)) {
  for (const Field& field : node_.request().schema.fields) types_.push_back(field.type);
  const int made = visible_ + static_cast<int>(node_.columns.size());
  for (int i = 0; i < output.size(); ++i) {
    if (i < visible_) {
      source_.push_back(i);
    } else if (i < made) {
      source_.push_back(visible_ - i - 1);
    } else {
      const std::optional<int> hidden = input.Find(output[i].name);
      CHECK(hidden.has_value());
      source_.push_back(*hidden);
    }
  }
}

Status Lookup::Open(const OperatorContext& context) {
  evaluator_ = Evaluator(context.evaluator);
  env_ = context.env;
  submit_ = context.submit;
  if (!node_.keeps_unmatched) {
    unmatched_ = context.fates->Get(Fate::kFiltered, "lookup " + node_.table.name);
  }
  if (!node_.unique) absorbed_ = context.fates->Get(Fate::kAbsorbed, "Lookup");
  ASSIGN_OR_RETURN(const LookupOptions options, LookupOptions::From(node_.table));
  if (options.cached) cache_ = std::make_unique<LookupCache>(options);
  charge_.set_budget(context.budget);
  if (!context.make_lookup) return Status();
  ASSIGN_OR_RETURN(reader_, context.make_lookup(node_.table, node_.request()));
  Status target = reader_->CheckTarget();
  return target.ok() ? target : std::move(target).At(fmt::format("lookup in table '{}'", node_.table.name));
}

Result<Progress> Lookup::OnChunk(int, const Chunk& chunk, Output& out) {
  chunk_ = chunk;
  at_ = 0;
  FindSlots(out);
  if (asked_.empty()) return Join(out);
  Ask();
  return Progress::kMore;
}

// Which key each row has, each key once.
void Lookup::FindSlots(Output& out) {
  const int64_t now = env_->NowMillis();
  evaluator_.set_now_millis(now);
  RowErrors errors;
  std::vector<ColumnPtr> columns;
  std::vector<int> all;
  for (const LookupNode::Key& key : node_.keys) {
    all.push_back(static_cast<int>(columns.size()));
    columns.push_back(evaluator_.Eval(key.value, chunk_, chunk_.rows(), errors));
  }
  std::vector<uint16_t> keyed, places;
  slots_.assign(static_cast<size_t>(chunk_.size()), kNoKey);
  for (int32_t i = 0; i < chunk_.size(); ++i) {
    const int32_t row = chunk_.rows()[i];
    const auto failed = std::ranges::find(errors.entries(), row, &RowErrors::Entry::row);
    if (failed != errors.entries().end()) {
      Reject(static_cast<uint16_t>(row), "key of the lookup: " + failed->message, out);
      slots_[static_cast<size_t>(i)] = kRejected;
    } else if (std::ranges::none_of(columns, [&](const ColumnPtr& column) { return column->IsNull(row); })) {
      keyed.push_back(static_cast<uint16_t>(row));
      places.push_back(static_cast<uint16_t>(i));
    }
  }
  found_.clear();
  asked_.clear();
  asked_keys_.clear();
  keys_.Encode(Chunk(columns, chunk_.physical_rows()), all,
               {keyed.data(), static_cast<int32_t>(keyed.size())});
  std::unordered_map<std::string_view, int32_t> slot_of;
  std::vector<uint16_t> asked_rows;
  for (size_t i = 0; i < keyed.size(); ++i) {
    const auto [slot, is_new] =
        slot_of.try_emplace(keys_.key(static_cast<int32_t>(i)), static_cast<int32_t>(found_.size()));
    slots_[places[i]] = slot->second;
    if (!is_new) continue;
    const FoundRows* known = cache_ == nullptr ? nullptr : cache_->Get(slot->first, now);
    found_.push_back(known == nullptr ? FoundRows() : *known);
    if (known != nullptr) continue;
    if (cache_ != nullptr) asked_keys_.emplace_back(slot->first);
    asked_.push_back(slot->second);
    asked_rows.push_back(keyed[i]);
  }
  if (asked_.empty()) return;
  for (ColumnPtr& column : columns) {
    column = CopyRows(*column, asked_rows.data(), static_cast<int32_t>(asked_rows.size()));
  }
  request_ = std::make_unique<Request>();
  request_->keys = Chunk(std::move(columns), static_cast<int32_t>(asked_rows.size()));
}

void Lookup::Ask() {
  retry_at_ = 0;
  request_->done = false;
  submit_([request = request_.get(), reader = reader_.get()] {
    request->answer = reader->Find(request->keys);
    request->done = true;
  });
}

int64_t Lookup::resume_at() const {
  if (request_ != nullptr && retry_at_ == 0 && !request_->done) return kNever;
  return retry_at_;
}

Result<Progress> Lookup::Resume(Output& out) {
  if (request_ == nullptr) return Join(out);
  if (retry_at_ != 0) {
    Ask();
    return Progress::kMore;
  }
  if (!request_->done) return Progress::kMore;
  RETURN_IF_ERROR(TakeAnswer());
  if (request_ != nullptr) return Progress::kMore;
  RejectUnreadable(out);
  return Join(out);
}

// Leaves the request where it is when it must be repeated.
Status Lookup::TakeAnswer() {
  if (!request_->answer.ok()) {
    Status status = std::move(request_->answer).status();
    if (status.retry() != Retry::kBackoff) {
      return std::move(status).At(fmt::format("lookup in table '{}'", node_.table.name));
    }
    pause_ = std::clamp(2 * pause_, kFirstPause, kLongestPause);
    retry_at_ = env_->SteadyNanos() + pause_;
    trouble_ = std::move(status).At(fmt::format("lookup in table '{}'", node_.table.name));
    return Status();
  }
  const std::unique_ptr<Request> request = std::move(request_);
  pause_ = 0;
  trouble_ = Status();
  return Keep(*request->answer);
}

Status Lookup::Keep(const LookupRows& rows) {
  const auto found_of = [this](int32_t key) -> FoundRows& {
    return found_[static_cast<size_t>(asked_[static_cast<size_t>(key)])];
  };
  for (const LookupRows::Unreadable& each : rows.unreadable) {
    found_of(each.key).unreadable = each.message;
  }
  for (size_t i = 0; i < rows.key_of_row.size(); ++i) {
    FoundRows& of = found_of(rows.key_of_row[i]);
    const int32_t row = static_cast<int32_t>(i);
    for (size_t c = 0; c < node_.columns.size(); ++c) {
      const TableColumn& column = node_.table.columns[static_cast<size_t>(node_.columns[c])];
      if (column.type.nullable() || !rows.columns[c]->IsNull(row)) continue;
      of.unreadable = fmt::format("column '{}' is NOT NULL, and its value is NULL", column.name);
    }
    if (!of.unreadable.empty()) continue;
    if (node_.unique && !of.rows.empty()) {
      return Status::Data(
                 fmt::format("table '{}' has several rows of one key, and its PRIMARY KEY promises one",
                             node_.table.name))
          .Hint("declare the table without the PRIMARY KEY: then each of them is joined");
    }
    AppendRowBytes(rows.columns, row, &of.rows.emplace_back());
  }
  if (cache_ != nullptr) {
    const int64_t now = env_->NowMillis();
    for (size_t i = 0; i < asked_.size(); ++i) {
      cache_->Put(asked_keys_[i], found_of(static_cast<int32_t>(i)), now);
    }
  }
  ChargeMemory();
  return Status();
}

// A key may have any number of rows.
void Lookup::ChargeMemory() {
  int64_t bytes = cache_ == nullptr ? 0 : cache_->bytes();
  for (const FoundRows& found : found_) {
    for (const std::string& row : found.rows) bytes += static_cast<int64_t>(sizeof row + row.size());
  }
  charge_.Set(bytes);
}

void Lookup::RejectUnreadable(Output& out) {
  for (int32_t i = 0; i < chunk_.size(); ++i) {
    int32_t& slot = slots_[static_cast<size_t>(i)];
    if (slot < 0 || found_[static_cast<size_t>(slot)].unreadable.empty()) continue;
    Reject(static_cast<uint16_t>(chunk_.rows()[i]),
           fmt::format("lookup in table '{}': {}", node_.table.name,
                       found_[static_cast<size_t>(slot)].unreadable),
           out);
    slot = kRejected;
  }
}

void Lookup::Reject(uint16_t row, std::string message, Output& out) {
  RejectRows(chunk_, {row}, Fate::kDead, "expression", {std::move(message)}, out);
}

Result<Progress> Lookup::Join(Output& out) {
  const int64_t start = env_->SteadyNanos();
  while (at_ < chunk_.size()) {
    const std::vector<Pair> pairs = NextPairs();
    std::vector<Pair> matched;
    RETURN_IF_ERROR(Match(pairs, &matched, out));
    if (!matched.empty()) Emit(matched, out);
    if (at_ < chunk_.size() && (out.full() || env_->SteadyNanos() - start > kLookupStep)) {
      return Progress::kMore;
    }
  }
  chunk_ = Chunk();
  found_.clear();
  ChargeMemory();
  return Progress::kDone;
}

// As many as a chunk holds, from where the last call stopped.
std::vector<Lookup::Pair> Lookup::NextPairs() {
  std::vector<Pair> pairs;
  while (at_ < chunk_.size() && static_cast<int32_t>(pairs.size()) < Chunk::kMaxRows) {
    const int32_t slot = slots_[static_cast<size_t>(at_)];
    const uint16_t row = static_cast<uint16_t>(chunk_.rows()[at_]);
    const FoundRows* found = slot < 0 ? nullptr : &found_[static_cast<size_t>(slot)];
    if (slot == kRejected) {
      ++at_;
    } else if (found == nullptr || found->rows.empty()) {
      pairs.push_back({row, nullptr, true});
      ++at_;
    } else {
      const bool last = next_found_ + 1 == found->rows.size();
      pairs.push_back({row, &found->rows[next_found_], last});
      next_found_ = last ? 0 : next_found_ + 1;
      if (last) ++at_;
    }
  }
  return pairs;
}

// Which pairs go on, and the fates of the rows that end here. A row may go on with the next call.
Status Lookup::Match(const std::vector<Pair>& pairs, std::vector<Pair>* matched, Output& out) {
  std::vector<std::string> errors;
  const std::vector<bool> passes = TestConditions(pairs, &errors);
  for (size_t i = 0; i < pairs.size(); ++i) {
    const Pair& pair = pairs[i];
    if (!errors[i].empty() && failure_.empty()) failure_ = errors[i];
    if (passes[i] && failure_.empty()) {
      matched->push_back(pair);
      any_matched_ = true;
    }
    if (!pair.last) continue;
    if (!failure_.empty()) {
      if (any_matched_) {
        return Status::Data(failure_).Hint(
            "the row was joined to others before: it cannot be kept aside; mend the condition");
      }
      Reject(pair.row, failure_, out);
    } else if (!any_matched_ && node_.keeps_unmatched) {
      matched->push_back({pair.row, nullptr, true});
    } else if (!any_matched_) {
      ++*unmatched_;
    }
    if (absorbed_ != nullptr && failure_.empty() && (any_matched_ || node_.keeps_unmatched)) ++*absorbed_;
    any_matched_ = false;
    failure_.clear();
  }
  return Status();
}

std::vector<bool> Lookup::TestConditions(const std::vector<Pair>& pairs, std::vector<std::string>* errors) {
  errors->assign(pairs.size(), {});
  std::vector<bool> passes(pairs.size(), false);
  std::vector<uint16_t> rows, candidates;
  std::vector<ColumnBuilder> builders;
  for (const Type& type : types_) builders.emplace_back(type);
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].found == nullptr) continue;
    passes[i] = true;
    if (node_.conditions.empty()) continue;
    rows.push_back(pairs[i].row);
    candidates.push_back(static_cast<uint16_t>(i));
    AppendFound(pairs[i], &builders);
  }
  if (rows.empty()) return passes;
  const int32_t count = static_cast<int32_t>(rows.size());
  std::vector<ColumnPtr> columns;
  for (int c = 0; c < visible_; ++c) columns.push_back(CopyRows(*chunk_.column(c), rows.data(), count));
  for (ColumnBuilder& builder : builders) columns.push_back(builder.Finish());
  const Chunk joined(std::move(columns), count);
  for (const uint16_t candidate : candidates) passes[candidate] = false;
  std::vector<uint16_t> kept, passed;
  RowErrors failures;
  RowSet set{nullptr, count};
  for (const CalcNode::Filter& condition : node_.conditions) {
    passed.clear();
    const size_t before = failures.size();
    evaluator_.Filter(condition.condition, joined, set, failures, &passed);
    for (size_t e = before; e < failures.size(); ++e) {
      const RowErrors::Entry& entry = failures.entries()[e];
      (*errors)[candidates[static_cast<size_t>(entry.row)]] =
          fmt::format("condition {}: {}", condition.name, entry.message);
    }
    kept.swap(passed);
    set = {kept.data(), static_cast<int32_t>(kept.size())};
  }
  for (int32_t i = 0; i < set.count; ++i) passes[candidates[static_cast<size_t>(set[i])]] = true;
  return passes;
}

void Lookup::AppendFound(const Pair& pair, std::vector<ColumnBuilder>* builders) const {
  if (pair.found == nullptr) {
    for (ColumnBuilder& builder : *builders) builder.AppendNull();
    return;
  }
  DecodeRowBytes(*pair.found, builders->data(), builders->size());
}

// Rows that stand once, in their order, keep their columns; else they are copied as often as they stand.
void Lookup::Emit(const std::vector<Pair>& pairs, Output& out) {
  const bool once =
      std::ranges::adjacent_find(pairs, std::ranges::greater_equal(), &Pair::row) == pairs.end();
  const int32_t count = static_cast<int32_t>(pairs.size());
  const bool shared = once && count * 2 > chunk_.physical_rows();
  std::vector<ColumnBuilder> builders;
  for (const Type& type : types_) builders.emplace_back(type, shared ? chunk_.physical_rows() : count);
  std::vector<uint16_t> rows;
  for (const Pair& pair : pairs) {
    // Rows between, which do not go on, have no value.
    for (int32_t r = rows.empty() ? 0 : rows.back() + 1; shared && r < pair.row; ++r)
      AppendFound({}, &builders);
    AppendFound(pair, &builders);
    rows.push_back(pair.row);
  }
  for (int32_t r = rows.back() + 1; shared && r < chunk_.physical_rows(); ++r) AppendFound({}, &builders);
  std::vector<ColumnPtr> found;
  for (ColumnBuilder& builder : builders) found.push_back(builder.Finish());
  std::vector<ColumnPtr> columns;
  for (const int source : source_) {
    columns.push_back(source < 0 ? found[static_cast<size_t>(-1 - source)]
                      : shared   ? chunk_.column(source)
                                 : CopyRows(*chunk_.column(source), rows.data(), count));
  }
  if (shared) {
    out.Emit(chunk_.WithSelection(MakeSelection(std::move(rows))).WithColumns(std::move(columns)));
    return;
  }
  MutableRowKindsPtr kinds;
  if (!chunk_.insert_only()) {
    kinds = MakeRowKinds();
    for (const uint16_t row : rows) kinds->push_back(chunk_.kind(row));
  }
  out.Emit(Chunk(std::move(columns), count, nullptr, std::move(kinds)));
}

}  // namespace caudal
