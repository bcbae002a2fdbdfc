// SourceText: the SQL that a user wrote, and how an error points into it.
//
// Owns the text. Every token and syntax node carries a SourceRange into it; line and column (1-based, counted
// in code points) are computed only when an error is made. Immutable, so any thread may read it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/sql_position.h"
#include "base/status.h"

namespace caudal::sql {

// A piece of the text, in bytes. The end of the text is an empty range at its length.
struct SourceRange {
  uint32_t offset = 0;
  uint32_t length = 0;

  uint32_t end() const { return offset + length; }
};

// The smallest range that holds both.
SourceRange Cover(SourceRange first, SourceRange last);

class SourceText {
 public:
  // `name` (a view) goes in front of line and column in errors when it is not empty. `base`: where this text
  // begins in the script that it was cut from, with the script's file.
  explicit SourceText(std::string text, std::string name = "", SqlPosition base = {.offset = 0});

  const std::string& text() const { return text_; }
  // Of the range in the whole script: what plans keep.
  SqlPosition Position(SourceRange range) const;
  // REQUIRES: the range lies within the text. The view lives as long as this object.
  std::string_view Slice(SourceRange range) const {
    return std::string_view(text_).substr(range.offset, range.length);
  }
  // "line 3, column 10", the line itself and carets under the range.
  std::string Frame(SourceRange range) const;

 private:
  std::string text_;
  std::string name_;
  SqlPosition base_;
  // Code points before a byte of the text.
  size_t CodePointsBefore(size_t offset) const;

  std::vector<uint32_t> lines_;  // where each begins
  std::vector<uint32_t>
      code_points_;  // before every kBlock-th byte: statements of a line of 10 MB are sent, too
};

// An error that is the user's fault, with the frame of `range`:
//   error[user]: unexpected 'FORM', expected FROM
//     at line 1, column 10
//       SELECT a FORM t
//                ^^^^
Status ErrorAt(const SourceText& source, SourceRange range, std::string message);

// The refusal of something that Flink has and caudal has not: "JOIN is not built yet".
Status NotBuiltAt(const SourceText& source, SourceRange range, std::string_view what);

}  // namespace caudal::sql
