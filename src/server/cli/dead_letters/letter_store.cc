#include "server/cli/dead_letters/letter_store.h"

#include "server/cli/dead_letters/table_letters.h"
#include "server/cli/dead_letters/topic_letters.h"

namespace caudal {

Result<std::unique_ptr<LetterStore>> LetterStore::Open(Program* program, const Table& table) {
  if (table.option("connector") == "kafka") return TopicLetters::Open(*program, table);
  return TableLetters::Open(program, table);
}

bool TakeLetter(const Letter& letter, const Mark& mark, Marks* marks, HandledLetters* handled) {
  ++handled->letters;
  // The same record for another query, in the same command.
  const auto [found, first] = marks->emplace(letter.id(), mark);
  if (first) {
    ++handled->records;
    return true;
  }
  if (found->second.at_millis == mark.at_millis && found->second.what == mark.what) return false;
  ++(found->second.what == Mark::What::kReplayed ? handled->replayed : handled->discarded);
  return false;
}

}  // namespace caudal
