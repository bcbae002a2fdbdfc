#include "sql/parse/source_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace caudal::sql {
namespace {

// Longer lines are cut around the error, so that a generated statement of 100 kB still gives a readable
// frame.
constexpr size_t kMaxShown = 120;

constexpr size_t kBlock = 1024;

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

size_t CountCodePoints(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuation(c); }));
}

// Spaces as wide as `text`; tabs stay tabs so that the carets stand right.
std::string Padding(std::string_view text) {
  std::string padding;
  for (char c : text) {
    if (c == '\t') {
      padding += '\t';
    } else if (!IsContinuation(c)) {
      padding += ' ';
    }
  }
  return padding;
}

}  // namespace

SourceRange Cover(SourceRange first, SourceRange last) {
  uint32_t begin = std::min(first.offset, last.offset);
  return {begin, std::max(first.end(), last.end()) - begin};
}

SourceText::SourceText(std::string text, std::string name, SqlPosition base)
    : text_(std::move(text)), name_(std::move(name)), base_(std::move(base)), lines_{0} {
  for (size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1)) {
    lines_.push_back(static_cast<uint32_t>(at) + 1);
  }
  uint32_t before = 0;
  for (size_t at = 0; at < text_.size(); at += kBlock) {
    code_points_.push_back(before);
    before += static_cast<uint32_t>(CountCodePoints(std::string_view(text_).substr(at, kBlock)));
  }
}

size_t SourceText::CodePointsBefore(size_t offset) const {
  const size_t block = offset == 0 ? 0 : (offset - 1) / kBlock;
  if (block >= code_points_.size()) return 0;  // of no text
  return code_points_[block] +
         CountCodePoints(std::string_view(text_).substr(block * kBlock, offset - block * kBlock));
}

SqlPosition SourceText::Position(SourceRange range) const {
  const size_t offset = std::min<size_t>(range.offset, text_.size());
  const auto line = std::upper_bound(lines_.begin(), lines_.end(), offset) - 1;
  const size_t before = CodePointsBefore(offset) - CodePointsBefore(*line);
  SqlPosition position = base_;
  position.offset += static_cast<int32_t>(range.offset);
  position.line += static_cast<int32_t>(line - lines_.begin());
  // Only the first line may begin in the middle of one of the script.
  position.column = static_cast<int32_t>(before) + (line == lines_.begin() ? base_.column : 1);
  return position;
}

std::string SourceText::Frame(SourceRange range) const {
  std::string_view text = text_;
  size_t offset = std::min<size_t>(range.offset, text.size());
  size_t line_begin = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  line_begin = line_begin == std::string_view::npos ? 0 : line_begin + 1;
  size_t line_end = std::min(text.find('\n', offset), text.size());
  if (line_end > line_begin && text[line_end - 1] == '\r' && line_end > offset) --line_end;

  size_t line = 1 + static_cast<size_t>(std::count(text.begin(), text.begin() + line_begin, '\n'));
  size_t column = 1 + CountCodePoints(text.substr(line_begin, offset - line_begin));

  // Cut a long line on both sides, never inside a code point.
  size_t shown_begin = line_begin;
  if (line_end - line_begin > kMaxShown && offset > line_begin + kMaxShown / 2) {
    shown_begin = offset - kMaxShown / 2;
  }
  while (shown_begin < offset && IsContinuation(text[shown_begin])) ++shown_begin;
  size_t shown_end = std::min(line_end, shown_begin + kMaxShown);
  while (shown_end < line_end && IsContinuation(text[shown_end])) ++shown_end;
  std::string_view shown = text.substr(shown_begin, shown_end - shown_begin);

  size_t mark_end = std::clamp<size_t>(range.end(), offset, shown_end);
  size_t carets = std::max<size_t>(1, CountCodePoints(text.substr(offset, mark_end - offset)));
  return fmt::format("{}{}line {}, column {}\n      {}\n      {}{}", name_, name_.empty() ? "" : " ", line,
                     column, shown, Padding(text.substr(shown_begin, offset - shown_begin)),
                     std::string(carets, '^'));
}

Status ErrorAt(const SourceText& source, SourceRange range, std::string message) {
  return Status::User(std::move(message)).At(source.Frame(range));
}

Status NotBuiltAt(const SourceText& source, SourceRange range, std::string_view what) {
  return ErrorAt(source, range, fmt::format("{} is not built yet", what));
}

}  // namespace caudal::sql
