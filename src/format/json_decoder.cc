#include "format/json_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "format/json_column.h"
#include "format/json_cursor.h"
#include "format/json_structure.h"

namespace caudal {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr size_t kMaxIndexed = 128 * 1024;  // text indexed at once, so that its positions stay in the cache
constexpr size_t kMaxNames = 256;
constexpr size_t kShownText = 60;

bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

// What would read a time that is written as another standard writes it.
std::string TimestampHint(const Type& type, std::string_view text, TimestampForm form) {
  constexpr size_t kDate = 10;  // YYYY-MM-DD
  if (!type.is_timestamp() || text.size() <= kDate || text[4] != '-' || text[7] != '-') return "";
  const bool is_instant = type.id() == TypeId::kTimestampLtz;
  const bool says_instant = text.back() == 'Z';
  std::string hint;
  if (says_instant != is_instant) {
    hint = fmt::format("declare the column {}({})", says_instant ? "TIMESTAMP_LTZ" : "TIMESTAMP",
                       type.precision());
  }
  const char separator = form == TimestampForm::kSql ? ' ' : 'T';
  if (text[kDate] != separator && (text[kDate] == 'T' || text[kDate] == ' ')) {
    hint += fmt::format("{}set 'json.timestamp-format.standard' = '{}'", hint.empty() ? "" : " and ",
                        form == TimestampForm::kSql ? "ISO-8601" : "SQL");
  }
  return hint;
}

}  // namespace

class JsonDecoder::Rows {
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  // A name of earlier records as it was written, with its closing quote.
  struct KnownName {
    uint64_t head = 1, tail = 1;  // first and last 8 bytes of it, or all of a shorter one twice
    uint64_t mask = 0;            // of the bytes that count: nothing matches at first
    uint32_t size = 0, tail_at = 0;
    int column = -1;
    std::string text;

    // `at` has at least 8 readable bytes.
    bool Matches(const char* at, size_t rest) const {
      uint64_t first, last;
      if (rest < size) return false;
      std::memcpy(&first, at, 8);
      std::memcpy(&last, at + tail_at, 8);
      if (((first ^ head) & mask) != 0 || ((last ^ tail) & mask) != 0 || mask == 0) return false;
      return size <= 16 || std::memcmp(at, text.data(), size) == 0;
    }
    void Set(std::string_view name, int target) {
      text.assign(name).push_back('"');
      column = target;
      size = static_cast<uint32_t>(text.size());
      tail_at = size < 8 ? 0 : size - 8;
      mask = size < 8 ? (uint64_t{1} << (size * 8)) - 1 : ~uint64_t{0};
      head = 0;
      std::memcpy(&head, text.data(), std::min<size_t>(8, size));
      tail = head;
      if (size >= 8) std::memcpy(&tail, text.data() + tail_at, 8);
    }
  };

 public:
  Rows(const Schema& schema, JsonOptions options) : options_(std::move(options)) {
    columns_.reserve(static_cast<size_t>(schema.size()));
    for (const Field& field : schema.fields) {
      by_name_.emplace(field.name, static_cast<int>(columns_.size()));
      columns_.emplace_back(field, &options_);
    }
    set_in_.resize(columns_.size());
  }

  void Decode(const RawBatch& batch, DecodedRows* out);

 private:
  size_t DecodeGroup(const std::vector<RawRecord>& records, size_t first);
  void DecodeAlone(const RawRecord& record, int32_t row);
  bool ReadRecord(JsonCursor* cursor, int32_t row);
  bool ReadPlainFields(JsonCursor* cursor, int32_t row, size_t* slot);
  bool ReadField(JsonCursor* cursor, int column, int32_t row);
  bool FindColumn(JsonCursor* cursor, size_t* slot, int* column);
  bool CloseRow(int32_t row);

