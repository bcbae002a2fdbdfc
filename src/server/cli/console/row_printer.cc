#include "server/cli/console/row_printer.h"

#include <algorithm>

namespace caudal {
namespace {

constexpr size_t kHeldRows = 1000;  // drawn together; longer results are drawn in pieces
constexpr size_t kWidestColumn = 60;

// Code points, which is near enough to columns on a screen.
size_t Width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

// Line ends would break the drawing; what is too long is cut.
std::string OneLine(std::string_view text) {
  std::string line;
  size_t width = 0;
  for (const char c : text) {
    if ((c & 0xc0) != 0x80 && ++width > kWidestColumn) return line + "…";
    line += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return line;
}

}  // namespace

std::string DrawTable(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths(rows.empty() ? 0 : rows[0].size(), 1);
  for (const auto& row : rows) {
    for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], Width(row[i]));
  }
  std::string rule = "+";
  for (const size_t width : widths) rule += std::string(width + 2, '-') + "+";
  std::string out = rule + "\n";
  for (size_t at = 0; at < rows.size(); ++at) {
    out += "|";
    for (size_t i = 0; i < widths.size(); ++i) {
      out += " " + rows[at][i] + std::string(widths[i] - Width(rows[at][i]), ' ') + " |";
    }
    out += "\n";
    if (at == 0) out += rule + "\n";
  }
  return out + rule + "\n";
}

Status RowPrinter::Add(const Chunk& chunk) {
  const std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(text_.Load(chunk));
  std::string out;
  if (!console_->json && !console_->out_is_terminal()) Header(&out);
  for (int32_t i = 0; i < text_.rows(); ++i) {
    const char* kind = RowKindName(text_.kind(i));
    if (console_->json) {
      const size_t start = out.size();
      text_.AppendJson(i, &out);
      if (changes_) out.insert(start + 1, std::string("\"op\": \"") + kind + "\", ");
      out += '\n';
    } else if (console_->out_is_terminal()) {
      std::vector<std::string>& row = held_.emplace_back();
      if (changes_) row.emplace_back(kind);
      for (int column = 0; column < text_.schema().size(); ++column) {
        row.push_back(text_.IsNull(i, column) ? "NULL" : OneLine(text_.text(i, column)));
      }
      if (held_.size() >= kHeldRows) DrawTable();
    } else {
      if (changes_) out += std::string(kind) + "\t";
      text_.AppendLine(i, &out);
    }
  }
  rows_ += text_.rows();
  if (!out.empty()) console_->Out(out);
  return Status();
}

void RowPrinter::Header(std::string* out) {
  if (header_done_) return;
  header_done_ = true;
  if (changes_) *out += "op\t";
  for (int i = 0; i < text_.schema().size(); ++i) *out += (i == 0 ? "" : "\t") + text_.schema()[i].name;
  *out += '\n';
}

void RowPrinter::DrawTable() {
  std::vector<std::string> header;
  if (changes_) header.emplace_back("op");
  for (const Field& field : text_.schema().fields) header.push_back(OneLine(field.name));
  held_.insert(held_.begin(), std::move(header));
  console_->Out(caudal::DrawTable(held_));
  held_.clear();
}

void RowPrinter::Flush() {
  const std::lock_guard lock(mutex_);
  if (!held_.empty()) DrawTable();
  const Status flushed = console_->Flush();  // the command's end tells of it
}

void RowPrinter::Finish() {
  const std::lock_guard lock(mutex_);
  if (console_->json) return;
  std::string out;
  if (!console_->out_is_terminal()) {
    Header(&out);
    if (!out.empty()) console_->Out(out);
    return;
  }
  if (!held_.empty() || rows_ == 0) DrawTable();
  console_->Note(GroupDigits(rows_) + (rows_ == 1 ? " row" : " rows"));
}

}  // namespace caudal
