// Collections: the constructors ROW, ARRAY and MAP, access by index, key and field, CARDINALITY, ELEMENT,
// ARRAY_CONTAINS, SPLIT, STR_TO_MAP.
#include <fmt/format.h>

#include <algorithm>

#include "data/column_builder.h"
#include "expr/functions/families.h"
#include "expr/functions/signature_pattern.h"
#include "expr/kernel.h"
#include "expr/type_rules.h"
#include "expr/utf8.h"

namespace caudal {
namespace {

using TextView = ColumnView<StringView>;

// `build(row, ColumnBuilder*)` appends exactly one value for every selected row; the rest is NULL.
template <typename F>
ColumnPtr BuildRows(KernelCall& call, F build) {
  ColumnBuilder builder(call.expr.type, call.physical_rows);
  std::vector<uint8_t> selected(static_cast<size_t>(call.physical_rows), 0);
  ForEachRow(call.rows, [&](int32_t row) { selected[static_cast<size_t>(row)] = 1; });
  for (int32_t row = 0; row < call.physical_rows; ++row) {
    if (selected[static_cast<size_t>(row)] != 0) {
      build(row, &builder);
    } else {
      builder.AppendNull();
    }
  }
  return builder.Finish();
}

Result<Signature> ResolveArray(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 1, -1));
  ASSIGN_OR_RETURN(Type element, CommonType(args));
  Signature signature{Type::Array(element).WithNullable(false), {}};
  for (const Type& arg : args) signature.args.push_back(element.WithNullable(arg.nullable()));
  return signature;
}

ColumnPtr ArrayKernel(KernelCall& call) {
  return BuildRows(call, [&](int32_t row, ColumnBuilder* out) {
    for (const ColumnPtr& arg : call.args) out->child(0).AppendFrom(*arg, row);
    out->AppendList();
  });
}

Result<Signature> ResolveMap(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 2, -1));
  if (args.size() % 2 != 0) return Status::User("a map takes keys and values in turn");
  std::vector<Type> sides[2];
  for (size_t i = 0; i < args.size(); ++i) sides[i % 2].push_back(args[i]);
  ASSIGN_OR_RETURN(Type key, CommonType(sides[0]));
  ASSIGN_OR_RETURN(Type value, CommonType(sides[1]));
  Signature signature{Type::Map(key, value).WithNullable(false), {}};
  for (size_t i = 0; i < args.size(); ++i) {
    signature.args.push_back((i % 2 == 0 ? key : value).WithNullable(args[i].nullable()));
  }
  return signature;
}

ColumnPtr MapKernel(KernelCall& call) {
  return BuildRows(call, [&](int32_t row, ColumnBuilder* out) {
    for (size_t i = 0; i < call.args.size(); ++i)
      out->child(i % 2 == 0 ? 0 : 1).AppendFrom(*call.args[i], row);
    out->AppendList();
  });
}

Result<Signature> ResolveRow(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 1, -1));
  std::vector<Field> fields;
  for (size_t i = 0; i < args.size(); ++i) fields.push_back({fmt::format("EXPR${}", i), args[i]});
  return Signature{Type::Row(std::move(fields)).WithNullable(false), {args.begin(), args.end()}};
}

ColumnPtr RowKernel(KernelCall& call) {
  return BuildRows(call, [&](int32_t row, ColumnBuilder* out) {
    for (size_t i = 0; i < call.args.size(); ++i)
      out->child(static_cast<int>(i)).AppendFrom(*call.args[i], row);
    out->AppendStruct();
  });
}

// FIELD(row, 'name').
Result<Signature> ResolveFieldOfRow(std::span<const Type> args, std::span<const Value* const> literals) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 2, 2));
  if (args[0].id() != TypeId::kRow) return WrongArgument(0, args[0], "a ROW");
  const std::string* name = literals[1] == nullptr ? nullptr : std::get_if<std::string>(&literals[1]->data);
  for (const Field& field : args[0].children()) {
    if (name == nullptr || field.name != *name) continue;
    return Signature{field.type.WithNullable(field.type.nullable() || args[0].nullable()),
                     {args[0], args[1]}};
  }
  return Status::User("the ROW has no such field");
}

ColumnPtr FieldOfRowKernel(KernelCall& call) {
  const std::string& name = std::get<std::string>(call.expr.args[1].literal.data);
  const std::vector<Field>& fields = call.args[0]->type().children();
  size_t index = 0;
  while (fields[index].name != name) ++index;
  const ColumnPtr& field = call.args[0]->children()[index];
  if (call.args[0]->encoding() == Encoding::kFlat) return field->WithType(call.expr.type);
  return BuildRows(call, [&](int32_t, ColumnBuilder* out) { out->AppendFrom(*field, 0); });
}

// Whether a key of this type can be looked up among keys of the other: never a number among texts.
bool IsKeyOf(const Type& key, const Type& keys) {
  if (key.id() == TypeId::kNull || key.id() == keys.id()) return true;
  return (key.is_string() && keys.is_string()) || (key.is_numeric() && keys.is_numeric());
}

