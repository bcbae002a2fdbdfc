#include "drill/player.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/fault_point.h"
#include "connect/collect/collected.h"
#include "data/column_builder.h"

namespace caudal::drill {
namespace {

// Later than every time in any test, so that no row is ahead of its arrival.
constexpr int64_t kStartMicros = 4'102'444'800'000'000;  // 2100-01-01
constexpr int64_t kStepLimit = 5'000'000;
constexpr std::string_view kStateRoot = "/state";

Chunk ChunkOf(const std::vector<Change>& changes, const Schema& schema) {
  std::vector<ColumnBuilder> builders;
  for (const Field& field : schema.fields) builders.emplace_back(field.type);
  auto kinds = std::make_shared<std::vector<RowKind>>();
  for (const Change& change : changes) {
    kinds->push_back(change.kind);
    for (size_t i = 0; i < builders.size(); ++i) builders[i].AppendValue(change.values[i]);
  }
  std::vector<ColumnPtr> columns;
  for (ColumnBuilder& builder : builders) columns.push_back(builder.Finish());
  return Chunk(std::move(columns), static_cast<int32_t>(changes.size()), nullptr, std::move(kinds));
}

Schema VisibleSchema(const Schema& schema) {
  Schema visible;
  for (const Field& field : schema.fields) {
    if (!field.name.starts_with('$')) visible.fields.push_back(field);
  }
  return visible;
}

std::vector<std::string> SplitCommas(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    parts.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

// Whether changes of several tasks meet in one: then not even the order of changes of one key is fixed.
bool MergesChangesOfTasks(const Plan& plan) {
  for (const PlanNode& node : plan.nodes) {
    for (const PlanInput& input : node.inputs) {
      const PlanNode& from = plan.nodes[static_cast<size_t>(input.node)];
      if (input.exchange.kind == Exchange::Kind::kHash && !from.kinds.insert_only() &&
          from.as<ScanNode>() == nullptr) {
        return true;
      }
    }
  }
  return false;
}

Status Mismatch(std::string difference) {
  return difference.empty() ? Status() : Status::Data(std::move(difference));
}

}  // namespace

Player::Player(const TestFile& file, Mode mode, uint64_t seed)
    : file_(file),
      mode_(mode),
      env_(kStartMicros, seed),
      executor_(&env_, seed),
      files_(&env_),
      feed_connector_(&feeds_),
      collect_connector_(&collected_),
      connectors_{&feed_connector_, &collect_connector_, &filesystem_connector_, &iceberg_connector_,
                  &jdbc_connector_},
      catalog_(connectors_),
      session_(&catalog_) {
  catalog_.SetSurroundings(&files_, &env_);
  if (mode == Mode::kTiny) feeds_.set_chunk_rows(1);
}

Player::~Player() {
  Faults::Disarm();
  Crash();
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

std::string Player::SqlOf(const TestBlock& block) {
  constexpr std::string_view kFolder = "$FOLDER";
  std::string text = block.text();
  for (size_t at; (at = text.find(kFolder)) != std::string::npos;) {
    if (folder_.empty()) {
      std::string name = (std::filesystem::temp_directory_path() / "caudal-test-XXXXXX").string();
      folder_ = mkdtemp(name.data()) == nullptr ? "/dev/null" : name;
    }
    text.replace(at, kFolder.size(), folder_);
  }
  return text;
}

EvaluatorOptions Player::evaluator_options() const {
  EvaluatorOptions options;
  if (auto zone = catalog_.settings().find("table.local-time-zone"); zone != catalog_.settings().end()) {
    options.time_zone = zone->second;
  }
  return options;
}

JobOptions Player::MakeJobOptions() {
  JobOptions options;
  options.env = &env_;
  options.files = &files_;
  options.executor = &executor_;
  options.connectors = connectors_;
  options.pipeline = "test";
  options.state_root = kStateRoot;
  options.scratch_dir = "/scratch";
  options.steps = 1;
  return options;
}

bool Player::HasAnythingToPlay(const TestFile& file, Mode mode) {
  return mode == Mode::kWritten ||
         std::any_of(file.blocks.begin(), file.blocks.end(), [](const TestBlock& block) {
           return block.word() == "pipeline" || block.word() == "insert";
         });
}

Status Player::Play() {
  if (mode_ == Mode::kBounded) return PlayBounded();
  for (const TestBlock& block : file_.blocks) {
    const std::string where = fmt::format("{}:{}, {}", file_.path, block.line, ModeName(mode_));
    Status status = PlayBlock(block);
    const bool step = block.word() == "feed" || block.word() == "advance";
    if (status.ok() && step && (mode_ == Mode::kRestore || mode_ == Mode::kRescale) && !crashed()) {
      status = Settle();
      Crash();
      if (status.ok()) status = Restore();
    }
    if (!status.ok()) return std::move(status).At(where);
  }
  return Status();
}

Status Player::PlayBounded() {
  catalog_.settings()["execution.runtime-mode"] = "batch";
  // The last one of each pipeline, or of each target, is what must come out.
  std::map<std::string, const TestBlock*> tables, contents;
  for (const TestBlock& block : file_.blocks) {
    const std::string& word = block.word();
    Status status;
    if (word == "statement") status = OnStatement(block);
    if (word == "pipeline") status = Declare(block.words[1], block, &pipelines_[block.words[1]]);
    if (word == "insert") {
      pipelines_[block.words[1]].insert = SqlOf(block);
      status = FillBounded(block.words[1], &pipelines_[block.words[1]]);
    }
    if (word == "feed") status = OnFeed(block);
    if (word == "contents") contents[block.words[1]] = &block;
    if (word == "table") tables[block.words[1]] = &block;
    if (!status.ok()) return std::move(status).At(fmt::format("{}:{}, bounded", file_.path, block.line));
  }
  feeds_.EndAll();
  for (auto& [name, pipeline] : pipelines_) {
    if (pipeline.job == nullptr) RETURN_IF_ERROR(StartJob(name, &pipeline));
  }
  for (const auto& [name, pipeline] : pipelines_) {
    Status status = AwaitEnd(*pipeline.job);
    if (!status.ok()) return std::move(status).At(fmt::format("{}, '{}', bounded", file_.path, name));
  }
  for (const auto& [name, block] : tables) {
    Status status = OnTable(*block);
    if (!status.ok()) return std::move(status).At(fmt::format("{}:{}, bounded", file_.path, block->line));
  }
  for (const auto& [name, block] : contents) {
    Status status = OnContents(*block);
    if (!status.ok()) return std::move(status).At(fmt::format("{}:{}, bounded", file_.path, block->line));
  }
  return Status();
}

Status Player::FillBounded(const std::string& name, Pipeline* pipeline) {
  ASSIGN_OR_RETURN(const Plan plan, PlanInsert(name, pipeline));
  for (const PlanNode& node : plan.nodes) {
    if (node.as<ScanNode>() != nullptr) return Status();
  }
  RETURN_IF_ERROR(StartJob(name, pipeline));
  return AwaitEnd(*pipeline->job);
}

Status Player::PlayBlock(const TestBlock& block) {
  const std::string& word = block.word();
  if (word == "statement") return OnStatement(block);
  if (word == "query") return mode_ == Mode::kWritten ? OnQuery(block) : Status();
  if (word == "pipeline") return OnPipeline(block);
  if (word == "insert") return OnInsert(block);
  if (word == "contents") return OnContents(block);
  if (word == "feed") return OnFeed(block);
  if (word == "changelog") return OnChangelog(block);
  if (word == "table") return block.has("bounded") ? Status() : OnTable(block);
  if (word == "explain") return OnExplain(block);
  if (word == "metric") return OnMetric(block);
  if (word == "watermark") return OnWatermark(block);
  if (word == "advance") return OnAdvance(block);
  if (word == "checkpoint") return Settle();
  if (word == "crash")
    return RunUntilIdle().ok() ? (Crash(), Status()) : Status::Internal("the jobs cannot go on");
  if (word == "restore") return Restore();
  if (word == "end") return OnEnd();
  return Status();
}

Status Player::OnStatement(const TestBlock& block) {
  const Result<std::vector<sql::Outcome>> outcomes = session_.Execute(SqlOf(block));
  if (!block.has("error")) return outcomes.status();
  if (outcomes.ok()) return Status::Data("the statement should fail");
  return Mismatch(
      CompareLines({fmt::format("{}", fmt::join(*block.expected, "\n"))}, {outcomes.status().ToString()}));
}

Status Player::OnExplain(const TestBlock& block) {
  ASSIGN_OR_RETURN(const auto outcomes, session_.Execute(block.text()));
  const auto* result = std::get_if<sql::TextResult>(&outcomes.back());
  if (result == nullptr) return Status::User("this statement explains nothing");
  std::string text;
  for (const auto& row : result->rows) text += row[0] + "\n";
  std::vector<std::string> lines;
  for (size_t start = 0; start < text.size();) {
    const size_t end = text.find('\n', start);
    if (end > start) lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return Mismatch(CompareLines(*block.expected, lines));
}

Status Player::AwaitEnd(Job& job) {
  RETURN_IF_ERROR(RunUntilIdle());
  // Files are read by a thread of their own, which the seeded order does not hold.
  const int64_t patience = Env::Real()->NowMillis() + 10'000;
  while (!job.finished() && Env::Real()->NowMillis() < patience) {
    job.Poll();
    RETURN_IF_ERROR(RunUntilIdle());
    std::this_thread::yield();
  }
  RETURN_IF_ERROR(job.status());
  return job.finished() ? Status() : Status::Internal("the query does not end");
}

Result<std::vector<TextChange>> Player::RunQuery(const TestBlock& block, Pipeline* pipeline) {
  const std::string name = fmt::format("query{}", ++queries_);
  const Options settings = catalog_.settings();
  catalog_.settings()["execution.runtime-mode"] = "batch";
  Status status = Declare(name, block, pipeline);
  if (status.ok()) status = StartJob(name, pipeline);
  if (status.ok()) status = AwaitEnd(*pipeline->job);
  catalog_.settings() = settings;
  RETURN_IF_ERROR(status);
  return Collect(name, *pipeline, 0);
}

Status Player::OnQuery(const TestBlock& block) {
  Pipeline pipeline;
  const Result<std::vector<TextChange>> changes = RunQuery(block, &pipeline);
  const Status status = changes.status();
  if (block.has("error")) {
    return !status.ok() && status.domain() != Domain::kInternal ? Status()
           : status.ok()                                        ? Status::Data("the query should fail")
                                                                : status;
  }
  RETURN_IF_ERROR(status);
  std::vector<std::string> lines;
  for (const TextChange& change : *changes) lines.push_back(change.row());
  if (block.has("rowsort")) std::sort(lines.begin(), lines.end());
  std::vector<std::string> expected = *block.expected;
  const auto rows = expected.begin() + (block.has("types") && !expected.empty() ? 1 : 0);
  if (block.has("rowsort")) std::sort(rows, expected.end());
  if (block.has("types")) {
    std::string types;
    for (const Field& field : pipeline.schema.fields)
      types += (types.empty() ? "" : "\t") + field.type.ToString();
    lines.insert(lines.begin(), types);
  }
  return Mismatch(CompareLines(expected, lines));
}

Status Player::OnPipeline(const TestBlock& block) {
  const std::string& name = block.words[1];
  Pipeline& pipeline = pipelines_[name];
  RETURN_IF_ERROR(Declare(name, block, &pipeline));
  RETURN_IF_ERROR(StartJob(name, &pipeline));
  return RunUntilIdle();
}

Status Player::OnInsert(const TestBlock& block) {
  const std::string& name = block.words[1];
  pipelines_[name].insert = SqlOf(block);
  RETURN_IF_ERROR(StartJob(name, &pipelines_[name]));
  return RunUntilIdle();
}

// Reads the target as anyone would, with the connector's own source.
Status Player::OnContents(const TestBlock& block) {
  if (mode_ != Mode::kBounded) RETURN_IF_ERROR(Settle());
  for (const auto& [name, pipeline] : pipelines_) RETURN_IF_ERROR(pipeline.job->status());
  TestBlock select = block;
  select.body = {fmt::format("SELECT * FROM `{}`", block.words[1])};
  Pipeline pipeline;
  ASSIGN_OR_RETURN(const std::vector<TextChange> changes, RunQuery(select, &pipeline));
  std::vector<std::string> rows, expected = *block.expected;
  for (const TextChange& change : changes) rows.push_back(change.row());
  std::sort(rows.begin(), rows.end());
  std::sort(expected.begin(), expected.end());
  return Mismatch(CompareLines(expected, rows));
}

// Makes the collecting table, whose schema is the SELECT's.
Status Player::Declare(const std::string& name, const TestBlock& block, Pipeline* pipeline) {
  const std::string select = block.text();
  ASSIGN_OR_RETURN(const auto outcomes, session_.Execute(select));
  const auto* query = std::get_if<sql::SelectQuery>(&outcomes.back());
  if (query == nullptr) return Status::User("a pipeline is a SELECT");
  pipeline->schema = VisibleSchema(query->plan.nodes.back().schema);
  Table table;
  table.name = name;
  table.options["connector"] = "collect";
  for (const Field& field : pipeline->schema.fields)
    table.columns.push_back({.name = field.name, .type = field.type});
  for (size_t i = 2; i + 1 < block.words.size(); ++i) {
    if (block.words[i] != "key") continue;
    for (const std::string& column : SplitCommas(block.words[i + 1])) {
      const std::optional<int> at = pipeline->schema.Find(column);
      if (!at) return Status::User(fmt::format("there is no column '{}' for the key", column));
      table.primary_key.push_back(*at);
    }
  }
  // Wherever the script has moved by USE.
  pipeline->insert = fmt::format("INSERT INTO default_catalog.default_database.`{}` {}", name, select);
  return catalog_.AddTable(std::move(table));
}

Result<Plan> Player::PlanInsert(const std::string& name, Pipeline* pipeline) {
  const bool two_tasks = mode_ == Mode::kRescale && pipeline->starts % 2 == 1;
  catalog_.settings()["parallelism.default"] = two_tasks ? "2" : "1";
  ASSIGN_OR_RETURN(auto outcomes, session_.Execute(pipeline->insert));
  auto* query = std::get_if<sql::InsertQuery>(&outcomes.back());
  if (query == nullptr)
    return Status::Internal(fmt::format("pipeline '{}' is not planned as an INSERT", name));
  const PlanNode& sink = query->plan.nodes.back();
  const PlanNode& input = query->plan.nodes[static_cast<size_t>(sink.inputs[0].node)];
  const auto* payload = sink.as<SinkNode>();
  pipeline->merges_changes = pipeline->merges_changes || MergesChangesOfTasks(query->plan);
  pipeline->upsert_key.clear();
  if (payload != nullptr && !payload->key.empty()) {
    pipeline->upsert_key = payload->key;
  } else if (!input.upsert_keys.empty()) {
    pipeline->upsert_key = input.upsert_keys[0];
  }
  return std::move(query->plan);
}

Status Player::StartJob(const std::string& name, Pipeline* pipeline) {
  ASSIGN_OR_RETURN(Plan plan, PlanInsert(name, pipeline));
  ++pipeline->starts;
  ASSIGN_OR_RETURN(pipeline->job, Job::Start(std::move(plan), MakeJobOptions()));
  return Status();
}

Status Player::OnFeed(const TestBlock& block) {
  const Table* table = catalog_.FindTable(block.words[1]);
  if (table == nullptr) return Status::User(fmt::format("there is no table '{}' to feed", block.words[1]));
  int split = 0;
  for (size_t i = 2; i + 1 < block.words.size(); ++i) {
    if (block.words[i] == "split") split = std::stoi(block.words[i + 1]);
  }
  const Schema schema = table->physical_schema();
  ASSIGN_OR_RETURN(const Chunk chunk, ParseRows(block.body, schema, evaluator_options()));
  for (int32_t row = 0; row < chunk.size(); ++row) {
    FeedRow fed;
    fed.kind = chunk.kind(row);
    for (const ColumnPtr& column : chunk.columns()) fed.values.push_back(ValueAt(*column, row));
    feeds_.Get(table->name)->Push(split, std::move(fed));
  }
  return mode_ == Mode::kBounded ? Status() : RunUntilIdle();
}

Result<std::vector<TextChange>> Player::Collect(const std::string& name, const Pipeline& pipeline,
                                                size_t from) {
  std::vector<TextChange> changes;
  const std::vector<Change> committed = collected_.Get(name)->Committed(from);
  if (!committed.empty()) {
    RETURN_IF_ERROR(
        AppendChanges(ChunkOf(committed, pipeline.schema), pipeline.schema, evaluator_options(), &changes));
  }
  return changes;
}

Result<Player::Pipeline*> Player::FindPipeline(const TestBlock& block, size_t word) {
  const auto found = word < block.words.size() ? pipelines_.find(block.words[word]) : pipelines_.end();
  if (found == pipelines_.end()) return Status::User(fmt::format("'{}' names no pipeline", block.word()));
  return &found->second;
}

Status Player::OnChangelog(const TestBlock& block) {
  ASSIGN_OR_RETURN(Pipeline* const pipeline, FindPipeline(block, 1));
  RETURN_IF_ERROR(Settle());
  ASSIGN_OR_RETURN(const std::vector<TextChange> changes, Collect(block.words[1], *pipeline, pipeline->seen));
  pipeline->seen += changes.size();
  if (mode_ == Mode::kRescale && pipeline->merges_changes) {
    return Mismatch(CompareNetChanges(*block.expected, changes));
  }
  const bool exact = !file_.oracle && (mode_ == Mode::kWritten || mode_ == Mode::kRestore);
  return Mismatch(exact ? CompareChanges(*block.expected, changes)
                        : CompareChangesPerKey(*block.expected, changes, pipeline->upsert_key));
}

Status Player::OnTable(const TestBlock& block) {
  ASSIGN_OR_RETURN(Pipeline* const pipeline, FindPipeline(block, 1));
  if (mode_ != Mode::kBounded) RETURN_IF_ERROR(Settle());
  RETURN_IF_ERROR(pipeline->job->status());
  ASSIGN_OR_RETURN(std::vector<TextChange> changes, Collect(block.words[1], *pipeline, 0));
  if (!pipeline->job->plan().nodes.back().as<SinkNode>()->key.empty()) {
    ASSIGN_OR_RETURN(changes, UpsertFold(std::move(changes), pipeline->upsert_key));
  }
  ASSIGN_OR_RETURN(std::vector<std::string> rows, Fold(changes));
  std::vector<std::string> expected = *block.expected;
  std::sort(expected.begin(), expected.end());
  std::sort(rows.begin(), rows.end());
  return Mismatch(CompareLines(expected, rows));
}

// rows_late{pipeline="p",name="watermark"}: the fate's rows over all operators of the pipeline.
Status Player::OnMetric(const TestBlock& block) {
  const std::string metric = fmt::format("{}", fmt::join(block.words.begin() + 1, block.words.end(), " "));
  const auto label = [&](std::string_view key) -> std::string {
    const size_t at = metric.find(std::string(key) + "=\"");
    if (at == std::string::npos) return "";
    const size_t from = at + key.size() + 2;
    return metric.substr(from, metric.find('"', from) - from);
  };
  const auto found = pipelines_.find(label("pipeline"));
  if (found == pipelines_.end() || !metric.starts_with("rows_")) {
    return Status::User(fmt::format("'{}' is not rows_<fate>{{pipeline=\"…\"}}", metric));
  }
  RETURN_IF_ERROR(Settle());
  const std::string fate = metric.substr(5, metric.find('{') - 5);
  const std::string name = label("name");
  int64_t rows = 0;
  // As of the manifest that Settle has just waited for.
  for (const NodeState& node : found->second.job->progress().checkpoints.nodes) {
    for (const CountedFate& counted : node.fates) {
      if (counted.fate == fate && (name.empty() || counted.name == name)) rows += counted.rows;
    }
  }
  return Mismatch(CompareLines(*block.expected, {std::to_string(rows)}));
}

Status Player::OnWatermark(const TestBlock& block) {
  RETURN_IF_ERROR(Settle());
  Watermark watermark;
  for (const auto& [name, pipeline] : pipelines_) {
    const Plan& plan = pipeline.job->plan();
    const JobProgress progress = pipeline.job->progress();
    for (size_t i = 0; i < plan.nodes.size(); ++i) {
      const auto* scan = plan.nodes[i].as<ScanNode>();
      if (scan != nullptr && scan->table.name == block.words[1])
        watermark = progress.checkpoints.nodes[i].watermark;
    }
  }
  Schema schema{{{"watermark", Type::Timestamp(3)}}};
  std::vector<TextChange> text;
  const Value value = watermark.event == Watermark::kNone ? Value() : Value(watermark.event * 1000);
  RETURN_IF_ERROR(
      AppendChanges(ChunkOf({{RowKind::kInsert, {value}}}, schema), schema, evaluator_options(), &text));
  return Mismatch(CompareLines(*block.expected, {text[0].row()}));
}

Status Player::OnAdvance(const TestBlock& block) {
  ASSIGN_OR_RETURN(const int64_t millis, ParseDurationMillis(block.words[1] + " " + block.words[2]));
  env_.Advance(millis * 1000);
  return RunUntilIdle();
}

Status Player::OnEnd() {
  feeds_.EndAll();
  RETURN_IF_ERROR(RunUntilIdle());
  for (const auto& [name, pipeline] : pipelines_) {
    RETURN_IF_ERROR(pipeline.job->status());
    if (!pipeline.job->finished()) return Status::Internal(fmt::format("pipeline '{}' does not end", name));
  }
  return Status();
}

Status Player::RunUntilIdle() {
  for (auto& [name, pipeline] : pipelines_) {
    if (pipeline.job) pipeline.job->Poll();
  }
  if (!executor_.RunUntilIdle(kStepLimit)) return Status::Internal("the jobs do not come to rest");
  return Status();
}

Status Player::Settle() {
  RETURN_IF_ERROR(RunUntilIdle());
  for (auto& [name, pipeline] : pipelines_) {
    if (pipeline.job && !pipeline.job->finished()) pipeline.job->TriggerCheckpoint();
  }
  RETURN_IF_ERROR(RunUntilIdle());
  for (auto& [name, pipeline] : pipelines_) {
    if (pipeline.job) RETURN_IF_ERROR(pipeline.job->status());
  }
  return Status();
}

bool Player::crashed() const {
  return std::any_of(pipelines_.begin(), pipelines_.end(),
                     [](const auto& entry) { return entry.second.job == nullptr; });
}

void Player::Crash() {
  for (auto& [name, pipeline] : pipelines_) pipeline.job.reset();
  files_.Crash(env_.Random());
}

Status Player::Restore() {
  for (auto& [name, pipeline] : pipelines_) RETURN_IF_ERROR(StartJob(name, &pipeline));
  return RunUntilIdle();
}

}  // namespace caudal::drill
