#include "sql/session.h"

#include <fmt/format.h>

#include "sql/catalog/catalog_statements.h"
#include "sql/create_table.h"
#include "sql/explain.h"
#include "sql/insert_binder.h"
#include "sql/parse/name_parser.h"
#include "sql/parse/parser.h"
#include "sql/physical/optimize.h"
#include "sql/physical/settings.h"
#include "sql/query_binder.h"
#include "sql/show.h"
#include "sql/table_name.h"

namespace caudal::sql {
namespace {

Status UnknownSetting(std::string_view key) {
  std::vector<std::string> known;
  for (const Setting& setting : Settings()) known.emplace_back(setting.key);
  Status status = Status::User(fmt::format("unknown setting '{}'", key));
  const std::string nearest = NearestName(key, known);
  return nearest.empty() ? status : std::move(status).Hint(fmt::format("did you mean '{}'?", nearest));
}

// What SET keeps of a value.
Result<std::string> CheckedValue(std::string_view key, std::string_view value) {
  const Setting* found = FindSetting(key);
  if (found == nullptr) return UnknownSetting(key);
  // In a family without effect, what is nearly a key that has one was not meant to be another.
  for (const Setting& setting : Settings()) {
    if (setting.role != Setting::Role::kIdle && found->key.ends_with('*') && IsSlip(key, setting.key))
      return UnknownSetting(key);
  }
  return CheckSetting(key, value);
}

// One statement of a script: changes the catalog or gives something to show or run.
class StatementExecutor {
 public:
  StatementExecutor(Catalog* catalog, const SourceText& source) : catalog_(*catalog), source_(source) {}

  // Catalogs, databases and ALTER TABLE; and what the two below leave to it.
  template <typename Statement>
  Result<Outcome> operator()(const Statement& statement) {
    ASSIGN_OR_RETURN(StatementDone done, CatalogStatements(&catalog_, source_).Execute(statement));
    return Outcome(std::move(done));
  }

  Result<Outcome> operator()(const CreateTable& create) {
    ASSIGN_OR_RETURN(const ObjectPath path, ResolvePath(create.name, catalog_, source_));
    if (IsOutside(path) && !create.temporary) return operator()<CreateTable>(create);
    ASSIGN_OR_RETURN(Table table, BindCreateTable(create, catalog_, source_));
    const std::string name = table.name;
    RETURN_IF_ERROR(AtName(catalog_.AddTable(std::move(table), create.if_not_exists), create.name));
    return Done(fmt::format("table '{}' created", name));
  }

  Result<Outcome> operator()(const CreateView& create) {
    ASSIGN_OR_RETURN(View view, BindCreateView(create, catalog_, source_));
    const std::string name = view.name;
    RETURN_IF_ERROR(AtName(catalog_.AddView(std::move(view), create.if_not_exists), create.name));
    return Done(fmt::format("view '{}' created", name));
  }

  Result<Outcome> operator()(const DropObject& drop) {
    ASSIGN_OR_RETURN(const ObjectPath path, ResolvePath(drop.name, catalog_, source_));
    if (IsOutside(path) && !drop.temporary && drop.kind == ObjectKind::kTable)
      return operator()<DropObject>(drop);
    const std::string name = NameInCatalog(path);
    const bool view = drop.kind == ObjectKind::kView;
    RETURN_IF_ERROR(AtName(catalog_.Drop(name, view, drop.if_exists), drop.name));
    return Done(fmt::format("{} '{}' dropped", view ? "view" : "table", name));
  }

  Result<Outcome> operator()(const Insert& insert) {
    ASSIGN_OR_RETURN(Plan plan, PlanInserts({&insert}));
    return Outcome(InsertQuery{std::move(plan)});
  }

  Result<Outcome> operator()(const StatementSet& set) {
    ASSIGN_OR_RETURN(Plan plan, PlanInserts(InsertsOf(set)));
    return Outcome(InsertQuery{std::move(plan)});
  }

  Result<Outcome> operator()(const SelectStatement& select) {
    ASSIGN_OR_RETURN(Plan plan, PlanSelect(*select.query));
    return Outcome(SelectQuery{std::move(plan)});
  }

  Result<Outcome> operator()(const Explain& explain) {
    Result<Plan> plan = Status::Internal("EXPLAIN without a query");
    if (const auto* insert = std::get_if<Insert>(&explain.target->node)) {
      plan = PlanInserts({insert});
    } else if (const auto* set = std::get_if<StatementSet>(&explain.target->node)) {
      plan = PlanInserts(InsertsOf(*set));
    } else if (const auto* select = std::get_if<SelectStatement>(&explain.target->node)) {
      plan = PlanSelect(*select->query);
    }
    if (!plan.ok()) return std::move(plan).status();
    return Outcome(TextResult{{"result"}, {{ExplainPlan(*plan, explain.changelog_mode)}}});
  }

  Result<Outcome> operator()(const Show& show) {
    ASSIGN_OR_RETURN(TextResult result, ShowObjects(show, catalog_, source_));
    return Outcome(std::move(result));
  }

  Result<Outcome> operator()(const Describe& describe) {
    ASSIGN_OR_RETURN(TextResult result, DescribeObject(describe.name, catalog_, source_));
    return Outcome(std::move(result));
  }

