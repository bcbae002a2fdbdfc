#include "drill/test_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace caudal::drill {
namespace {

constexpr std::string_view kWords[] = {
    "statement", "query",     "pipeline",   "insert", "feed",    "changelog", "table", "contents", "explain",
    "metric",    "watermark", "checkpoint", "crash",  "restore", "advance",   "end",   "oracle",   "skip"};

std::vector<std::string> Lines(std::string_view text) {
  std::vector<std::string> lines;
  size_t start = 0;
  while (start <= text.size()) {
    const size_t end = std::min(text.find('\n', start), text.size());
    lines.emplace_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

std::optional<Mode> FindMode(std::string_view name) {
  for (Mode mode : kModes) {
    if (ModeName(mode) == name) return mode;
  }
  return std::nullopt;
}

// "skip restore: why" and "oracle" stand alone or together, before the first real block.
Status ReadHeader(const std::string& line, const std::string& where, TestFile* file) {
  if (line == "oracle") {
    file->oracle = true;
    return Status();
  }
  const size_t colon = line.find(": ");
  const std::optional<Mode> mode = line.starts_with("skip ") && colon != std::string::npos
                                       ? FindMode(line.substr(5, colon - 5))
                                       : std::nullopt;
  if (!mode) return Status::User(fmt::format("'{}' is not 'skip <mode>: <reason>'", line)).At(where);
  file->skips.push_back({*mode, line.substr(colon + 2)});
  return Status();
}

}  // namespace

std::string_view ModeName(Mode mode) {
  switch (mode) {
    case Mode::kWritten:
      return "written";
    case Mode::kBounded:
      return "bounded";
    case Mode::kRestore:
      return "restore";
    case Mode::kRescale:
      return "rescale";
    case Mode::kTiny:
      return "tiny";
  }
  return "";
}

bool TestBlock::has(std::string_view word) const {
  return std::find(words.begin() + 1, words.end(), word) != words.end();
}

std::string TestBlock::text() const { return fmt::format("{}", fmt::join(body, "\n")); }

const TestSkip* TestFile::skip(Mode mode) const {
  for (const TestSkip& skip : skips) {
    if (skip.mode == mode) return &skip;
  }
  return nullptr;
}

Result<TestFile> ParseTestFile(std::string path, std::string_view text) {
  TestFile file;
  file.path = std::move(path);
  const std::vector<std::string> lines = Lines(text);
  for (size_t i = 0; i < lines.size();) {
    if (lines[i].empty() || lines[i][0] == '#') {
      ++i;
      continue;
    }
    const std::string where = fmt::format("{}:{}", file.path, i + 1);
    TestBlock block;
    block.line = static_cast<int>(i) + 1;
    std::istringstream words(lines[i]);
    for (std::string word; words >> word;) block.words.push_back(word);
    if (std::find(std::begin(kWords), std::end(kWords), block.word()) == std::end(kWords)) {
      return Status::User(fmt::format("'{}' begins no block", block.word()))
          .At(where)
          .Hint(fmt::format("blocks begin with {}", fmt::join(kWords, ", ")));
    }
    if (block.word() == "oracle" || block.word() == "skip") {
      RETURN_IF_ERROR(ReadHeader(lines[i++], where, &file));
      continue;
    }
    for (++i; i < lines.size() && !lines[i].empty(); ++i) {
      if (lines[i] == "----" && !block.expected) {
        block.expected.emplace();
      } else {
        (block.expected ? *block.expected : block.body).push_back(lines[i]);
      }
    }
    file.blocks.push_back(std::move(block));
  }
  return file;
}

std::optional<std::string> UnescapeCell(std::string_view cell) {
  if (cell == "<NULL>") return std::nullopt;
  if (cell == "<EMPTY>") return std::string();
  std::string text;
  for (size_t i = 0; i < cell.size(); ++i) {
    if (cell[i] != '\\' || i + 1 == cell.size()) {
      text += cell[i];
      continue;
    }
    const char next = cell[++i];
    text += next == 't' ? '\t' : next == 'n' ? '\n' : next == 'r' ? '\r' : next;
  }
  return text;
}

std::string EscapeCell(std::string_view text) {
  if (text.empty()) return "<EMPTY>";
  std::string cell;
  for (char c : text) {
    switch (c) {
      case '\t':
        cell += "\\t";
        break;
      case '\n':
        cell += "\\n";
        break;
      case '\r':
        cell += "\\r";
        break;
      case '\\':
        cell += "\\\\";
        break;
      default:
        cell += c;
    }
  }
  return cell;
}

std::vector<std::string> SplitCells(std::string_view line) {
  std::vector<std::string> cells;
  for (size_t start = 0;;) {
    const size_t end = line.find('\t', start);
    cells.emplace_back(line.substr(start, end - start));
    if (end == std::string_view::npos) return cells;
    start = end + 1;
  }
}

}  // namespace caudal::drill