// ITEM(array, index from 1) and ITEM(map, key); NULL when there is none.
Result<Signature> ResolveItem(std::span<const Type> args, std::span<const Value* const> literals) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 2, 2));
  if (args[0].id() == TypeId::kArray) {
    if (!args[1].is_integer()) return WrongArgument(1, args[1], "an integer");
    const int64_t* index = literals[1] == nullptr ? nullptr : std::get_if<int64_t>(&literals[1]->data);
    if (index != nullptr && *index < 1) {
      return Status::User(
          fmt::format("the elements of an ARRAY are numbered from 1, there is no {}", *index));
    }
    return Signature{args[0].children()[0].type.WithNullable(true),
                     {args[0], Type(TypeId::kBigInt, args[1].nullable())}};
  }
  if (args[0].id() != TypeId::kMap) return WrongArgument(0, args[0], "an ARRAY or a MAP");
  const Type& keys = args[0].children()[0].type;
  if (!IsKeyOf(args[1], keys)) {
    return WrongArgument(1, args[1],
                         fmt::format("a key like the map's, {}", keys.WithNullable(true).ToString()));
  }
  return Signature{args[0].children()[1].type.WithNullable(true),
                   {args[0], args[0].children()[0].type.WithNullable(args[1].nullable())}};
}

ColumnPtr ItemKernel(KernelCall& call) {
  const Column& collection = *call.args[0];
  const bool map = collection.type().id() == TypeId::kMap;
  const int32_t* offsets = collection.values<int32_t>();
  const bool constant = collection.encoding() == Encoding::kConstant;
  return BuildRows(call, [&](int32_t row, ColumnBuilder* out) {
    const int32_t at = constant ? 0 : row;
    if (map) {
      const Value key = ValueAt(*call.args[1], row);
      for (int32_t i = offsets[at]; i < offsets[at + 1]; ++i) {
        if (ValueAt(*collection.children()[0], i) == key)
          return out->AppendFrom(*collection.children()[1], i);
      }
      return out->AppendNull();
    }
    const int64_t index = ColumnView<int64_t>(*call.args[1])[row];
    if (index < 1 || index > offsets[at + 1] - offsets[at]) return out->AppendNull();
    out->AppendFrom(*collection.children()[0], offsets[at] + static_cast<int32_t>(index) - 1);
  });
}

Result<Signature> ResolveCardinality(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 1, 1));
  if (args[0].id() != TypeId::kArray && args[0].id() != TypeId::kMap) {
    return WrongArgument(0, args[0], "an ARRAY or a MAP");
  }
  return Strict(Type(TypeId::kInt), args);
}

ColumnPtr CardinalityKernel(KernelCall& call) {
  Output<int32_t> out(call.physical_rows);
  const int32_t* offsets = call.args[0]->values<int32_t>();
  const bool constant = call.args[0]->encoding() == Encoding::kConstant;
  ForEachRow(call.rows, [&](int32_t row) {
    const int32_t at = constant ? 0 : row;
    out.Set(row, offsets[at + 1] - offsets[at]);
  });
  return out.Finish(call.expr.type);
}

// ELEMENT(array): the only one; NULL of none.
Result<Signature> ResolveElement(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 1, 1));
  if (args[0].id() != TypeId::kArray) return WrongArgument(0, args[0], "an ARRAY");
  const Type& element = args[0].children()[0].type;
  return Signature{element.WithNullable(element.nullable() || args[0].nullable()), {args[0]}};
}

ColumnPtr ElementKernel(KernelCall& call) {
  const Column& array = *call.args[0];
  const int32_t* offsets = array.values<int32_t>();
  const bool constant = array.encoding() == Encoding::kConstant;
  return BuildRows(call, [&](int32_t row, ColumnBuilder* out) {
    const int32_t at = constant ? 0 : row;
    const int32_t size = offsets[at + 1] - offsets[at];
    if (size == 1) return out->AppendFrom(*array.children()[0], offsets[at]);
    if (size > 1) call.errors.Add(row, fmt::format("the ARRAY has {} elements, not one", size));
    out->AppendNull();
  });
}

Result<Signature> ResolveArrayContains(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(ExpectCount(args.size(), 2, 2));
  if (args[0].id() != TypeId::kArray) return WrongArgument(0, args[0], "an ARRAY");
  const Type element = args[0].children()[0].type.WithNullable(args[1].nullable());
  const Type both[] = {element, args[1]};
  const Result<Type> common = CommonType(both);
  if (!common.ok() || common->id() != element.id()) {
    return WrongArgument(1, args[1], "one of its elements, " + element.WithNullable(true).ToString());
  }
  return Signature{Type(TypeId::kBoolean, args[0].nullable()), {args[0], element}};
}

// NULL is looked for as well, so only the array's NULL is one of the result.
ColumnPtr ArrayContainsKernel(KernelCall& call) {
  const Column& array = *call.args[0];
  const int32_t* offsets = array.values<int32_t>();
  const bool constant = array.encoding() == Encoding::kConstant;
  Output<uint8_t> out(call.physical_rows);
  ForEachRow(call.rows, [&](int32_t row) {
    if (array.IsNull(row)) return out.SetNull(row);
    const int32_t at = constant ? 0 : row;
    const Value wanted = ValueAt(*call.args[1], row);
    bool found = false;
    for (int32_t i = offsets[at]; i < offsets[at + 1] && !found; ++i) {
      found = ValueAt(*array.children()[0], i) == wanted;
    }
    out.Set(row, found ? 1 : 0);
  });
  return out.Finish(call.expr.type);
}

