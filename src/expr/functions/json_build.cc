// JSON functions that write: JSON_STRING, JSON_OBJECT, JSON_ARRAY, JSON_QUOTE.
#include <fmt/format.h>

#include <cmath>

#include "data/text/number_text.h"
#include "data/text/time_text.h"
#include "expr/cast/cast.h"
#include "expr/functions/families.h"
#include "expr/functions/json_text.h"
#include "expr/functions/signature_pattern.h"
#include "expr/functions/string_parts.h"
#include "expr/kernel.h"
#include "expr/string_output.h"
#include "expr/type_rules.h"

namespace caudal {
namespace {

// What Flink can write as JSON: no DATE, TIME or interval.
bool IsJsonWritable(const Type& type) {
  if (type.id() == TypeId::kMap && !type.children()[0].type.is_string()) return false;
  for (const Field& child : type.children()) {
    if (!IsJsonWritable(child.type)) return false;
  }
  return type.id() != TypeId::kDate && type.id() != TypeId::kTime && !IsInterval(type);
}

void AppendJsonValue(const Column& column, int32_t row, TimeZone& zone, std::string* out);

void AppendJsonList(const Column& column, int32_t at, TimeZone& zone, std::string* out) {
  const std::vector<ColumnPtr>& children = column.children();
  if (column.type().id() == TypeId::kRow) {
    *out += '{';
    for (size_t i = 0; i < children.size(); ++i) {
      if (i > 0) *out += ',';
      AppendJsonString(column.type().children()[i].name, out);
      *out += ':';
      AppendJsonValue(*children[i], at, zone, out);
    }
    *out += '}';
    return;
  }
  const bool map = column.type().id() == TypeId::kMap;
  const int32_t* offsets = column.values<int32_t>();
  *out += map ? '{' : '[';
  for (int32_t i = offsets[at]; i < offsets[at + 1]; ++i) {
    if (i > offsets[at]) *out += ',';
    AppendJsonValue(*children[0], i, zone, out);
    if (!map) continue;
    *out += ':';
    AppendJsonValue(*children[1], i, zone, out);
  }
  *out += map ? '}' : ']';
}

// The value as JSON. NaN and infinities are in quotes, so that the result is JSON whatever comes.
void AppendJsonValue(const Column& column, int32_t row, TimeZone& zone, std::string* out) {
  if (column.IsNull(row) || column.type().id() == TypeId::kNull) {
    *out += "null";
    return;
  }
  const int32_t at = column.encoding() == Encoding::kConstant ? 0 : row;
  const Type& type = column.type();
  if (!type.children().empty()) return AppendJsonList(column, at, zone, out);
  if (type.is_string()) return AppendJsonString(ColumnView<StringView>(column)[row].view(), out);
  std::string text;
  if (type.is_binary()) {
    AppendBase64(ColumnView<StringView>(column)[row].view(), &text);
    return AppendJsonString(text, out);
  }
  if (type.is_timestamp()) {
    char form[kTimestampTextSize];
    const bool zulu = type.id() == TypeId::kTimestampLtz;
    const int64_t ticks = ColumnView<int64_t>(column)[row];
    const size_t size = FormatTimestampIn(TimestampForm::kIso8601, ticks, type.precision(), zulu, form);
    return AppendJsonString({form, size}, out);
  }
  AppendValueText(column, row, zone, &text);
  if (type.id() == TypeId::kBoolean) return AppendLower(text, out);
  const bool number = text.back() != 'N' && text.back() != 'y';  // NaN, Infinity
  if (!number) return AppendJsonString(text, out);
  *out += text;
}

// A call that gives JSON is put in as it stands, as in Flink.
bool GivesJson(const Expr& expr) {
  return expr.kind == Expr::Kind::kCall && (expr.name == "JSON_OBJECT" || expr.name == "JSON_ARRAY");
}

void AppendArgument(const KernelCall& call, size_t index, int32_t row, std::string* out) {
  const Column& column = *call.args[index];
  if (GivesJson(call.expr.args[index]) && !column.IsNull(row)) {
    *out += ColumnView<StringView>(column)[row].view();
  } else {
    AppendJsonValue(column, row, call.evaluator.zone(), out);
  }
}

Result<Signature> ResolveJsonString(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 1, 1));
  if (!IsJsonWritable(args[0]))
    return WrongArgument(0, args[0], "a value that JSON has").Hint("CAST it to STRING");
  return Strict(Type::String(), args);
}

