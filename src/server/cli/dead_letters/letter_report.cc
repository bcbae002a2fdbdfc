#include "server/cli/dead_letters/letter_report.h"

#include <fmt/format.h>

#include <map>
#include <tuple>
#include <vector>

#include "data/column_builder.h"
#include "data/text/time_text.h"
#include "server/row_text.h"

namespace caudal {
namespace {

constexpr int64_t kHourMillis = 3'600'000;

// Rows of named columns, filled cell by cell.
class Lines {
 public:
  explicit Lines(const std::vector<std::pair<std::string, Type>>& columns) {
    for (const auto& [name, type] : columns) {
      schema_.fields.push_back({name, type});
      builders_.emplace_back(type);
    }
  }
  Lines& Text(std::optional<std::string_view> text) {
    ColumnBuilder& column = builders_[next_++];
    text ? column.AppendString(*text) : column.AppendNull();
    return *this;
  }
  Lines& Number(std::optional<int64_t> number) {
    ColumnBuilder& column = builders_[next_++];
    number ? column.Append(*number) : column.AppendNull();
    return *this;
  }
  void End() {
    next_ = 0;
    ++rows_;
  }
  LetterLines Finish() {
    std::vector<ColumnPtr> columns;
    for (ColumnBuilder& builder : builders_) columns.push_back(builder.Finish());
    return {std::move(schema_), Chunk(std::move(columns), rows_)};
  }
  bool full() const { return rows_ == Chunk::kMaxRows; }

 private:
  Schema schema_;
  std::vector<ColumnBuilder> builders_;
  size_t next_ = 0;
  int32_t rows_ = 0;
};

std::string SeenText(int64_t millis) {
  char text[kTimestampTextSize];
  return std::string(text, FormatTimestamp(millis * (TicksPerSecond(3) / 1000), 3, text));
}

// [{"name": "…", "value": "…"}, …] in their order: a name may be there twice, which no JSON object can say.
std::string HeadersText(const RecordHeaders& headers) {
  std::string text = "[";
  for (const auto& [name, value] : headers) {
    text += fmt::format("{}{{\"name\": {}, \"value\": {}}}", text.size() == 1 ? "" : ", ", JsonQuoted(name),
                        value ? JsonQuoted(*value) : std::string("null"));
  }
  return text + "]";
}

std::string_view StateOf(const Letter& letter, const Marks& marks) {
  const auto mark = marks.find(letter.id());
  return mark == marks.end() ? "open" : MarkName(mark->second.what);
}

struct LetterCount {
  int64_t rows = 0, replayed = 0, discarded = 0;
  int64_t oldest = INT64_MAX, newest = 0;
};

std::string TimeBucket(const Letter& letter, const std::string& by) {
  if (by.empty()) return "";
  const int64_t width = by == "day" ? 24 * kHourMillis : kHourMillis;
  return SeenText(letter.first_seen_millis / width * width).substr(0, by == "day" ? 10 : 16);
}

}  // namespace

Result<LetterLines> ListLetters(LetterStore* store) {
  std::map<std::pair<std::string, std::string>, int64_t> counts;
  RETURN_IF_ERROR(store->Read([&](const Letter& letter) -> Status {
    ++counts[{letter.query, letter.error_class}];
    return Status();
  }));
  Lines lines({{"query", Type::String()}, {"error_class", Type::String()}, {"rows", Type(TypeId::kBigInt)}});
  for (const auto& [key, rows] : counts) lines.Text(key.first).Text(key.second).Number(rows).End();
  return lines.Finish();
}

Result<LetterLines> ShowLetters(LetterStore* store, const LetterSelection& selection, int limit) {
  ASSIGN_OR_RETURN(const Marks marks, store->ReadMarks());
  const Type text = Type::String(), number = Type(TypeId::kBigInt);
  Lines lines({{"query", text},
               {"topic", text},
               {"partition", number},
               {"offset", number},
               {"error_class", text},
               {"error_message", text},
               {"first_seen", text},
               {"state", text},
               {"reason", text},
               {"key", text},
               {"value", text},
               {"headers", text},
               {"why", text}});
  int shown = 0;
  RETURN_IF_ERROR(store->Read([&](const Letter& letter) -> Status {
    if (shown >= limit || lines.full() || !selection.Matches(letter)) return Status();
    ++shown;
    const auto mark = marks.find(letter.id());
    lines.Text(letter.query).Text(letter.topic.empty() ? letter.file : letter.topic);
    lines.Number(letter.partition < 0 ? std::nullopt : std::optional<int64_t>(letter.partition));
    lines.Number(letter.offset).Text(letter.error_class).Text(letter.message);
    lines.Text(SeenText(letter.first_seen_millis)).Text(StateOf(letter, marks));
    lines.Text(mark == marks.end() || mark->second.reason.empty()
                   ? std::nullopt
                   : std::optional<std::string_view>(mark->second.reason));
    lines.Text(letter.key)
        .Text(letter.raw)
        .Text(HeadersText(letter.headers))
        .Text(HeadersText(letter.reason))
        .End();
    return Status();
  }));
  return lines.Finish();
}

Result<LetterLines> CountLetters(LetterStore* store, const LetterSelection& selection,
                                 const std::string& by) {
  ASSIGN_OR_RETURN(const Marks marks, store->ReadMarks());
  std::map<std::tuple<std::string, std::string, std::string, int32_t>, LetterCount> counts;
  RETURN_IF_ERROR(store->Read([&](const Letter& letter) -> Status {
    if (!selection.Matches(letter)) return Status();
    const std::string& place = letter.topic.empty() ? letter.source : letter.topic;
    LetterCount& count = counts[{TimeBucket(letter, by), letter.error_class, place, letter.partition}];
    ++count.rows;
    const std::string_view state = StateOf(letter, marks);
    count.replayed += state == MarkName(Mark::What::kReplayed);
    count.discarded += state == MarkName(Mark::What::kDiscarded);
    count.oldest = std::min(count.oldest, letter.first_seen_millis);
    count.newest = std::max(count.newest, letter.first_seen_millis);
    return Status();
  }));
  const Type text = Type::String(), number = Type(TypeId::kBigInt);
  std::vector<std::pair<std::string, Type>> columns;
  if (!by.empty()) columns.emplace_back(by, text);
  for (const char* name : {"error_class", "topic"}) columns.emplace_back(name, text);
  for (const char* name : {"partition", "rows", "open", "replayed", "discarded"})
    columns.emplace_back(name, number);
  for (const char* name : {"oldest", "newest"}) columns.emplace_back(name, text);
  Lines lines(columns);
  for (const auto& [key, count] : counts) {
    const auto& [time, error_class, place, partition] = key;
    if (lines.full()) return Status::Data("there are too many kinds of dead letters to be told: select some");
    if (!by.empty()) lines.Text(time);
    lines.Text(error_class).Text(place);
    lines.Number(partition < 0 ? std::nullopt : std::optional<int64_t>(partition));
    lines.Number(count.rows).Number(count.rows - count.replayed - count.discarded);
    lines.Number(count.replayed).Number(count.discarded);
    lines.Text(SeenText(count.oldest)).Text(SeenText(count.newest)).End();
  }
  return lines.Finish();
}

}  // namespace caudal
