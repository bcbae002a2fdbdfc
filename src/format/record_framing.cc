#include "format/record_framing.h"

#include <algorithm>
#include <cstring>

namespace caudal {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kMaxNesting = 1001;                // the object itself and what JsonCursor allows in it
constexpr std::string_view kMark = "\xEF\xBB\xBF";  // a byte order mark before the first record

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

size_t SkipBlanks(std::string_view text, size_t at) {
  while (at < text.size() && IsBlank(text[at])) ++at;
  return at;
}

// The last character that is not blank; REQUIRES: there is one.
char LastInk(std::string_view text) {
  while (IsBlank(text.back())) text.remove_suffix(1);
  return text.back();
}

std::string_view WithoutLineBreaks(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

// Where the line of `at` begins, if not before `floor`.
size_t LineStart(std::string_view text, size_t at, size_t floor) {
  while (at > floor && text[at - 1] != '\n') --at;
  return at;
}

// Where the line that `at` stands in ends: its line break, or the text's end.
size_t LineEnd(std::string_view text, size_t at) {
  const void* found = std::memchr(text.data() + at, '\n', text.size() - at);
  return found == nullptr ? text.size() : static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

// The first line behind the one of `at` that starts with '{'; kNone if there is none.
size_t NextObjectLine(std::string_view text, size_t at) {
  for (size_t end = LineEnd(text, at); end + 1 < text.size(); end = LineEnd(text, end + 1)) {
    if (text[end + 1] == '{') return end + 1;
  }
  return kNone;
}

}  // namespace

size_t RecordFraming::Split(std::string_view text, bool last, std::vector<std::string_view>* records) {
  return kind_ == Kind::kJson ? SplitJson(text, last, records) : SplitLines(text, last, records);
}

size_t RecordFraming::SplitLines(std::string_view text, bool last, std::vector<std::string_view>* records) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = LineEnd(text, at);
    if (end == text.size() && !last) break;
    std::string_view line = text.substr(at, end - at);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    records->push_back(line);
    at = end + 1;
  }
  return std::min(at, text.size());
}

size_t RecordFraming::SplitJson(std::string_view text, bool last, std::vector<std::string_view>* records) {
  for (size_t at = 0;;) {
    const size_t ink = SkipBlanks(text, at);
    const bool marked = text.substr(ink).starts_with(kMark);
    const size_t start = marked ? ink : LineStart(text, ink, at);
    if (ink == text.size()) return last || ink - start > kMaxObjectBytes ? ink : start;
    const size_t line_end = LineEnd(text, ink);
    if (line_end == text.size() && !last) return start;
    const size_t object = ink + (marked ? kMark.size() : 0);
    const std::string_view line = WithoutLineBreaks(text.substr(start, line_end - start));
    if (object >= line_end || text[object] != '{') {
      records->push_back(line);
      at = line_end;
      continue;
    }
    const size_t next = SkipBlanks(text, line_end);
    if (LastInk(line) == '}') {
      // No object goes on with '{' behind a '}', so what is followed by one, or by nothing, is whole.
      if (next == text.size() && !last) return start;
      if (next == text.size() || text[next] == '{') {
        records->push_back(line);
        at = line_end;
        continue;
      }
    }
    size_t end = 0;
    Scan scan = ScanObject(text, object, &end);
    if (scan == Scan::kNeedsMore) {
      if (!last && text.size() - start < kMaxObjectBytes) return start;
      scan = Scan::kBroken;
    }
    if (scan == Scan::kBroken) {
      // Where it ends must not depend on how much of the text is here yet.
      const std::string_view seen = text.substr(0, std::min(text.size(), start + kMaxObjectBytes));
      const size_t resume = NextObjectLine(seen, start);
      if (resume == kNone && !last && text.size() - start < kMaxObjectBytes) return start;
      end = resume == kNone ? LineEnd(text, std::min(end, text.size() - 1)) : resume;
      if (end == text.size() && !last) return start;
    } else {
      // Whatever follows on the same line belongs to the record, so that it is not passed over in silence.
      const size_t rest = LineEnd(text, end);
      if (rest == text.size() && !last) return start;
      end = rest;
    }
    records->push_back(WithoutLineBreaks(text.substr(start, end - start)));
    at = end;
  }
}

RecordFraming::Scan RecordFraming::ScanObject(std::string_view text, size_t start, size_t* end) {
  open_.clear();
  bool in_string = false;
  char before = '\0';  // the last character that is not blank
  for (size_t at = start; at < text.size() && at - start < kMaxObjectBytes; ++at) {
    const char c = text[at];
    *end = at;
    if (in_string) {
      if (c == '\n') return Scan::kBroken;
      if (c == '\\') {
        ++at;
      } else if (c == '"') {
        in_string = false;
      }
      before = c;
      continue;
    }
    switch (c) {
      case '"':
        in_string = true;
        break;
      case '{':
      case '[':
        if (open_.size() == kMaxNesting) return Scan::kBroken;
        open_.push_back(c);
        break;
      case '}':
      case ']':
        if (open_.empty() || open_.back() != (c == '}' ? '{' : '[')) return Scan::kBroken;
        open_.pop_back();
        if (open_.empty()) {
          *end = at + 1;
          return Scan::kComplete;
        }
        break;
      case '\n':
        // An object may begin a line only where a value may stand.
        if (at + 1 < text.size() && text[at + 1] == '{' && before != ':' && before != '[' &&
            !(before == ',' && open_.back() == '[')) {
          return Scan::kBroken;
        }
        break;
      default:
        break;
    }
    if (!IsBlank(c)) before = c;
  }
  *end = std::min(text.size(), start + kMaxObjectBytes);
  return Scan::kNeedsMore;
}

}  // namespace caudal