ColumnPtr JsonStringKernel(KernelCall& call) {
  StringOutput out(call.physical_rows);
  std::string text;
  ForEachRow(call.rows, [&](int32_t row) {
    text.clear();
    AppendJsonValue(*call.args[0], row, call.evaluator.zone(), &text);
    out.Set(row, text);
  });
  return out.Finish(call.expr.type);
}

// JSON_OBJECT(word, key, value, …) and JSON_ARRAY(word, value, …); the word is NULL or ABSENT, ON NULL.
template <bool kObject>
Result<Signature> ResolveConstructor(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 1, -1));
  Signature signature{Type::String().WithNullable(false), {args.begin(), args.end()}};
  for (size_t i = 1; i < args.size(); ++i) {
    if (kObject && i % 2 == 1) {
      if (!args[i].is_string()) return WrongArgument(i, args[i], "a key that is a string");
    } else if (!IsJsonWritable(args[i])) {
      return WrongArgument(i, args[i], "a value that JSON has").Hint("CAST it to STRING");
    }
  }
  return signature;
}

template <bool kObject>
ColumnPtr ConstructorKernel(KernelCall& call) {
  StringOutput out(call.physical_rows);
  const bool absent = std::get<std::string>(call.expr.args[0].literal.data) == "ABSENT";
  std::string text;
  ForEachRow(call.rows, [&](int32_t row) {
    text = kObject ? "{" : "[";
    for (size_t i = 1; i < call.args.size(); i += kObject ? 2 : 1) {
      const size_t value = kObject ? i + 1 : i;
      if (absent && call.args[value]->IsNull(row)) continue;
      if (text.size() > 1) text += ',';
      if (kObject) {
        AppendJsonString(ColumnView<StringView>(*call.args[i])[row].view(), &text);
        text += ':';
      }
      AppendArgument(call, value, row, &text);
    }
    text += kObject ? '}' : ']';
    out.Set(row, text);
  });
  return out.Finish(call.expr.type);
}

ColumnPtr QuoteKernel(KernelCall& call) {
  StringOutput out(call.physical_rows);
  const ColumnView<StringView> texts(*call.args[0]);
  std::string quoted;
  ForEachRow(call.rows, [&](int32_t row) {
    quoted.clear();
    AppendAsciiJsonString(texts[row].view(), &quoted);
    out.Set(row, quoted);
  });
  return out.Finish(call.expr.type);
}

constexpr std::string_view kFamilyJsonBuild = "json";

const ScalarFunction kJsonBuild[] = {
    {"JSON_STRING", kFamilyJsonBuild, "The value as JSON; NULL stays NULL.", "JSON_STRING('año')", "\"año\"",
     ResolveJsonString, JsonStringKernel},
    {"JSON_OBJECT", kFamilyJsonBuild, "A JSON object of keys and values.",
     "JSON_OBJECT('k' VALUE 1, 'n' VALUE TRUE)", "{\"k\":1,\"n\":true}", ResolveConstructor<true>,
     ConstructorKernel<true>, false, true, false},
    {"JSON_ARRAY", kFamilyJsonBuild, "A JSON array of values; NULL is left out.", "JSON_ARRAY(1, 'a', TRUE)",
     "[1,\"a\",true]", ResolveConstructor<false>, ConstructorKernel<false>, false, true, false},
    {"JSON_QUOTE", kFamilyJsonBuild, "The text as a JSON string of ASCII.", "JSON_QUOTE('a/é')",
     "\"a\\/\\u00e9\"", Pattern<"t>S">, QuoteKernel},
};

}  // namespace

std::span<const ScalarFunction> JsonBuildFunctions() { return kJsonBuild; }

}  // namespace caudal
