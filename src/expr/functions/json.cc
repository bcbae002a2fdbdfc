// JSON functions that read: IS JSON …, JSON_VALUE, JSON_EXISTS, JSON_QUERY, JSON_UNQUOTE.
//
// What a path finds, or does not, has one of three outcomes; which of them ON EMPTY and ON ERROR then answer
// is as Flink has it: "strict", the default, knows errors only; "lax" calls most of them empty.
#include <fmt/format.h>

#include "data/text/number_text.h"
#include "expr/functions/families.h"
#include "expr/functions/json_text.h"
#include "expr/functions/signature_pattern.h"
#include "expr/kernel.h"
#include "expr/string_output.h"
#include "expr/type_rules.h"

namespace caudal {
namespace {

using TextView = ColumnView<StringView>;

// --- IS JSON
// -------------------------------------------------------------------------------------------------

enum class Wanted { kAny, kObject, kArray, kScalar };

template <Wanted kWanted>
ColumnPtr IsJsonKernel(KernelCall& call) {
  Output<uint8_t> out(call.physical_rows);
  const TextView texts(*call.args[0]);
  ForEachRow(call.rows, [&](int32_t row) {
    std::string_view value;
    bool holds = !texts.IsNull(row) && ScanJson(texts[row].view(), &value);
    if (holds && kWanted != Wanted::kAny) {
      const JsonKind kind = KindOfJson(value);
      const Wanted is = kind == JsonKind::kObject  ? Wanted::kObject
                        : kind == JsonKind::kArray ? Wanted::kArray
                                                   : Wanted::kScalar;
      holds = is == kWanted;
    }
    out.Set(row, holds);
  });
  return out.Finish(call.expr.type);
}

// --- paths
// ---------------------------------------------------------------------------------------------------

// The path of each row, compiled once while it does not change.
class PathColumn {
 public:
  PathColumn(KernelCall& call, const Column& column) : call_(call), texts_(column) {}
  const JsonPath* At(int32_t row) {
    const std::string_view text = texts_[row].view();
    if (!known_ || text != text_) {
      text_ = text;
      known_ = true;
      path_ = JsonPath::Compile(text);
    }
    if (path_.ok()) return &*path_;
    call_.errors.Add(row, path_.status().message());
    return nullptr;
  }

