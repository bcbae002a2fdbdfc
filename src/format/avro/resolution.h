// Resolution: data that one schema wrote as what another schema, the reader's, wants: fields by name or
// alias, numbers promoted, defaults for what the writer did not have, as the specification's "Schema
// Resolution" says.
//
// Made once for two schemas, which must outlive it; used by one thread. A branch of a union is chosen as the
// Java library does: the first of the very same type, else the first to which the value can be promoted.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "format/avro/schema.h"
#include "format/avro/value.h"

namespace caudal::avro {

class Resolution {
 public:
  Resolution(const Schema* writer, const Schema* reader) : writer_(writer), reader_(reader) {}

  // A datum of the writer's root as one of the reader's root. Data error that names the field path if the
  // schemas do not fit, or this value does not (a symbol that the reader has not, a union's branch).
  Result<Value> Resolve(Value value);

 private:
  struct RecordMatch {
    std::vector<int> writer_fields;  // for each field of the reader: which of the writer's; -1: its default
    ValueList defaults;
  };

  Status Convert(NodeId writer, NodeId reader, Value* value);
  Status ConvertRecord(NodeId writer, NodeId reader, Value* value);
  Status ConvertItems(const Node& writer, const Node& reader, Value* value);
  Status ConvertEnum(const Node& writer, const Node& reader, Value* value);
  Result<const RecordMatch*> Match(NodeId writer, NodeId reader);
  std::optional<int> FindBranch(const Node& writer, const Node& reader_union) const;

  const Schema* writer_;
  const Schema* reader_;
  std::map<std::pair<NodeId, NodeId>, RecordMatch> matches_;
};

// A default as the schema of its field writes it, in JSON. Data error if it is no such value.
Result<Value> DefaultValue(const Schema& schema, NodeId type, std::string_view json);

}  // namespace caudal::avro