  bool Broken(const JsonCursor& cursor, const char* expected) {
    if (cursor.too_deep()) {
      error_ = fmt::format("the record is nested too deep: a value has more than {} levels",
                           JsonCursor::kMaxDepth);
      return false;
    }
    error_ = cursor.at_end() ? fmt::format("the record ends where {} should stand", expected)
                             : fmt::format("the record is not JSON: {} should stand at byte {}", expected,
                                           cursor.here() - record_.data());
    return false;
  }
  bool WrongValue(const JsonColumn& column, std::string_view raw) {
    while (!raw.empty() && IsSpace(raw.back())) raw.remove_suffix(1);
    if (raw.size() >= 2 && raw.front() == '"' && raw.back() == '"') raw = raw.substr(1, raw.size() - 2);
    const bool cut = raw.size() > kShownText;
    error_ = fmt::format("column '{}': '{}{}' is not a {}", column.field().name, raw.substr(0, kShownText),
                         cut ? "…" : "", column.field().type.WithNullable(true).ToString());
    hint_ = TimestampHint(column.field().type, raw, options_.timestamp_form);
    return false;
  }

  JsonOptions options_;
  std::vector<JsonColumn> columns_;
  std::unordered_map<std::string, int, TextHash, std::equal_to<>> by_name_;
  std::vector<KnownName> names_;  // in the order in which they were first seen
  std::unordered_map<std::string, size_t, TextHash, std::equal_to<>> slots_;  // positions in names_
  JsonStructure structure_;
  std::string unescaped_;

  // Of the row being read.
  uint64_t reading_ = 0;          // counts readings of a record
  std::vector<uint64_t> set_in_;  // by column: the last reading that had a value for it
  size_t set_count_ = 0;
  int64_t ignored_in_record_ = 0;
  std::string_view record_;
  std::string error_;
  std::string hint_;  // of that error
  std::vector<DecodeError> errors_;
  int64_t ignored_values_ = 0;
  std::vector<size_t> broken_;  // records of the group to be read again, alone
};

// Reads as many fields as follow each other as they did before and are spelled as usual, which in most input
// is all. `slot`: of the name that is likely here, then of the first that is left, with the cursor on its
// name. True if the object ended.
bool JsonDecoder::Rows::ReadPlainFields(JsonCursor* cursor, int32_t row, size_t* slot) {
  const char* text = cursor->text();
  const uint32_t* at = cursor->at();
  const uint32_t* last = cursor->end() - 3;  // name, colon, value and what follows are there
  const size_t size = *cursor->end();
  const KnownName* name = names_.data() + *slot;
  const KnownName* names_end = names_.data() + names_.size();
  bool ended = false;
  for (; at < last && name != names_end; ++name) {
    if (!name->Matches(text + *at + 1, size - *at - 1) || text[at[1]] != ':' || name->column < 0) break;
    const char next = text[at[3]];
    if (next != ',' && next != '}') break;
    const size_t index = static_cast<size_t>(name->column);
    if (set_in_[index] == reading_ || !columns_[index].ReadPlain(text + at[2], at[3] - at[2], row)) break;
    set_in_[index] = reading_;
    ++set_count_;
    at += 4;
    if (next == '}') {
      ended = true;
      break;
    }
  }
  *slot = static_cast<size_t>(name - names_.data());
  cursor->MoveTo(at);
  return ended;
}

// The column of the name here; moves past it. `slot`: of the name that is likely here, then of the next one.
bool JsonDecoder::Rows::FindColumn(JsonCursor* cursor, size_t* slot, int* column) {
  // The likely one, or the one behind it: producers leave out what is null.
  for (size_t at = *slot; at < names_.size() && at < *slot + 2; ++at) {
    if (!names_[at].Matches(cursor->here() + 1, cursor->rest() - 1)) continue;
    *column = names_[at].column;
    *slot = at + 1;
    cursor->Advance();
    return true;
  }
  std::string_view name;
  if (!cursor->ReadString(&name)) return Broken(*cursor, "a name");
  const bool escaped = name.find('\\') != std::string_view::npos;
  if (escaped) {
    unescaped_.resize(name.size());
    size_t size = 0;
    if (!UnescapeJson(name, unescaped_.data(), &size)) return Broken(*cursor, "a name without wrong escapes");
    name = std::string_view(unescaped_).substr(0, size);
  }
  auto found = slots_.find(name);
  if (found == slots_.end()) {
    const auto known = by_name_.find(name);
    *column = known == by_name_.end() ? -1 : known->second;
    // A name that must be escaped never looks like this, so that it would never match.
    if (names_.size() == kMaxNames || escaped) return true;
    names_.emplace_back().Set(name, *column);
    found = slots_.emplace(std::string(name), names_.size() - 1).first;
  }
  *column = names_[found->second].column;
  *slot = found->second + 1;
  return true;
}

