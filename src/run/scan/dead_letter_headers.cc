#include "run/scan/dead_letter_headers.h"

#include <fmt/format.h>

#include <charconv>

#include "data/column_view.h"

namespace caudal {
namespace {

// Where Connect would say it went wrong.
std::string_view StageOf(std::string_view error_class) {
  if (error_class == "sink") return "TASK_PUT";
  if (error_class == "expression" || error_class == "late") return "TRANSFORMATION";
  return "VALUE_CONVERTER";
}

// Whether the same program may take the same bytes another time.
bool IsRetryable(std::string_view error_class) {
  return error_class == "unreadable-file" || error_class == "file-changed";
}

class MapRow {
 public:
  explicit MapRow(ColumnBuilder* builder) : builder_(builder) {}
  void Add(std::string_view name, const std::optional<std::string_view>& value) {
    builder_->child(0).AppendString(name);
    value ? builder_->child(1).AppendString(*value) : builder_->child(1).AppendNull();
  }
  void Connect(std::string_view name, std::string_view value) {
    Add(fmt::format("{}{}", kConnectErrors, name), value);
  }
  void Caudal(std::string_view name, std::string_view value) {
    Add(fmt::format("{}{}", kCaudalErrors, name), value);
  }
  void End() { builder_->AppendList(); }

 private:
  ColumnBuilder* builder_;
};

// A dead letter that is read again and dies again keeps the first reason out: one letter has one.
bool IsReason(std::string_view name) {
  return name.starts_with(kConnectErrors) || name.starts_with(kCaudalErrors);
}

void AddOwnHeaders(const DeadLetterCell& cell, MapRow* row) {
  if (cell.header_list != nullptr) {
    for (const auto& [name, value] : *cell.header_list) {
      if (!IsReason(name)) row->Add(name, value);
    }
  }
  const Column* column = cell.header_column;
  if (column == nullptr || column->IsNull(cell.row)) return;
  const int32_t at = column->encoding() == Encoding::kConstant ? 0 : cell.row;
  const int32_t* ends = column->values<int32_t>();
  const ColumnView<StringView> names(*column->children()[0]), values(*column->children()[1]);
  for (int32_t i = ends[at]; i < ends[at + 1]; ++i) {
    const std::string_view name = names[i].view();
    if (IsReason(name)) continue;
    row->Add(name, values.IsNull(i) ? std::nullopt : std::optional(values[i].view()));
  }
}

}  // namespace

std::optional<RecordOrigin> RecordOrigin::Of(std::string_view text) {
  const size_t open = text.rfind('[');
  if (open == 0 || open == std::string_view::npos || !text.ends_with(']')) return std::nullopt;
  RecordOrigin origin{text.substr(0, open)};
  if (origin.topic.find('/') != std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(open + 1, text.size() - open - 2);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), origin.partition);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return origin;
}

void AppendDeadLetterHeaders(const DeadLetterCell& cell, const DeadLetterOwner& owner,
                             ColumnBuilder* builder) {
  MapRow row(builder);
  AddOwnHeaders(cell, &row);
  if (const auto origin = cell.file ? RecordOrigin::Of(*cell.file) : std::nullopt) {
    row.Connect("topic", origin->topic);
    row.Connect("partition", std::to_string(origin->partition));
  } else if (cell.file) {
    row.Caudal("file", *cell.file);
  }
  if (cell.offset) row.Connect("offset", std::to_string(*cell.offset));
  row.Connect("connector.name", owner.query);
  row.Connect("task.id", std::to_string(cell.task));
  row.Connect("stage", StageOf(cell.error_class));
  row.Connect("class.name", cell.node);
  row.Connect("exception.class.name", cell.error_class);
  row.Connect("exception.message", cell.message);
  if (!cell.place.empty()) row.Connect("exception.stacktrace", cell.place);
  const std::string_view query = owner.query;
  row.Caudal("pipeline", query.substr(0, query.find('/')));
  if (!owner.version.empty()) row.Caudal("pipeline_version", owner.version);
  row.Caudal("query_id", query);
  if (cell.source) row.Caudal("source", *cell.source);
  row.Caudal("error_class", cell.error_class);
  if (cell.arrival_millis >= 0) row.Caudal("timestamp", std::to_string(cell.arrival_millis));
  row.Caudal("retryable", IsRetryable(cell.error_class) ? "true" : "false");
  row.Caudal("first_seen", std::to_string(cell.now_millis));
  row.End();
}

}  // namespace caudal