 private:
  KernelCall& call_;
  TextView texts_;
  std::string text_;
  bool known_ = false;
  Result<JsonPath> path_ = JsonPath();
};

Status CheckPath(std::span<const Value* const> literals) {
  if (literals.size() < 2 || literals[1] == nullptr) return Status();
  const std::string* text = std::get_if<std::string>(&literals[1]->data);
  return text == nullptr ? Status() : JsonPath::Compile(*text).status();
}

enum class Outcome { kFound, kEmpty, kError };

// What the path finds in the document: `value`, or the text of a list in `list` when it holds a wildcard.
Outcome Look(std::string_view document, const JsonPath& path, std::string_view* value, std::string* list) {
  const Outcome nothing = path.lax ? Outcome::kEmpty : Outcome::kError;
  std::string_view root;
  if (!path.valid) return Outcome::kError;
  if (!ScanJson(document, &root)) return nothing;
  if (KindOfJson(root) == JsonKind::kNull) return Outcome::kError;
  if (path.definite()) {
    if (!FindInJson(root, path, value) || KindOfJson(*value) == JsonKind::kNull) return nothing;
    return Outcome::kFound;
  }
  std::vector<std::string_view> all;
  FindAllInJson(root, path, &all);
  *list = "[";
  for (const std::string_view one : all) list->append(list->size() > 1 ? "," : "").append(one);
  *list += "]";
  *value = *list;
  return Outcome::kFound;
}

bool IsScalarJson(std::string_view value) { return KindOfJson(value) <= JsonKind::kString; }

// A literal word among the arguments, such as the NULL of NULL ON EMPTY; empty when it was not given.
std::string_view WordOf(const KernelCall& call, size_t index) {
  if (index >= call.expr.args.size()) return {};
  const std::string* word = std::get_if<std::string>(&call.expr.args[index].literal.data);
  return word == nullptr ? std::string_view() : std::string_view(*word);
}

std::string ErrorOf(std::string_view function, Outcome outcome) {
  return fmt::format("{}: the path {}", function,
                     outcome == Outcome::kEmpty ? "finds nothing" : "cannot be followed");
}

// --- JSON_EXISTS(text, path[, word ON ERROR])
// ----------------------------------------------------------------

Result<Signature> ResolveExists(std::span<const Type> args, std::span<const Value* const> literals) {
  ASSIGN_OR_RETURN(Signature signature, MatchSignature("tt?t>B!", args));
  RETURN_IF_ERROR(CheckPath(literals));
  return signature;
}

ColumnPtr ExistsKernel(KernelCall& call) {
  Output<uint8_t> out(call.physical_rows);
  const TextView texts(*call.args[0]);
  PathColumn paths(call, *call.args[1]);
  const std::string_view on_error = WordOf(call, 2);
  std::string list;
  ForEachRow(call.rows, [&](int32_t row) {
    const JsonPath* path = paths.At(row);
    if (path == nullptr) return out.SetNull(row);
    std::string_view value;
    const Outcome outcome = Look(texts[row].view(), *path, &value, &list);
    if (outcome != Outcome::kError) return out.Set(row, outcome == Outcome::kFound);
    if (on_error == "ERROR") call.errors.Add(row, ErrorOf("JSON_EXISTS", outcome));
    if (on_error == "ERROR" || on_error == "UNKNOWN") return out.SetNull(row);
    out.Set(row, on_error == "TRUE");
  });
  return out.Finish(call.expr.type);
}

// --- JSON_VALUE(text, path[, type, ON EMPTY, default, ON ERROR, default])
// ------------------------------------

Type ReturnedType(std::string_view word) {
  if (word == "BOOLEAN") return Type(TypeId::kBoolean);
  if (word == "INTEGER" || word == "INT") return Type(TypeId::kInt);
  if (word == "DOUBLE") return Type(TypeId::kDouble);
  return Type::String();
}

Result<Signature> ResolveJsonValue(std::span<const Type> args, std::span<const Value* const> literals) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 2, 7));
  ASSIGN_OR_RETURN(Signature signature, MatchSignature("tt>S!", args.subspan(0, 2)));
  RETURN_IF_ERROR(CheckPath(literals));
  if (args.size() >= 3 && literals[2] != nullptr && !literals[2]->is_null()) {
    const std::string& word = std::get<std::string>(literals[2]->data);
    signature.result = ReturnedType(word);
    if (signature.result == Type::String() && !word.empty() && word != "STRING" && word != "VARCHAR") {
      return Status::User(fmt::format("RETURNING {} is not defined", word))
          .Hint("use STRING, BOOLEAN, INTEGER or DOUBLE");
    }
  }
  for (size_t i = 2; i < args.size(); ++i) {
    // The defaults are of the returned type; the words stay.
    signature.args.push_back(i == 4 || i == 6 ? signature.result : args[i]);
  }
  return signature;
}

// Writes the scalar, or false when it is not of the returned type.
struct ScalarWriter {
  KernelCall& call;
  std::string text;

  bool Write(std::string_view value, Output<uint8_t>& out, int32_t row) const {
    if (KindOfJson(value) != JsonKind::kBoolean) return false;
    out.Set(row, value[0] == 't');
    return true;
  }
  bool Write(std::string_view value, Output<int32_t>& out, int32_t row) const {
    int64_t number = 0;
    if (KindOfJson(value) != JsonKind::kNumber || !ParseWholeInteger(value, &number)) return false;
    if (number != static_cast<int32_t>(number)) return false;
    out.Set(row, static_cast<int32_t>(number));
    return true;
  }
  bool Write(std::string_view value, Output<double>& out, int32_t row) const {
    double number = 0;
    if (KindOfJson(value) != JsonKind::kNumber || !ParseDouble(value, &number)) return false;
    out.Set(row, number);
    return true;
  }
  bool Write(std::string_view value, StringOutput& out, int32_t row) {
    text.clear();
    AppendJsonScalar(value, &text);
    out.Set(row, text);
    return true;
  }
};