  Result<Outcome> operator()(const Set& set) {
    if (!set.option) {
      TextResult result{{"key", "value"}, {}};
      for (const auto& [key, value] : catalog_.settings()) result.rows.push_back({key, value});
      return Outcome(std::move(result));
    }
    const std::string& key = set.option->key;
    const SourceRange range = Cover(set.option->key_range, set.option->value_range);
    Result<std::string> value = CheckedValue(key, set.option->value);
    if (!value.ok()) return std::move(value).status().At(source_.Frame(range));
    catalog_.settings()[key] = *value;
    const bool idle = FindSetting(key)->role == Setting::Role::kIdle;
    return Done(fmt::format("setting '{}' is '{}'{}", key, *value, idle ? ", which has no effect here" : ""));
  }

  Result<Outcome> operator()(const Reset& reset) {
    if (!reset.key) {
      catalog_.settings().clear();
      return Done("all settings reset");
    }
    if (FindSetting(reset.key->text) == nullptr)
      return UnknownSetting(reset.key->text).At(source_.Frame(reset.key->range));
    catalog_.settings().erase(reset.key->text);
    return Done(fmt::format("setting '{}' reset", reset.key->text));
  }

 private:
  static Result<Outcome> Done(std::string message) { return Outcome(StatementDone{std::move(message)}); }

  Status AtName(Status status, const ObjectName& name) const {
    return status.ok() ? status : std::move(status).At(source_.Frame(name.range));
  }

  std::string Mode(std::string_view fallback) const {
    auto found = catalog_.settings().find("execution.runtime-mode");
    return found == catalog_.settings().end() ? std::string(fallback) : found->second;
  }

  static std::vector<const Insert*> InsertsOf(const StatementSet& set) {
    std::vector<const Insert*> inserts;
    for (const StatementPtr& statement : set.inserts) inserts.push_back(&std::get<Insert>(statement->node));
    return inserts;
  }

  // Points at a position of the plan in this text.
  FailAt MakeFail() const {
    return [this](const SqlPosition& position, std::string message) {
      const int32_t offset = position.offset - source_.Position({0, 0}).offset;
      if (offset < 0 || offset >= static_cast<int32_t>(source_.text().size()))
        return Status::User(std::move(message));
      return ErrorAt(source_, {static_cast<uint32_t>(offset), 1}, std::move(message));
    };
  }

  Result<Plan> PlanInserts(const std::vector<const Insert*>& inserts) {
    const bool batch = Mode("streaming") == "batch";
    PlanBuilder builder;
    QueryBinder binder(&catalog_, &builder, batch);
    Draft draft;
    std::string name;
    for (const Insert* insert : inserts) {
      ASSIGN_OR_RETURN(int sink, BindInsert(*insert, binder, source_));
      draft.roots.push_back(sink);
      // A set is named by its first sink, unless it is told its name: one more sink keeps the checkpoint.
      if (name.empty()) name = insert->target.parts.back().text;
    }
    const auto told = catalog_.settings().find("pipeline.name");
    if (told != catalog_.settings().end() && !told->second.empty()) name = told->second;
    draft.nodes = builder.Take();
    return Optimize(std::move(draft), std::move(name), catalog_, batch, MakeFail());
  }

  Result<Plan> PlanSelect(const Query& query) {
    const bool batch = Mode("batch") == "batch";
    PlanBuilder builder;
    QueryBinder binder(&catalog_, &builder, batch);
    ASSIGN_OR_RETURN(Relation relation, binder.Bind(query, BindContext{&source_, "select"}));
    relation = NameResult(builder, std::move(relation));
    Draft draft;
    draft.roots.push_back(relation.node);
    draft.nodes = builder.Take();
    return Optimize(std::move(draft), "select", catalog_, batch, MakeFail());
  }

  // The names of the result are those of the query, not of the node that happens to be last.
  static Relation NameResult(PlanBuilder& builder, Relation relation) {
    if (builder.node(relation.node).schema == relation.scope.columns) return relation;
    std::vector<Projection> projections;
    for (int i = 0; i < relation.scope.columns.size(); ++i) {
      const Field& field = relation.scope.columns[i];
      projections.push_back({Expr::Column(i, field.name, field.type), field.name});
    }
    relation.node = builder.AddCalc("select/calc", relation.node, {}, std::move(projections), {});
    return relation;
  }

  Catalog& catalog_;
  const SourceText& source_;
};

}  // namespace

Result<std::vector<Outcome>> Session::Execute(std::string_view script, std::string file) {
  std::vector<Outcome> outcomes;
  RETURN_IF_ERROR(ExecuteEach(script, std::move(file), [&outcomes](Outcome outcome) {
    outcomes.push_back(std::move(outcome));
    return Status();
  }));
  return outcomes;
}

Status Session::ExecuteEach(std::string_view script, std::string file, const TakeOutcome& take) {
  // Some editors put it in front of UTF-8.
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (script.starts_with(kByteOrderMark)) script.remove_prefix(kByteOrderMark.size());
  const SourceText source{std::string(script), "", {.offset = 0, .file = std::move(file)}};
  ASSIGN_OR_RETURN(const std::vector<StatementPtr> statements, ParseScript(source));
  for (const StatementPtr& statement : statements) {
    catalog_->externals().ForgetLoaded();
    StatementExecutor executor(catalog_, source);
    ASSIGN_OR_RETURN(Outcome outcome, std::visit(executor, statement->node));
    RETURN_IF_ERROR(take(std::move(outcome)));
  }
  return Status();
}

}  // namespace caudal::sql
