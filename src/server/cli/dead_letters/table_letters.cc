#include "server/cli/dead_letters/table_letters.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "connect/filesystem/file_listing.h"
#include "connect/filesystem/file_options.h"
#include "connect/filesystem/path_pattern.h"
#include "data/column_view.h"
#include "run/plan_tables.h"
#include "run/scan/dead_letter_headers.h"
#include "server/engine.h"
#include "server/program_files.h"

namespace caudal {
namespace {

constexpr std::string_view kNotes = "_handled";

// What is read of each letter, in this order.
constexpr std::pair<std::string_view, std::string_view> kColumns[] = {
    {"query", "STRING"}, {"source", "STRING"},      {"file", "STRING"},
    {"raw", "BYTES"},    {"error_class", "STRING"}, {"error_message", "STRING"},
    {"key", "BYTES"},    {"offset", "BIGINT"},      {"rejected_at", "TIMESTAMP_LTZ(3)"}};
enum LetterColumn : size_t { kQuery, kSource, kFile, kRaw, kClass, kMessage, kKey, kOffset, kTime };

Status NotRead(const Table& table, std::string_view column) {
  return Status::User(
             fmt::format("dead-letter table '{}' has no column '{}', so its letters cannot be told apart",
                         table.name, column))
      .Hint(
          "declare `query`, `source`, `file`, `offset`, `raw`, `error_class` and `rejected_at`; letters kept "
          "from then "
          "on have them");
}

// The table of that name that the program reads.
Result<Table> SourceTable(const Program& program, const std::string& name) {
  for (const Plan& plan : program.Queries()) {
    for (const PlanNode& node : plan.nodes) {
      const ScanNode* scan = node.as<ScanNode>();
      if (scan != nullptr && scan->table.name == name) return Revealed(scan->table);
    }
  }
  return Status::User(fmt::format("no query of '{}' reads a table '{}', which the dead letters are of",
                                  program.text().name, name));
}

// Beside the mark: which letters, and what was being moved into its place.
bool IsNote(const nlohmann::json& note) {
  if (!note.contains("letters") || !note["letters"].is_array()) return false;
  for (const auto& id : note["letters"]) {
    if (!id.is_string()) return false;
  }
  if (!note.contains("staged")) return true;
  return note["staged"].is_string() && note.contains("target") && note["target"].is_string();
}

std::string FileName(int number) { return fmt::format("{:08}.json", number); }

Letter LetterOf(const Chunk& chunk, int32_t row) {
  Letter letter;
  const auto text = [&](LetterColumn cell) -> std::optional<std::string> {
    const ColumnView<StringView> values(*chunk.column(cell));
    return values.IsNull(row) ? std::nullopt : std::optional(std::string(values[row].view()));
  };
  const auto number = [&](LetterColumn cell, int64_t otherwise) {
    const ColumnView<int64_t> values(*chunk.column(cell));
    return values.IsNull(row) ? otherwise : values[row];
  };
  letter.query = text(kQuery).value_or("");
  letter.source = text(kSource).value_or("");
  letter.file = text(kFile).value_or("");
  letter.raw = text(kRaw);
  letter.error_class = text(kClass).value_or("");
  letter.message = text(kMessage).value_or("");
  letter.key = text(kKey);
  letter.offset = number(kOffset, -1);
  letter.first_seen_millis = number(kTime, 0) / (chunk.column(kTime)->type().ticks_per_second() / 1000);
  if (const auto origin = RecordOrigin::Of(letter.file)) {
    letter.topic = origin->topic;
    letter.partition = origin->partition;
  }
  return letter;
}

}  // namespace

Result<std::unique_ptr<LetterStore>> TableLetters::Open(Program* program, const Table& table) {
  for (const char* column : {"raw", "file", "offset", "source"}) {
    if (table.FindColumn(column) == nullptr) return NotRead(table, column);
  }
  if (table.option("connector") != "filesystem") {
    return Status::User(
               fmt::format(
                   "dead-letter table '{}' is of connector '{}': nothing can be noted beside its rows",
                   table.name, table.option("connector")))
        .Hint(
            "'caudal dlq ls' and 'show' read it; keep dead letters in a table of files or of a topic for "
            "more");
  }
  ASSIGN_OR_RETURN(const Table revealed, Revealed(table));
  ASSIGN_OR_RETURN(const FileTableOptions options, FileTableOptions::From(revealed));
  ASSIGN_OR_RETURN(FileSystem* const files, FilesOfTable(revealed));
  return std::unique_ptr<LetterStore>(
      new TableLetters(program, table, files, fmt::format("{}/{}", options.path, kNotes)));
}

std::string TableLetters::Select() const {
  std::string columns;
  for (const auto& [name, type] : kColumns) {
    const bool has = table_.FindColumn(name) != nullptr;
    columns += (columns.empty() ? "" : ", ") + (has ? fmt::format("CAST(`{0}` AS {1}) AS `{0}`", name, type)
                                                    : fmt::format("CAST(NULL AS {1}) AS `{0}`", name, type));
  }
  std::string where;
  if (table_.FindColumn("query") != nullptr)
    where = fmt::format(" WHERE POSITION('{}/' IN `query`) = 1", program_->text().name);
  return fmt::format("SELECT {} FROM `{}`{}", columns, table_.name, where);
}

Status TableLetters::Read(const LetterVisitor& visit) {
  ASSIGN_OR_RETURN(const FileListing listing, ListFiles(files_, notes_.substr(0, notes_.rfind('/'))));
  if (listing.files.empty()) return Status();
  sql::Session session(program_->mutable_catalog());
  ASSIGN_OR_RETURN(const std::vector<sql::Outcome> outcomes, session.Execute(Select()));
  Engine engine({});
  bool started = false;
  const auto consume = [&](const Chunk& chunk) -> Status {
    const RowSet rows = chunk.rows();
    for (int32_t i = 0; i < rows.count; ++i) RETURN_IF_ERROR(visit(LetterOf(chunk, rows[i])));
    return Status();
  };
  return engine.Select(std::get<sql::SelectQuery>(outcomes.at(0)).plan, consume, {}, &started).status();
}

Result<Marks> TableLetters::ReadMarks() {
  Marks marks;
  ASSIGN_OR_RETURN(const std::vector<FileInfo> found, files_->List(notes_));
  for (const FileInfo& file : found) {
    if (file.is_directory || !file.path.ends_with(".json")) continue;
    ASSIGN_OR_RETURN(const std::string text, files_->ReadAll(file.path));
    const auto json = nlohmann::json::parse(text, nullptr, false);
    const Result<Mark> mark = ReadMark(json);
    if (!mark.ok() || !IsNote(json)) {
      return Status::Data(fmt::format("'{}' is no note of dead letters", file.path))
          .Hint("bring it back from a backup: without it, letters that were replayed would be again");
    }
    if (json.contains("staged")) RETURN_IF_ERROR(FinishNoted(json));
    for (const auto& id : json["letters"]) marks[id] = *mark;
    const std::string name = file.path.substr(file.path.rfind('/') + 1);
    int number = 0;
    std::from_chars(name.data(), name.data() + name.size(), number);
    next_note_ = std::max(next_note_, number + 1);
  }
  return marks;
}

// The file that nobody sees gets its name; it had it already if it is gone.
Status TableLetters::Finish(const Replay& replay) {
  ASSIGN_OR_RETURN(const bool waits, replay.files->Exists(replay.staged));
  return waits ? replay.files->Rename(replay.staged, replay.target) : Status();
}

Status TableLetters::FinishNoted(const nlohmann::json& note) const {
  Replay replay{ProgramFiles(), note["staged"], note["target"]};
  // A note from before there was this has none.
  if (note.contains("source") && note["source"].is_string()) {
    const Result<Table> source = SourceTable(*program_, note["source"]);
    if (!source.ok()) return Status();  // nobody reads it any more
    ASSIGN_OR_RETURN(replay.files, FilesOfTable(*source));
  }
  return Finish(replay);
}

Result<TableLetters::Replay> TableLetters::PlaceFor(const std::string& source) const {
  ASSIGN_OR_RETURN(const Table table, SourceTable(*program_, source));
  if (table.option("connector") != "filesystem") {
    return Status::User(
               fmt::format(
                   "the dead letters are of table '{}' of connector '{}', and lie in files: nothing can "
                   "replay and note them together",
                   source, table.option("connector")))
        .Hint("keep dead letters of a topic in a topic");
  }
  ASSIGN_OR_RETURN(const FileTableOptions options, FileTableOptions::From(table));
  if (options.format == "parquet") {
    return Status::User(
        fmt::format("table '{}' is of Parquet files: its dead letters have no bytes to replay", source));
  }
  Replay replay;
  ASSIGN_OR_RETURN(replay.files, FilesOfTable(table));
  ASSIGN_OR_RETURN(const FileListing listing, ListFiles(replay.files, options.path));
  // Right behind the last file there is: files are read in the order of their names.
  const std::string last = listing.files.empty() ? std::string("0") : listing.files.back().name;
  replay.target = fmt::format("{}/{}-replay-{:08}.json", options.path, last, next_note_);
  const size_t slash = replay.target.rfind('/');
  replay.staged = fmt::format("{}/.{}", replay.target.substr(0, slash), replay.target.substr(slash + 1));
  ASSIGN_OR_RETURN(const PathPattern pattern, PathPattern::Make(options.path_pattern));
  if (!pattern.Matches(replay.target)) {
    return Status::User(fmt::format("table '{}' would not read '{}', as 'source.path.regex-pattern' says",
                                    source, replay.target));
  }
  return replay;
}

Result<TableLetters::Replay> TableLetters::Stage(const std::string& source,
                                                 const std::vector<Letter>& letters) const {
  ASSIGN_OR_RETURN(Replay replay, PlaceFor(source));
  ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file, replay.files->Create(replay.staged));
  for (const Letter& letter : letters) {
    RETURN_IF_ERROR(file->Append(letter.raw.value_or("")));
    RETURN_IF_ERROR(file->Append("\n"));
  }
  RETURN_IF_ERROR(file->Close());
  return replay;
}