bool JsonDecoder::Rows::ReadField(JsonCursor* cursor, int index, int32_t row) {
  if (index < 0) return cursor->Skip() || Broken(*cursor, "a value");
  JsonColumn& column = columns_[static_cast<size_t>(index)];
  uint64_t& set = set_in_[static_cast<size_t>(index)];
  if (set != reading_) {
    set = reading_;
    ++set_count_;
  }
  const char* begin = cursor->here();
  switch (column.Read(cursor, row)) {
    case JsonColumn::Outcome::kDone:
      return true;
    case JsonColumn::Outcome::kWrongJson:
      return Broken(*cursor, "a value");
    case JsonColumn::Outcome::kWrongValue:
      break;
  }
  if (!options_.ignore_parse_errors) {
    return WrongValue(column, {begin, static_cast<size_t>(cursor->here() - begin)});
  }
  column.SetNull(row);
  ++ignored_in_record_;
  return true;
}

bool JsonDecoder::Rows::ReadRecord(JsonCursor* cursor, int32_t row) {
  set_count_ = 0;
  ignored_in_record_ = 0;
  ++reading_;
  if (cursor->kind() != '{') return Broken(*cursor, "an object");
  cursor->Advance();
  if (cursor->kind() == '}') {
    cursor->Advance();
    return CloseRow(row);
  }
  for (size_t slot = 0;;) {
    if (ReadPlainFields(cursor, row, &slot)) return CloseRow(row);
    int column = -1;
    if (cursor->kind() != '"') return Broken(*cursor, "a name in quotes");
    if (!FindColumn(cursor, &slot, &column)) return false;
    if (cursor->kind() != ':') return Broken(*cursor, "':'");
    cursor->Advance();
    if (!ReadField(cursor, column, row)) return false;
    const char next = cursor->kind();
    if (next != ',' && next != '}') return Broken(*cursor, "',' or '}'");
    cursor->Advance();
    if (next == '}') return CloseRow(row);
  }
}

bool JsonDecoder::Rows::CloseRow(int32_t row) {
  if (set_count_ == columns_.size()) return true;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (set_in_[i] == reading_) continue;
    if (options_.fail_on_missing_field) {
      error_ = fmt::format("field '{}' is missing", columns_[i].field().name);
      return false;
    }
    columns_[i].SetNull(row);
  }
  return true;
}

void JsonDecoder::Rows::DecodeAlone(const RawRecord& record, int32_t row) {
  record_ = record.value;
  if (record.cut) {
    errors_.push_back({row, std::string(kRecordCut)});
    return;
  }
  if (record_.starts_with(kByteOrderMark)) record_.remove_prefix(kByteOrderMark.size());
  const char* problem = structure_.Index(record_);
  if (problem != nullptr) {
    errors_.push_back({row, fmt::format("the record is not JSON: {}", problem)});
    return;
  }
  const uint32_t* positions = structure_.positions();
  JsonCursor cursor(record_.data(), positions, positions + structure_.count());
  bool read = ReadRecord(&cursor, row);
  if (read && !cursor.at_end()) read = Broken(cursor, "nothing more");
  if (!read) {
    errors_.push_back({row, std::move(error_), std::exchange(hint_, {})});
  } else {
    ignored_values_ += ignored_in_record_;
  }
}

