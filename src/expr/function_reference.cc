#include "expr/function_reference.h"

#include <fmt/format.h>

namespace caudal {
namespace {

constexpr std::string_view kWindowOutput =
    "All columns of the input, then `window_start TIMESTAMP(3)`, `window_end TIMESTAMP(3)` (exclusive) and "
    "`window_time`, one millisecond before the end, the time attribute of what follows. Group by "
    "`window_start, "
    "window_end` to get one row a window and key, given once the watermark passes the end; a row behind the "
    "watermark by then is `late`.";

constexpr TableFunctionReference kTableFunctions[] = {
    {"TUMBLE", "TUMBLE(TABLE data, DESCRIPTOR(timecol), size [, offset])",
     "Puts each row into the window of fixed size that its time lies in.",
     "- `data`: the table, or a query in parentheses\n"
     "- `timecol`: its time attribute\n"
     "- `size`: an INTERVAL\n"
     "- `offset`: an INTERVAL by which all windows begin later; may be left out\n",
     kWindowOutput,
     "SELECT window_start, window_end, COUNT(*) AS n\n"
     "FROM TABLE(TUMBLE(TABLE clicks, DESCRIPTOR(ts), INTERVAL '5' MINUTE))\n"
     "GROUP BY window_start, window_end;"},
    {"HOP", "HOP(TABLE data, DESCRIPTOR(timecol), slide, size [, offset])",
     "Puts each row into every window that its time lies in; windows overlap.",
     "- `data`: the table, or a query in parentheses\n"
     "- `timecol`: its time attribute\n"
     "- `slide`: an INTERVAL, how far apart windows begin; `size` is a multiple of it\n"
     "- `size`: an INTERVAL\n"
     "- `offset`: an INTERVAL by which all windows begin later; may be left out\n",
     kWindowOutput,
     "SELECT window_start, window_end, COUNT(*) AS n\n"
     "FROM TABLE(HOP(TABLE clicks, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '5' MINUTE))\n"
     "GROUP BY window_start, window_end;"},
    {"SESSION", "SESSION(TABLE data [PARTITION BY key, ...], DESCRIPTOR(timecol), gap)",
     "Puts rows of a partition that follow each other within a gap into one window.",
     "- `data`: the table, or a query in parentheses; its rows are only added\n"
     "- `key`: columns; without PARTITION BY all rows make sessions together\n"
     "- `timecol`: its time attribute\n"
     "- `gap`: an INTERVAL; a session ends that long behind its last row, and one exactly so far behind "
     "still belongs to "
     "it\n",
     "The columns of `data`, then `window_start`, `window_end` and `window_time`, one millisecond before the "
     "end, the "
     "time attribute of what follows. They can only be grouped by, as yet: GROUP BY the columns of PARTITION "
     "BY and "
     "`window_start, window_end`. A row out of order may make one session of several. One behind the "
     "watermark counts "
     "if the session that it touches is still open, and is `late` if not. `GROUP BY key, SESSION(timecol, "
     "gap)` with "
     "`SESSION_START`, `SESSION_END` and `SESSION_ROWTIME` is the same.",
     "SELECT id, window_start, window_end, COUNT(*) AS n\n"
     "FROM TABLE(SESSION(TABLE clicks PARTITION BY id, DESCRIPTOR(ts), INTERVAL '5' MINUTE))\n"
     "GROUP BY id, window_start, window_end;"},
    {"DEDUPLICATE",
     "DEDUPLICATE(input => TABLE t PARTITION BY key, ..., on_time => DESCRIPTOR(ts), retain => interval)",
     "Gives the first row of each key to arrive, at once, and keeps repeats out; a process table function of "
     "caudal's own.",
     "- `input`: a table whose rows are only added; rows with equal PARTITION BY columns repeat each other\n"
     "- `on_time`: its time attribute\n"
     "- `retain`: an INTERVAL, how long a key is remembered, counted in event time from the first row's "
     "time: "
     "state holds the keys of that time and no more\n",
     "The partition columns, then the other columns of the input (`on_time` among them, now a plain time), "
     "then "
     "`rowtime`, the only time attribute: the input must have no column of that name. A row that is not "
     "later than "
     "the watermark is `late` and neither looked up nor remembered; else a row whose key is remembered is "
     "`duplicate`, and one that comes back after `retain` is new again. A target that must never hold a key "
     "twice "
     "needs a unique key of its own.",
     "SELECT id, ts, rowtime\n"
     "FROM DEDUPLICATE(input => TABLE clicks PARTITION BY id, on_time => DESCRIPTOR(ts), retain => INTERVAL "
     "'10' "
     "MINUTE);"},
};

std::string TableFunctionSection() {
  std::string text = "\n## table functions\n\nThey stand behind FROM and give a table. Examples:\n\n";
  std::string examples(kTableFunctionInput);
  for (const TableFunctionReference& function : TableFunctions())
    examples += fmt::format("\n\n{}", function.example);
  text += fmt::format("```sql\n{}\n```\n", examples);
  for (const TableFunctionReference& function : TableFunctions()) {
    text += fmt::format("\n### {}\n\n`{}`\n\n{}\n\n{}\n{}\n", function.name, function.call, function.doc,
                        function.arguments, function.output);
  }
  return text;
}

}  // namespace

std::span<const TableFunctionReference> TableFunctions() { return kTableFunctions; }

std::string FunctionReference() {
  std::string text = "# Functions\n\nEvery example below is run as a test.\n";
  std::string_view family;
  for (const ScalarFunction& function : ScalarFunctions()) {
    if (function.family != family) {
      family = function.family;
      text += fmt::format("\n## {}\n\n| function | meaning | example | gives |\n|---|---|---|---|\n", family);
    }
    const auto cell = [](std::string_view raw) {
      std::string escaped;
      for (const char c : raw) {
        if (c == '|') escaped += '\\';
        escaped += c;
      }
      return escaped;
    };
    text += fmt::format("| `{}` | {} | `{}` | `{}` |\n", cell(function.name), cell(function.doc),
                        cell(function.example), cell(function.example_result));
  }
  text += "\n## aggregate\n\n| function | meaning | example | gives |\n|---|---|---|---|\n";
  for (const AggregateFunction& function : AggregateFunctions()) {
    text += fmt::format("| `{}` | {} | `{}` | `{}` |\n", function.name, function.doc, function.example,
                        function.example_result);
  }
  return text + TableFunctionSection();
}

}  // namespace caudal
