// TestFile: a .test file, read: what it proves, in which modes, and its blocks in order
// (docs/test-format.md).
//
// Plain data. Blocks are parted by blank lines; lines that begin with '#' before a block's first word are
// comments.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace caudal::drill {

// The ways in which each file is run.
enum class Mode { kWritten, kBounded, kRestore, kRescale, kTiny };
inline constexpr Mode kModes[] = {Mode::kWritten, Mode::kBounded, Mode::kRestore, Mode::kRescale,
                                  Mode::kTiny};
std::string_view ModeName(Mode mode);

struct TestBlock {
  int line = 0;                    // of the first word, from 1
  std::vector<std::string> words;  // "table", "features", "bounded"
  std::vector<std::string> body;
  std::optional<std::vector<std::string>> expected;  // what stands below "----"

  const std::string& word() const { return words[0]; }
  bool has(std::string_view word) const;
  std::string text() const;  // the body as one text
};

struct TestSkip {
  Mode mode;
  std::string reason;
};

struct TestFile {
  std::string path;
  bool oracle = false;  // its results were recorded from a real Flink
  std::vector<TestSkip> skips;
  std::vector<TestBlock> blocks;

  const TestSkip* skip(Mode mode) const;  // null = run it
};

// User error with file and line when the text is not a .test file.
Result<TestFile> ParseTestFile(std::string path, std::string_view text);

// Escapes of a cell: <NULL>, <EMPTY>, \t \n \r \\.
std::optional<std::string> UnescapeCell(std::string_view cell);  // empty = NULL
std::string EscapeCell(std::string_view text);
std::vector<std::string> SplitCells(std::string_view line);

}  // namespace caudal::drill
