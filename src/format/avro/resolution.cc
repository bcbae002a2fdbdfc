#include "format/avro/resolution.h"

#include <fmt/format.h>

#include <algorithm>

namespace caudal::avro {
namespace {

std::string_view Unqualified(std::string_view name) { return name.substr(name.rfind('.') + 1); }

bool SameName(const Node& writer, const Node& reader) {
  if (Unqualified(writer.name) == Unqualified(reader.name)) return true;
  return std::find(reader.aliases.begin(), reader.aliases.end(), writer.name) != reader.aliases.end();
}

bool IsNamed(Kind kind) { return kind == Kind::kRecord || kind == Kind::kEnum || kind == Kind::kFixed; }

bool SameType(const Node& writer, const Node& reader) {
  if (writer.kind != reader.kind) return false;
  if (writer.kind == Kind::kFixed && writer.size != reader.size) return false;
  return !IsNamed(writer.kind) || SameName(writer, reader);
}

bool CanPromote(Kind from, Kind to) {
  switch (from) {
    case Kind::kInt:
      return to == Kind::kLong || to == Kind::kFloat || to == Kind::kDouble;
    case Kind::kLong:
      return to == Kind::kFloat || to == Kind::kDouble;
    case Kind::kFloat:
      return to == Kind::kDouble;
    case Kind::kString:
      return to == Kind::kBytes;
    case Kind::kBytes:
      return to == Kind::kString;
    default:
      return false;
  }
}

template <typename From>
void PromoteNumber(From number, Kind to, Value* value) {
  if (to == Kind::kLong) value->data = static_cast<int64_t>(number);
  if (to == Kind::kFloat) value->data = static_cast<float>(number);
  if (to == Kind::kDouble) value->data = static_cast<double>(number);
}

// REQUIRES: CanPromote.
void Promote(Kind to, Value* value) {
  if (const int32_t* i = value->get<int32_t>()) return PromoteNumber(*i, to, value);
  if (const int64_t* l = value->get<int64_t>()) return PromoteNumber(*l, to, value);
  if (const float* f = value->get<float>()) PromoteNumber(*f, to, value);
}

// "record 'a.B'", "long".
std::string Describe(const Node& node) {
  std::string text(KindName(node.kind));
  if (!node.name.empty()) text += fmt::format(" '{}'", node.name);
  if (node.kind == Kind::kFixed) text += fmt::format(" of {} bytes", node.size);
  return text;
}

Status Misfit(const Node& writer, const Node& reader) {
  return Status::Data(fmt::format("{} was written, {} is wanted", Describe(writer), Describe(reader)));
}

// Puts one step of the path before a message that may already begin with steps.
Status Inside(const std::string& step, const Status& status) {
  const std::string& message = status.message();
  if (message.rfind("field '", 0) != 0) return Status::Data(fmt::format("field '{}': {}", step, message));
  const std::string rest = message.substr(7);
  return Status::Data(fmt::format("field '{}{}{}", step, rest[0] == '[' ? "" : ".", rest));
}

}  // namespace

Result<Value> Resolution::Resolve(Value value) {
  RETURN_IF_ERROR(Convert(writer_->root(), reader_->root(), &value));
  return value;
}

std::optional<int> Resolution::FindBranch(const Node& writer, const Node& reader_union) const {
  std::optional<int> same;
  std::optional<int> promoted;
  for (size_t i = 0; i < reader_union.types.size(); ++i) {
    const Node& branch = reader_->node(reader_union.types[i]);
    const int number = static_cast<int>(i);
    // Two records of one name in two namespaces may stand in one union.
    if (SameType(writer, branch) && writer.name == branch.name) return number;
    if (!same && SameType(writer, branch)) same = number;
    if (!promoted && CanPromote(writer.kind, branch.kind)) promoted = number;
  }
  return same ? same : promoted;
}

Status Resolution::Convert(NodeId writer_id, NodeId reader_id, Value* value) {
  const Node& writer = writer_->node(writer_id);
  const Node& reader = reader_->node(reader_id);
  if (writer.kind == Kind::kUnion) {
    const NodeId branch = writer.types[static_cast<size_t>(value->branch)];
    value->branch = -1;
    return Convert(branch, reader_id, value);
  }
  if (reader.kind == Kind::kUnion) {
    const auto branch = FindBranch(writer, reader);
    if (!branch) return Misfit(writer, reader);
    RETURN_IF_ERROR(Convert(writer_id, reader.types[static_cast<size_t>(*branch)], value));
    value->branch = *branch;
    return {};
  }
  if (!SameType(writer, reader)) {
    if (!CanPromote(writer.kind, reader.kind)) return Misfit(writer, reader);
    Promote(reader.kind, value);
    return {};
  }
  if (writer.kind == Kind::kRecord) return ConvertRecord(writer_id, reader_id, value);
  if (writer.kind == Kind::kEnum) return ConvertEnum(writer, reader, value);
  if (writer.kind == Kind::kArray || writer.kind == Kind::kMap) return ConvertItems(writer, reader, value);
  return {};
}

Result<const Resolution::RecordMatch*> Resolution::Match(NodeId writer_id, NodeId reader_id) {
  const auto [place, added] = matches_.try_emplace({writer_id, reader_id});
  if (!added) return &place->second;
  RecordMatch match;
  const std::vector<Field>& written = writer_->node(writer_id).fields;
  const Node& reader = reader_->node(reader_id);
  for (const Field& field : reader.fields) {
    const auto named = [&](const Field& candidate) {
      return candidate.name == field.name ||
             std::find(field.aliases.begin(), field.aliases.end(), candidate.name) != field.aliases.end();
    };
    const auto found = std::find_if(written.begin(), written.end(), named);
    match.writer_fields.push_back(found == written.end() ? -1 : static_cast<int>(found - written.begin()));
    Value missing;
    if (found == written.end()) {
      Status status = Status::Data("it was not written, and has no default");
      if (field.default_json) {
        Result<Value> value = DefaultValue(*reader_, field.type, *field.default_json);
        status = value.status();
        if (value.ok()) missing = std::move(value).value();
      }
      if (!status.ok()) {
        matches_.erase(place);
        return Inside(field.name, status);
      }
    }
    match.defaults.push_back(std::move(missing));
  }
  place->second = std::move(match);
  return &place->second;
}

Status Resolution::ConvertRecord(NodeId writer_id, NodeId reader_id, Value* value) {
  ASSIGN_OR_RETURN(const RecordMatch* match, Match(writer_id, reader_id));
  const Node& writer = writer_->node(writer_id);
  const Node& reader = reader_->node(reader_id);
  ValueList written = std::move(std::get<ValueList>(value->data));
  ValueList wanted(reader.fields.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const int from = match->writer_fields[i];
    if (from < 0) {
      wanted[i] = match->defaults[i];
      continue;
    }
    wanted[i] = written[static_cast<size_t>(from)];
    Status status = Convert(writer.fields[static_cast<size_t>(from)].type, reader.fields[i].type, &wanted[i]);
    if (!status.ok()) return Inside(reader.fields[i].name, status);
  }
  value->data = std::move(wanted);
  return {};
}

Status Resolution::ConvertItems(const Node& writer, const Node& reader, Value* value) {
  if (MapEntries* entries = std::get_if<MapEntries>(&value->data)) {
    for (MapEntry& entry : *entries) {
      Status status = Convert(writer.types[0], reader.types[0], &entry.value);
      if (!status.ok()) return Inside(fmt::format("['{}']", entry.key), status);
    }
    return {};
  }
  ValueList& items = std::get<ValueList>(value->data);
  for (size_t i = 0; i < items.size(); ++i) {
    Status status = Convert(writer.types[0], reader.types[0], &items[i]);
    if (!status.ok()) return Inside(fmt::format("[{}]", i), status);
  }
  return {};
}

Status Resolution::ConvertEnum(const Node& writer, const Node& reader, Value* value) {
  const std::string& symbol = writer.symbols[static_cast<size_t>(std::get<int32_t>(value->data))];
  auto found = std::find(reader.symbols.begin(), reader.symbols.end(), symbol);
  if (found == reader.symbols.end() && reader.default_symbol) {
    found = std::find(reader.symbols.begin(), reader.symbols.end(), *reader.default_symbol);
  }
  if (found == reader.symbols.end()) {
    return Status::Data(
        fmt::format("the symbol '{}' is not among those of the wanted {}", symbol, Describe(reader)));
  }
  value->data = static_cast<int32_t>(found - reader.symbols.begin());
  return {};
}

}  // namespace caudal::avro