Result<bool> TableLetters::Commit(const std::string& source, const std::vector<Letter>& letters,
                                  const Mark& mark, int number) {
  nlohmann::ordered_json note = {
      {"what", MarkName(mark.what)}, {"at", mark.at_millis}, {"reason", mark.reason}};
  Replay replay;
  if (mark.what == Mark::What::kReplayed) {
    ASSIGN_OR_RETURN(replay, Stage(source, letters));
    note["source"] = source;
    note["staged"] = replay.staged;
    note["target"] = replay.target;
  }
  note["letters"] = nlohmann::ordered_json::array();
  for (const Letter& letter : letters) note["letters"].push_back(letter.id());
  const std::string text = note.dump(1, ' ', false, nlohmann::json::error_handler_t::replace);
  RETURN_IF_ERROR(files_->MakeDirectories(notes_));
  ASSIGN_OR_RETURN(const bool made,
                   files_->CreateIfAbsent(fmt::format("{}/{}", notes_, FileName(number)), text));
  if (made && !replay.staged.empty()) RETURN_IF_ERROR(Finish(replay));
  return made;
}

Result<HandledLetters> TableLetters::Handle(const LetterSelection& selection, const Mark& mark, bool dry) {
  ASSIGN_OR_RETURN(Marks marks, ReadMarks());
  HandledLetters handled;
  std::map<std::string, std::vector<Letter>> by_source;
  RETURN_IF_ERROR(Read([&](const Letter& letter) -> Status {
    if (!selection.Matches(letter) || !TakeLetter(letter, mark, &marks, &handled)) return Status();
    std::vector<Letter>& letters = by_source[letter.source];
    if (!dry) letters.push_back(letter);
    return Status();
  }));
  // All before the first is written.
  for (const auto& [source, letters] : by_source) {
    if (mark.what == Mark::What::kReplayed) RETURN_IF_ERROR(PlaceFor(source).status());
  }
  if (dry) return handled;
  for (const auto& [source, letters] : by_source) {
    ASSIGN_OR_RETURN(const bool made, Commit(source, letters, mark, next_note_++));
    if (made) continue;
    return Status::External("another command deals with these dead letters right now", Retry::kBackoff)
        .Hint("run this one again when it has ended: what it did is passed over");
  }
  return handled;
}

}  // namespace caudal