// Indexes as many records at once as stand one behind the other, a line break between them: since a line
// break inside a string is an error, no broken record can change how its neighbours are read. Returns where
// it stopped.
size_t JsonDecoder::Rows::DecodeGroup(const std::vector<RawRecord>& records, size_t first) {
  const char* begin = records[first].value.data();
  const char* end = begin + records[first].value.size();
  size_t last = first + 1;
  for (; last < records.size(); ++last) {
    const std::string_view next = records[last].value;
    const ptrdiff_t gap = next.data() - end;
    if (gap < 1 || gap > 2 || *end != (gap == 1 ? '\n' : '\r') || end[gap - 1] != '\n') break;
    if (static_cast<size_t>(next.data() + next.size() - begin) > kMaxIndexed) break;
    end = next.data() + next.size();
  }
  const std::string_view text(begin, static_cast<size_t>(end - begin));
  if (last == first + 1 || text.starts_with(kByteOrderMark) || structure_.Index(text) != nullptr) {
    for (size_t i = first; i < last; ++i) DecodeAlone(records[i], static_cast<int32_t>(i));
    return last;
  }
  const uint32_t* positions = structure_.positions();
  const uint32_t* stop = positions + structure_.count();
  JsonCursor cursor(begin, positions, stop);
  for (size_t i = first; i < last; ++i) {
    record_ = records[i].value;
    const uint32_t record_begin = static_cast<uint32_t>(record_.data() - begin);
    const uint32_t record_end = record_begin + static_cast<uint32_t>(record_.size());
    bool read =
        !cursor.at_end() && cursor.position() < record_end && ReadRecord(&cursor, static_cast<int32_t>(i));
    // The last token read and the next one lie on either side of the record's end, or it is not whole.
    if (read && (cursor.position() < record_end || cursor.before() >= record_end)) read = false;
    if (read) {
      ignored_values_ += ignored_in_record_;
    } else {
      // Rare: its error is the same as if it stood alone, but this index must not be lost.
      broken_.push_back(i);
      cursor = JsonCursor(begin, std::lower_bound(positions, stop, record_end), stop);
    }
  }
  for (const size_t i : broken_) DecodeAlone(records[i], static_cast<int32_t>(i));
  broken_.clear();
  return last;
}

void JsonDecoder::Rows::Decode(const RawBatch& batch, DecodedRows* out) {
  const int32_t rows = static_cast<int32_t>(batch.records.size());
  for (JsonColumn& column : columns_) column.Begin(rows);
  errors_.clear();
  ignored_values_ = 0;
  for (size_t first = 0; first < batch.records.size();) first = DecodeGroup(batch.records, first);

  out->row_count = rows;
  out->record_of_row.clear();
  out->selection = nullptr;
  if (!errors_.empty()) {
    std::vector<uint16_t> good;
    size_t next = 0;
    for (int32_t row = 0; row < rows; ++row) {
      if (next < errors_.size() && errors_[next].record == row) {
        ++next;
        // What a broken record left behind is unspecified but must be readable.
        for (JsonColumn& column : columns_) column.SetNull(row);
      } else {
        good.push_back(static_cast<uint16_t>(row));
      }
    }
    out->selection = SelectionPtr(new Selection{std::move(good)});
  }
  out->columns.clear();
  for (JsonColumn& column : columns_) out->columns.push_back(column.Finish(rows, batch.pins));
  out->errors = std::move(errors_);
  out->ignored_values = ignored_values_;
}

Result<std::unique_ptr<JsonDecoder>> JsonDecoder::Make(const Schema& schema, JsonOptions options) {
  for (const Field& field : schema.fields) {
    if (JsonColumn::Supports(field.type)) continue;
    return Status::User(
        fmt::format("format 'json' cannot read column '{}' of type {}", field.name, field.type.ToString()));
  }
  return std::unique_ptr<JsonDecoder>(new JsonDecoder(std::make_unique<Rows>(schema, std::move(options))));
}

JsonDecoder::JsonDecoder(std::unique_ptr<Rows> rows) : rows_(std::move(rows)) {}
JsonDecoder::~JsonDecoder() = default;

Status JsonDecoder::Decode(const RawBatch& batch, DecodedRows* out) {
  rows_->Decode(batch, out);
  return Status();
}

}  // namespace caudal
