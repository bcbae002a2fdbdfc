// RowPrinter: a query's rows as a person or a program wants them: a drawn table on a terminal, tab-separated
// lines with a header elsewhere, one JSON object a line with --json.
//
// One a result. Add may be called from any thread, one at a time.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "server/cli/console/console.h"
#include "server/row_text.h"

namespace caudal {

class RowPrinter {
 public:
  // `changes`: rows may be taken back, so each shows its kind in a column "op".
  RowPrinter(RowText text, bool changes, Console* console)
      : text_(std::move(text)), changes_(changes), console_(console) {}

  Status Add(const Chunk& chunk);
  // Shows what is held back so far; any thread.
  void Flush();
  // Prints what is held back. Once, after the last Add.
  void Finish();
  int64_t rows() const { return rows_; }

 private:
  void Header(std::string* out);
  void DrawTable();

  std::mutex mutex_;
  RowText text_;
  bool changes_;
  Console* console_;
  int64_t rows_ = 0;
  bool header_done_ = false;
  std::vector<std::vector<std::string>> held_;  // on a terminal: rows until their widths are known
};

// Texts in a drawn table, its first row the header.
std::string DrawTable(const std::vector<std::vector<std::string>>& rows);

}  // namespace caudal
