// LetterStore: a query's dead letters, wherever its dead-letter table keeps them, and what was done about
// them.
//
// A record is dealt with once: what is done and the note of it come together, and a record with a note is
// passed over. One thread; calls block.
#pragma once

#include <memory>

#include "server/cli/dead_letters/letter.h"
#include "server/program.h"

namespace caudal {

struct HandledLetters {
  int64_t letters = 0;    // selected
  int64_t records = 0;    // dealt with now: a record that two queries kept aside is one
  int64_t replayed = 0;   // letters whose record had been replayed before
  int64_t discarded = 0;  // letters whose record had been discarded before
};

class LetterStore {
 public:
  virtual ~LetterStore() = default;
  virtual Result<Marks> ReadMarks() = 0;
  // Every letter of the program's queries, oldest first within a partition.
  virtual Status Read(const LetterVisitor& visit) = 0;
  // `dry`: checks what would be done, and counts it.
  virtual Result<HandledLetters> Handle(const LetterSelection& selection, const Mark& mark, bool dry) = 0;

  // The store of one dead-letter table of the program. User error for a table whose letters cannot be told
  // apart.
  static Result<std::unique_ptr<LetterStore>> Open(Program* program, const Table& table);
};

// Counts a selected letter in `handled`. True: it is to be dealt with now, and is marked.
bool TakeLetter(const Letter& letter, const Mark& mark, Marks* marks, HandledLetters* handled);

}  // namespace caudal
