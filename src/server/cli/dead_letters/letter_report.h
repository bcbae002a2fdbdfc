// What 'caudal dlq' tells of a store of dead letters, as rows to be printed. Free functions.
#pragma once

#include "data/chunk.h"
#include "server/cli/dead_letters/letter_store.h"

namespace caudal {

struct LetterLines {
  Schema schema;
  Chunk rows;
};

// By query and class: how many.
Result<LetterLines> ListLetters(LetterStore* store);
// One line each, headers decoded, and what was done about it.
Result<LetterLines> ShowLetters(LetterStore* store, const LetterSelection& selection, int limit);
// By class, topic and partition (or file's table): how many, how many are open, replayed, discarded, and
// since when. `by`: "hour", "day" of the time they were first seen, or empty.
Result<LetterLines> CountLetters(LetterStore* store, const LetterSelection& selection, const std::string& by);

}  // namespace caudal
