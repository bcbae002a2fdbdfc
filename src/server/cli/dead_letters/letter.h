// Letter: a dead letter as it lies in its table or topic, and whether somebody has dealt with it.
//
// Plain data.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "api/source.h"
#include "base/status.h"

namespace caudal {

struct Letter {
  std::string query;
  std::string source;  // the table that was read
  std::string error_class, message;
  std::string topic;  // of the record; empty: it was in a file
  int32_t partition = -1;
  std::string file;
  int64_t offset = -1;
  int64_t first_seen_millis = 0;
  int64_t timestamp_millis = -1;  // the record's own; -1: not known
  std::optional<std::string> key, raw;
  RecordHeaders headers;  // the record's own
  RecordHeaders reason;   // why it is a dead letter, in a topic

  // "clicks[3]", or the file.
  std::string origin() const;
  // Of the record, whichever queries kept it aside: its place and a checksum of its bytes.
  std::string id() const;
};

// What somebody did about a record.
struct Mark {
  enum class What { kReplayed, kDiscarded };
  What what = What::kReplayed;
  int64_t at_millis = 0;
  std::string reason;
};
using Marks = std::map<std::string, Mark>;  // by Letter::id()

std::string_view MarkName(Mark::What what);
Result<Mark::What> ParseMark(std::string_view name);
// A mark in the form in which notes keep it, {"what": …, "at": …, "reason": …}; Data error if it is none.
Result<Mark> ReadMark(const nlohmann::json& note);

// What a command is about; all that is set must hold.
struct LetterSelection {
  std::string error_class, query, topic;
  std::optional<int64_t> partition, from_offset, to_offset;  // of the record; `to` is the last one
  std::optional<int64_t> since_millis, until_millis;         // of first_seen; `until` is no longer one

  bool empty() const;
  bool Matches(const Letter& letter) const;
};

using LetterVisitor = std::function<Status(const Letter&)>;

}  // namespace caudal