void CopyDefault(const Column& from, int32_t row, Output<uint8_t>& out) {
  out.Set(row, ColumnView<uint8_t>(from)[row]);
}
void CopyDefault(const Column& from, int32_t row, Output<int32_t>& out) {
  out.Set(row, ColumnView<int32_t>(from)[row]);
}
void CopyDefault(const Column& from, int32_t row, Output<double>& out) {
  out.Set(row, ColumnView<double>(from)[row]);
}
void CopyDefault(const Column& from, int32_t row, StringOutput& out) {
  out.Set(row, TextView(from)[row].view());
}

template <typename Out>
ColumnPtr ValueInto(KernelCall& call) {
  Out out(call.physical_rows);
  ScalarWriter writer{call, {}};
  const TextView texts(*call.args[0]);
  PathColumn paths(call, *call.args[1]);
  std::string list;
  const auto answer = [&](int32_t row, Outcome outcome) {
    const size_t at = outcome == Outcome::kEmpty ? 3 : 5;
    const std::string_view word = WordOf(call, at);
    if (word == "DEFAULT" && !call.args[at + 1]->IsNull(row))
      return CopyDefault(*call.args[at + 1], row, out);
    if (word == "ERROR") call.errors.Add(row, ErrorOf("JSON_VALUE", outcome));
    out.SetNull(row);
  };
  ForEachRow(call.rows, [&](int32_t row) {
    const JsonPath* path = texts.IsNull(row) || call.args[1]->IsNull(row) ? nullptr : paths.At(row);
    if (path == nullptr) return out.SetNull(row);
    std::string_view value;
    const Outcome outcome = Look(texts[row].view(), *path, &value, &list);
    if (outcome != Outcome::kFound) return answer(row, outcome);
    if (!IsScalarJson(value)) return answer(row, path->lax ? Outcome::kEmpty : Outcome::kError);
    if (writer.Write(value, out, row)) return;
    call.errors.Add(row, fmt::format("JSON_VALUE: {} is not a {}", value, call.expr.type.ToString()));
    out.SetNull(row);
  });
  return out.Finish(call.expr.type);
}

ColumnPtr ValueKernel(KernelCall& call) {
  switch (call.expr.type.id()) {
    case TypeId::kBoolean:
      return ValueInto<Output<uint8_t>>(call);
    case TypeId::kInt:
      return ValueInto<Output<int32_t>>(call);
    case TypeId::kDouble:
      return ValueInto<Output<double>>(call);
    default:
      return ValueInto<StringOutput>(call);
  }
}

// --- JSON_QUERY(text, path[, wrapper, ON EMPTY, ON ERROR])
// ---------------------------------------------------

Result<Signature> ResolveQuery(std::span<const Type> args, std::span<const Value* const> literals) {
  ASSIGN_OR_RETURN(Signature signature, MatchSignature("tt?ttt>S!", args));
  RETURN_IF_ERROR(CheckPath(literals));
  return signature;
}

