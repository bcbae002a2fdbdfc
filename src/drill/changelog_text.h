// ChangelogText: a changelog as lines of text ("+I<TAB>1<TAB>a"), folded and compared the way tests ask for.
//
// Plain functions over plain values; values are in the form of CAST(x AS STRING).
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "data/chunk.h"
#include "data/schema.h"
#include "expr/evaluator.h"

namespace caudal::drill {

struct TextChange {
  RowKind kind = RowKind::kInsert;
  std::vector<std::string> cells;  // escaped
  std::string ToString() const;
  std::string row() const;  // the cells alone
  bool operator==(const TextChange& other) const = default;
};

// The chunk's rows as text, appended to `out`. Data error if a value has no text form.
Status AppendChanges(const Chunk& chunk, const Schema& schema, const EvaluatorOptions& options,
                     std::vector<TextChange>* out);
// Rows of text cells as a chunk of `schema`; the first cell may be a row kind.
Result<Chunk> ParseRows(const std::vector<std::string>& lines, const Schema& schema,
                        const EvaluatorOptions& options);

// The table after all changes, by sign, sorted. Internal error when a row is taken away that never came.
Result<std::vector<std::string>> Fold(const std::vector<TextChange>& changes);

// The same changes as a table with a primary key would hold them: what an upsert of a key replaces, and what
// a delete removes, is added as the row that it takes away.
Result<std::vector<TextChange>> UpsertFold(std::vector<TextChange> changes, const std::vector<int>& key);

// The difference for a person, empty if none. `per_key`: columns of the upsert key: only the order of changes
// of equal keys counts; empty vector = the whole row is the key.
std::string CompareChanges(const std::vector<std::string>& expected, const std::vector<TextChange>& actual);
std::string CompareChangesPerKey(const std::vector<std::string>& expected,
                                 const std::vector<TextChange>& actual, const std::vector<int>& per_key);
// Only what the changes add up to counts: for changes of changes that several tasks made side by side.
std::string CompareNetChanges(const std::vector<std::string>& expected,
                              const std::vector<TextChange>& actual);
std::string CompareLines(const std::vector<std::string>& expected, const std::vector<std::string>& actual);

}  // namespace caudal::drill