// `f(part)` for each part between separators, empty ones too; by characters without a separator.
template <typename F>
void ForEachPart(std::string_view text, std::string_view separator, F f) {
  if (separator.empty()) {
    while (!text.empty()) {
      const size_t size = CharacterOffset(text, 1);
      f(text.substr(0, size));
      text.remove_prefix(size);
    }
    return;
  }
  for (size_t at = text.find(separator); at != std::string_view::npos; at = text.find(separator)) {
    f(text.substr(0, at));
    text.remove_prefix(at + separator.size());
  }
  f(text);
}

Result<Signature> ResolveSplit(std::span<const Type> args, std::span<const Value* const>) {
  ASSIGN_OR_RETURN(Signature signature, MatchSignature("tt>S", args));
  signature.result = Type::Array(Type::String()).WithNullable(AnyNullable(args));
  return signature;
}

ColumnPtr SplitKernel(KernelCall& call) {
  const TextView texts(*call.args[0]);
  const TextView separators(*call.args[1]);
  return BuildRows(call, [&](int32_t row, ColumnBuilder* out) {
    // Nothing has no part, not one empty part.
    if (!texts[row].view().empty()) {
      ForEachPart(texts[row].view(), separators[row].view(),
                  [&](std::string_view part) { out->child(0).AppendString(part); });
    }
    out->AppendList();
  });
}

Result<Signature> ResolveStrToMap(std::span<const Type> args, std::span<const Value* const>) {
  RETURN_IF_ERROR(args.size() == 2 ? ExpectCount(2, 3, 3) : Status());
  ASSIGN_OR_RETURN(Signature signature, MatchSignature("t?tt>S", args));
  signature.result = Type::Map(Type::String(), Type::String());
  return signature;
}

ColumnPtr StrToMapKernel(KernelCall& call) {
  const TextView texts(*call.args[0]);
  const bool given = call.args.size() == 3;
  return BuildRows(call, [&](int32_t row, ColumnBuilder* out) {
    const std::string_view between = given ? TextView(*call.args[1])[row].view() : ",";
    const std::string_view inside = given ? TextView(*call.args[2])[row].view() : "=";
    const std::string_view text = texts[row].view();
    if (!text.empty()) {
      ForEachPart(text, between, [&](std::string_view pair) {
        const size_t at = pair.find(inside);
        out->child(0).AppendString(pair.substr(0, at));
        if (at == std::string_view::npos) return out->child(1).AppendNull();
        out->child(1).AppendString(pair.substr(at + inside.size()));
      });
    }
    out->AppendList();
  });
}

constexpr std::string_view kFamilyCollection = "collection";

const ScalarFunction kCollection[] = {
    {"ARRAY", kFamilyCollection, "An array of the elements.", "ARRAY[1, 2]", "[1, 2]", ResolveArray,
     ArrayKernel, false, true, false},
    {"MAP", kFamilyCollection, "A map of keys and values.", "MAP['a', 1]", "{a=1}", ResolveMap, MapKernel,
     false, true, false},
    {"ROW", kFamilyCollection, "A row of the values.", "ROW(1, 'a')", "(1, a)", ResolveRow, RowKernel, false,
     true, false},
    {"FIELD", kFamilyCollection, "A field of a row; written r.f.", "", "", ResolveFieldOfRow,
     FieldOfRowKernel},
    {"ITEM", kFamilyCollection, "An element by index, from 1, or key; written c[i].", "ARRAY[7, 8][2]", "8",
     ResolveItem, ItemKernel},
    {"CARDINALITY", kFamilyCollection, "The number of elements.", "CARDINALITY(ARRAY[7, 8])", "2",
     ResolveCardinality, CardinalityKernel},
    {"ELEMENT", kFamilyCollection, "The only element; NULL of an empty array, an error of more.",
     "ELEMENT(ARRAY[7])", "7", ResolveElement, ElementKernel},
    {"ARRAY_CONTAINS", kFamilyCollection, "Whether an element equals the second; NULL can be looked for.",
     "ARRAY_CONTAINS(ARRAY[7, 8], 8)", "TRUE", ResolveArrayContains, ArrayContainsKernel, false, true, false},
    {"SPLIT", kFamilyCollection, "The parts between separators.", "SPLIT('a,b,c', ',')", "[a, b, c]",
     ResolveSplit, SplitKernel},
    {"STR_TO_MAP", kFamilyCollection, "A map of 'key=value' parts.", "STR_TO_MAP('a=1,b=2')", "{a=1, b=2}",
     ResolveStrToMap, StrToMapKernel},
};

}  // namespace

std::span<const ScalarFunction> CollectionFunctions() { return kCollection; }

}  // namespace caudal