ColumnPtr QueryKernel(KernelCall& call) {
  StringOutput out(call.physical_rows);
  const TextView texts(*call.args[0]);
  PathColumn paths(call, *call.args[1]);
  const std::string_view wrapper = WordOf(call, 2);
  std::string list;
  std::string text;
  const auto answer = [&](int32_t row, Outcome outcome) {
    const std::string_view word = WordOf(call, outcome == Outcome::kEmpty ? 3 : 4);
    if (word == "EMPTY ARRAY") return out.Share(row, "[]");
    if (word == "EMPTY OBJECT") return out.Share(row, "{}");
    if (word == "ERROR") call.errors.Add(row, ErrorOf("JSON_QUERY", outcome));
    out.SetNull(row);
  };
  ForEachRow(call.rows, [&](int32_t row) {
    const JsonPath* path = paths.At(row);
    if (path == nullptr) return out.SetNull(row);
    std::string_view value;
    const Outcome outcome = Look(texts[row].view(), *path, &value, &list);
    if (outcome != Outcome::kFound) return answer(row, outcome);
    const bool wraps =
        wrapper == "UNCONDITIONAL" || (wrapper == "CONDITIONAL" && KindOfJson(value) != JsonKind::kArray);
    if (!wraps && IsScalarJson(value)) return answer(row, path->lax ? Outcome::kEmpty : Outcome::kError);
    text.clear();
    if (wraps) text += '[';
    AppendJsonNormalized(value, &text);
    if (wraps) text += ']';
    out.Set(row, text);
  });
  return out.Finish(call.expr.type);
}

// --- JSON_UNQUOTE
// --------------------------------------------------------------------------------------------

// Text that is no JSON string stays as it is.
ColumnPtr UnquoteKernel(KernelCall& call) {
  StringOutput out(call.physical_rows);
  const TextView texts(*call.args[0]);
  std::string unquoted;
  ForEachRow(call.rows, [&](int32_t row) {
    const std::string_view text = texts[row].view();
    std::string_view value;
    if (text.size() < 2 || text[0] != '"' || !ScanJson(text, &value) || value.size() != text.size()) {
      return out.Set(row, text);
    }
    unquoted.clear();
    AppendUnescaped(value, &unquoted);
    out.Set(row, unquoted);
  });
  return out.Finish(call.expr.type);
}

constexpr std::string_view kFamilyJson = "json";

const ScalarFunction kJson[] = {
    {"IS JSON", kFamilyJson, "Whether the text is JSON.", "'{\"a\":1}' IS JSON", "TRUE", Pattern<"t>B.">,
     IsJsonKernel<Wanted::kAny>, false, true, false},
    {"IS JSON OBJECT", kFamilyJson, "Whether the text is a JSON object.", "'[]' IS JSON OBJECT", "FALSE",
     Pattern<"t>B.">, IsJsonKernel<Wanted::kObject>, false, true, false},
    {"IS JSON ARRAY", kFamilyJson, "Whether the text is a JSON array.", "'[]' IS JSON ARRAY", "TRUE",
     Pattern<"t>B.">, IsJsonKernel<Wanted::kArray>, false, true, false},
    {"IS JSON SCALAR", kFamilyJson, "Whether the text is a JSON string, number, boolean or null.",
     "'1' IS JSON SCALAR", "TRUE", Pattern<"t>B.">, IsJsonKernel<Wanted::kScalar>, false, true, false},
    {"JSON_EXISTS", kFamilyJson, "Whether the path finds a value that is not null.",
     "JSON_EXISTS('{\"a\":[1]}', '$.a[0]')", "TRUE", ResolveExists, ExistsKernel},
    {"JSON_VALUE", kFamilyJson, "The scalar that the path finds, as text or RETURNING another type.",
     "JSON_VALUE('{\"a\":{\"b\":2}}', '$.a.b')", "2", ResolveJsonValue, ValueKernel, false, true, false},
    {"JSON_QUERY", kFamilyJson, "The object or array that the path finds, as JSON.",
     "JSON_QUERY('{\"a\":[1, 2]}', '$.a')", "[1,2]", ResolveQuery, QueryKernel},
    {"JSON_UNQUOTE", kFamilyJson, "The text inside a JSON string; other text as it is.",
     "JSON_UNQUOTE('\"abc\"')", "abc", Pattern<"t>S">, UnquoteKernel},
};

}  // namespace

std::span<const ScalarFunction> JsonFunctions() { return kJson; }

}  // namespace caudal
