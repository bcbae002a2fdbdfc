#include "iceberg/partition_by.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "iceberg/transform.h"

namespace caudal::iceberg {
namespace {

constexpr std::string_view kForm = "write it as 'day(ts), bucket(16, id), region'";

// What a user may write, Iceberg's name, and the end of the field's name.
struct Known {
  std::string_view written, name, suffix;
  bool numbered = false;
};
constexpr Known kKnown[] = {
    {"identity", "identity", ""},
    {"year", "year", "_year"},
    {"years", "year", "_year"},
    {"month", "month", "_month"},
    {"months", "month", "_month"},
    {"day", "day", "_day"},
    {"days", "day", "_day"},
    {"hour", "hour", "_hour"},
    {"hours", "hour", "_hour"},
    {"bucket", "bucket", "_bucket", true},
    {"truncate", "truncate", "_trunc", true},
};

std::string_view WithoutSpaces(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// At commas outside of brackets and backquotes.
std::vector<std::string_view> SplitTerms(std::string_view text) {
  std::vector<std::string_view> terms;
  size_t begin = 0;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '`') quoted = !quoted;
    if (quoted) continue;
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (text[i] != ',' || depth != 0) continue;
    terms.push_back(WithoutSpaces(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  terms.push_back(WithoutSpaces(text.substr(begin)));
  return terms;
}

std::string_view Unquoted(std::string_view name) {
  const bool quoted = name.size() > 2 && name.front() == '`' && name.back() == '`';
  return quoted ? name.substr(1, name.size() - 2) : name;
}

struct Term {
  const Known* known = &kKnown[0];
  std::string_view column;
  std::string number;
};

Result<Term> ParseTerm(std::string_view text) {
  const auto wrong = [&] {
    return Status::User(fmt::format("'{}' is no partition field", text)).Hint(std::string(kForm));
  };
  Term term;
  const size_t open = text.find('(');
  if (text.empty()) return wrong();
  if (open == std::string_view::npos || text.front() == '`') {
    term.column = Unquoted(text);
    return term;
  }
  if (text.back() != ')') return wrong();
  const std::string_view name = WithoutSpaces(text.substr(0, open));
  const auto found = std::find_if(std::begin(kKnown), std::end(kKnown),
                                  [&](const Known& known) { return known.written == name; });
  if (found == std::end(kKnown)) {
    return Status::User(fmt::format("the transform '{}' is not known", name))
        .Hint("there are identity, year, month, day, hour, bucket(n, column) and truncate(n, column)");
  }
  term.known = found;
  std::vector<std::string_view> arguments = SplitTerms(text.substr(open + 1, text.size() - open - 2));
  if (arguments.size() != (found->numbered ? 2 : 1)) return wrong();
  term.column = Unquoted(arguments.back());
  if (found->numbered) term.number = arguments[0];
  return term;
}

Result<PartitionField> MakeField(const Term& term, const Schema& schema) {
  const Field* column = schema.FindField(term.column);
  if (column == nullptr) {
    return Status::User(fmt::format("there is no column '{}' to partition by", term.column));
  }
  PartitionField field;
  field.source_ids = {column->id};
  field.name = fmt::format("{}{}", column->name, term.known->suffix);
  field.transform = term.number.empty() ? std::string(term.known->name)
                                        : fmt::format("{}[{}]", term.known->name, term.number);
  const Transform transform = Transform::Parse(field.transform);
  if (transform.kind == Transform::Kind::kUnknown) {
    return Status::User(fmt::format("'{}' is no number of {}", term.number,
                                    term.known->name == "bucket" ? "buckets" : "places to truncate to"))
        .Hint(std::string(kForm));
  }
  const Result<Type> type = transform.ResultType(column->type);
  if (!type.ok()) return type.status().At(fmt::format("partition by column '{}'", column->name));
  return field;
}

}  // namespace

Result<PartitionSpec> ParsePartitionBy(std::string_view text, const Schema& schema) {
  PartitionSpec spec;
  if (WithoutSpaces(text).empty()) return spec;
  for (const std::string_view part : SplitTerms(text)) {
    ASSIGN_OR_RETURN(const Term term, ParseTerm(part));
    ASSIGN_OR_RETURN(PartitionField field, MakeField(term, schema));
    for (const PartitionField& other : spec.fields) {
      if (other.name != field.name) continue;
      return Status::User(fmt::format("two partition fields are named '{}'", field.name))
          .Hint("partition by each column in one way");
    }
    // A field may not have the name of another column: readers tell them apart by it.
    const Field* column = schema.FindField(field.name);
    if (column != nullptr && column->id != field.source_ids[0]) {
      return Status::User(fmt::format("a partition field would be named '{}', as a column is", field.name))
          .Hint("rename the column");
    }
    field.field_id = kFirstPartitionFieldId + static_cast<int32_t>(spec.fields.size());
    spec.fields.push_back(std::move(field));
  }
  return spec;
}

}  // namespace caudal::iceberg
