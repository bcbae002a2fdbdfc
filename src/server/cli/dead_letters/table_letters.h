// TableLetters: the dead letters of a table of files, and replaying them into the folders they came from.
//
// Notes are files of the folder `_handled` in the table's own, one a command, made only if their number is
// free: whoever loses looks again. A replay writes a file that nobody sees, then the note, then gives the
// file its name; what a crash left between note and name the next command finishes
// (docs/connectors/filesystem.md). The letters' table and the one they came from may be in stores of their
// own.
#pragma once

#include "server/cli/dead_letters/letter_store.h"

namespace caudal {

class TableLetters : public LetterStore {
 public:
  static Result<std::unique_ptr<LetterStore>> Open(Program* program, const Table& table);

  Result<Marks> ReadMarks() override;
  Status Read(const LetterVisitor& visit) override;
  Result<HandledLetters> Handle(const LetterSelection& selection, const Mark& mark, bool dry) override;

 private:
  struct Replay {
    FileSystem* files = nullptr;  // of the watched folder
    std::string staged, target;   // paths in it
  };
  TableLetters(Program* program, Table table, FileSystem* files, std::string notes)
      : program_(program), table_(std::move(table)), files_(files), notes_(std::move(notes)) {}
  std::string Select() const;
  // False: another command was faster with this number.
  Result<bool> Commit(const std::string& source, const std::vector<Letter>& letters, const Mark& mark,
                      int number);
  // Where a replay of the source's letters would lie; an error if nothing reads it there.
  Result<Replay> PlaceFor(const std::string& source) const;
  Result<Replay> Stage(const std::string& source, const std::vector<Letter>& letters) const;
  static Status Finish(const Replay& replay);
  // What the note tells of, if the program still reads what it was replayed to.
  Status FinishNoted(const nlohmann::json& note) const;

  Program* program_;
  Table table_;
  FileSystem* files_;  // of `table_`
  std::string notes_;  // the folder
  int next_note_ = 1;  // after ReadMarks
};

}  // namespace caudal
