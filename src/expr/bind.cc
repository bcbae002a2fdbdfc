// Binding of calls: signatures, implicit casts, the list of functions and their reference.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "expr/functions/families.h"
#include "expr/type_rules.h"

namespace caudal {
namespace {

std::vector<ScalarFunction> AllFunctions() {
  std::vector<ScalarFunction> all;
  for (const auto family :
       {ComparisonFunctions(), LogicFunctions(), ArithmeticFunctions(), ConditionalFunctions(),
        CastFunctions(), MathFunctions(), StringFunctions(), StringChangeFunctions(), UrlFunctions(),
        PatternFunctions(), TemporalFunctions(), TemporalTextFunctions(), JsonFunctions(),
        JsonBuildFunctions(), HashFunctions(), CollectionFunctions()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

// Other names of the same function.
struct Alias {
  std::string_view name;
  std::string_view function;
};
constexpr Alias kAliases[] = {{"!=", "<>"},
                              {"IS UNKNOWN", "IS NULL"},
                              {"IS NOT UNKNOWN", "IS NOT NULL"},
                              {"CHARACTER_LENGTH", "CHAR_LENGTH"},
                              {"SUBSTR", "SUBSTRING"},
                              {"CEILING", "CEIL"},
                              {"MOD", "%"},
                              {"LOCALTIME", "CURRENT_TIME"},
                              {"NOW", "CURRENT_TIMESTAMP"},
                              {"POW", "POWER"}};

// NULLIF(a, b) is CASE WHEN a = b THEN NULL ELSE a END: the comparison may cast, the result may not.
Result<Expr> BindNullIf(std::vector<Expr> args, const SqlPosition& position) {
  const Type type = args[0].type.WithNullable(true);
  std::vector<Expr> branches(3);
  branches[1] = Expr::Literal(type, Value());
  branches[2] = args[0];
  ASSIGN_OR_RETURN(branches[0], BindCall(*FindScalarFunction("="), std::move(args), position));
  return BindCall(*FindScalarFunction("CASE"), std::move(branches), position);
}

}  // namespace

std::span<const ScalarFunction> ScalarFunctions() {
  static const std::vector<ScalarFunction>* const all = new std::vector<ScalarFunction>(AllFunctions());
  return *all;
}

const ScalarFunction* FindScalarFunction(std::string_view name) {
  using Index = std::unordered_map<std::string_view, const ScalarFunction*>;
  static const Index* const index = [] {
    auto* by_name = new Index();
    for (const ScalarFunction& function : ScalarFunctions()) by_name->emplace(function.name, &function);
    for (const Alias& alias : kAliases) {
      const auto found = by_name->find(alias.function);
      if (found != by_name->end()) by_name->emplace(alias.name, found->second);
    }
    return by_name;
  }();
  const auto found = index->find(name);
  return found == index->end() ? nullptr : found->second;
}

Result<Expr> BindCall(const ScalarFunction& function, std::vector<Expr> args, const SqlPosition& position) {
  if (function.name == "NULLIF" && args.size() == 2) return BindNullIf(std::move(args), position);
  std::vector<Type> types;
  std::vector<const Value*> literals;
  for (const Expr& arg : args) {
    types.push_back(arg.type);
    literals.push_back(arg.kind == Expr::Kind::kLiteral ? &arg.literal : nullptr);
  }
  Result<Signature> signature = function.resolve(types, literals);
  if (!signature.ok()) {
    const Status error = signature.status();
    Status named = Status::User(fmt::format("{}: {}", function.name, error.message()));
    return error.hint().empty() ? named : std::move(named).Hint(error.hint());
  }
  Expr call;
  call.kind = Expr::Kind::kCall;
  call.type = signature->result;
  call.name = std::string(function.name);
  call.function = &function;
  call.position = position;
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].type.EqualsIgnoringNullability(signature->args[i])) {
      call.args.push_back(std::move(args[i]));
      continue;
    }
    ASSIGN_OR_RETURN(Expr cast, BindCast(std::move(args[i]), signature->args[i], false, position));
    call.args.push_back(std::move(cast));
  }
  return call;
}

}  // namespace caudal
