// The REST catalog against a service in this process that loses answers, refuses, is late, and forgets
// tokens.
#include "iceberg/rest/rest_catalog.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/env.h"
#include "fs/memory_file_system.h"
#include "iceberg/catalog/new_metadata.h"
#include "iceberg/commit/append.h"
#include "iceberg/maintenance/expire.h"
#include "iceberg/manifest/manifest_list.h"
#include "iceberg/metadata/partition_json.h"
#include "iceberg/metadata/snapshot_json.h"

namespace caudal::iceberg {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What the service does with the next commit.
enum class Fault {
  kNone,
  kConflict,     // 409, and nothing is done
  kBehind,       // 400, as another branch was quicker; nothing is done
  kErrorBefore,  // 503
  kErrorAfter,   // done, and 500
  kPageAfter,    // done, and the page of a proxy, with 502
  kCutAfter,     // done, and half of the answer
  kLateBefore,   // nothing done, and no answer in time
  kLateAfter,    // done, and no answer in time
  kTokenRunOut,  // 401, nothing is done
};

class FakeService {
 public:
  explicit FakeService(const TableFiles* files) : files_(files) {
    server_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
      return Check(request, response);
    });
    server_.Get("/lake/v1/config", [this](const httplib::Request& request, httplib::Response& response) {
      const std::string prefix = request.get_param_value("warehouse") == "house" ? "of/house" : "";
      Send(response, {{"defaults", defaults}, {"overrides", {{"prefix", prefix}}}});
    });
    server_.Post("/lake/v1/oauth/tokens",
                 [this](const httplib::Request& request, httplib::Response& response) {
                   if (request.body.find("client_id=me&") == std::string::npos &&
                       request.body.find("client_secret=a%2Fb&") == std::string::npos) {
                     response.status = 400;
                     return Send(response, {{"error", "invalid_client"}});
                   }
                   const std::lock_guard lock(mutex_);
                   token_ = "token-" + std::to_string(++tokens);
                   Send(response, {{"access_token", token_}, {"token_type", "bearer"}, {"expires_in", 3600}});
                 });
    const std::string spaces = "/lake/v1/of/house/namespaces";
    server_.Get(spaces, [](const httplib::Request& request, httplib::Response& response) {
      const std::string parent = request.get_param_value("parent");
      Json found = Json::array();
      // In two pages.
      if (parent.empty() && !request.has_param("pageToken"))
        return Send(response, {{"namespaces", {{"a"}}}, {"next-page-token", "more"}});
      if (parent.empty()) found = {{"b c"}};
      if (parent == "a") found = Json::array({Json::array({"a", "d"})});
      Send(response, {{"namespaces", found}});
    });
    server_.Post(spaces, [](const httplib::Request&, httplib::Response& response) { response.status = 409; });
    // Patterns: one sign, whichever it is, between the levels.
    server_.Post(spaces + "/a.d/tables",
                 [this](const auto& request, auto& response) { Create(request, response); });
    const std::string table = spaces + "/a.d/tables/t";
    server_.Get(table, [this](const httplib::Request&, httplib::Response& response) {
      const std::lock_guard lock(mutex_);
      if (table_.table_uuid.empty()) return Refuse(response, 404, "NoSuchTableException", "no such table");
      SendTable(response);
    });
    server_.Post(table, [this](const auto& request, auto& response) { Commit(request, response); });
    server_.set_keep_alive_max_count(1000);
    server_.new_task_queue = [] { return new httplib::ThreadPool(16); };
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~FakeService() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    arrived_.notify_all();
    server_.stop();
    thread_.join();
  }

  std::string uri() const { return "http://127.0.0.1:" + std::to_string(port_) + "/lake"; }
  void Plan(std::vector<Fault> faults) { faults_.assign(faults.begin(), faults.end()); }
  TableMetadata table() {
    const std::lock_guard lock(mutex_);
    return table_;
  }

  Json defaults = Json::object();
  std::vector<std::string> targets;  // of all requests, as they were on the wire
  bool wants_token = false;
  int tokens = 0;
  int commits = 0;  // that arrived
  std::atomic<int> failing_reads{0};

 private:
  static void Send(httplib::Response& response, const Json& json) {
    response.set_content(json.dump(), "application/json");
  }
  static void Refuse(httplib::Response& response, int code, const std::string& type,
                     const std::string& message) {
    response.status = code;
    Send(response, {{"error", {{"message", message}, {"type", type}, {"code", code}}}});
  }
  void SendTable(httplib::Response& response) {
    Send(response, {{"metadata-location", "somewhere/" + std::to_string(version_)},
                    {"metadata", Json::parse(TableMetadataText(table_).value())}});
  }

  httplib::Server::HandlerResponse Check(const httplib::Request& request, httplib::Response& response) {
    using Answer = httplib::Server::HandlerResponse;
    const std::lock_guard lock(mutex_);
    targets.push_back(request.target);
    ++arrivals_;
    arrived_.notify_all();
    if (request.method == "GET" && failing_reads > 0) {
      --failing_reads;
      response.status = 503;
      return Answer::Handled;
    }
    const bool asks = request.path.find("/oauth/") != std::string::npos;
    if (!wants_token || asks ||
        (!token_.empty() && request.get_header_value("Authorization") == "Bearer " + token_))
      return Answer::Unhandled;
    Refuse(response, 401, "NotAuthorizedException", "the token has run out");
    return Answer::Handled;
  }

  void Create(const httplib::Request& request, httplib::Response& response) {
    const std::lock_guard lock(mutex_);
    if (!table_.table_uuid.empty()) return Refuse(response, 409, "AlreadyExistsException", "there is one");
    const Json json = Json::parse(request.body);
    Status error;
    NewTable wanted;
    wanted.schema = SchemaFromJson(json["schema"], "schema", &error);
    wanted.spec = SpecFromJson(json["partition-spec"], "spec", &error);
    wanted.properties = TextsFromJson(json["properties"], "properties", &error);
    wanted.format_version = std::stoi(wanted.properties["format-version"]);
    wanted.properties.erase("format-version");
    ASSERT_TRUE(error.ok()) << error.ToString();
    table_ = FirstMetadata(wanted, "/w/t", *files_).value();
    SendTable(response);
  }

  void Commit(const httplib::Request& request, httplib::Response& response) {
    std::unique_lock lock(mutex_);
    ++commits;
    Fault fault = Fault::kNone;
    if (!faults_.empty()) {
      fault = faults_.front();
      faults_.erase(faults_.begin());
    }
    if (fault == Fault::kConflict)
      return Refuse(response, 409, "CommitFailedException", "somebody was quicker");
    if (fault == Fault::kBehind) {
      return Refuse(response, 400, "ValidationException",
                    "Cannot add snapshot with sequence number 7 older than last sequence number 7");
    }
    if (fault == Fault::kErrorBefore) return Refuse(response, 503, "ServiceUnavailable", "later");
    if (fault == Fault::kTokenRunOut) {
      token_.clear();
      return Refuse(response, 401, "NotAuthorizedException", "the token has run out");
    }
    if (fault == Fault::kLateBefore) {
      AwaitNext(&lock);
      return Refuse(response, 503, "ServiceUnavailable", "too late");
    }
    const Status done = Take(Json::parse(request.body));
    if (!done.ok()) return Refuse(response, 409, "CommitFailedException", done.message());
    SendTable(response);
    if (fault == Fault::kErrorAfter) Refuse(response, 500, "Error", "what was that");
    if (fault == Fault::kPageAfter) {
      response.status = 502;
      response.set_content("<html>Bad Gateway</html>", "text/html");
    }
    if (fault == Fault::kCutAfter) response.set_content(response.body.substr(0, 60), "application/json");
    if (fault == Fault::kLateAfter) AwaitNext(&lock);
  }

  // Until the client has lost its patience, and comes again.
  void AwaitNext(std::unique_lock<std::mutex>* lock) {
    const int mine = arrivals_;
    arrived_.wait(*lock, [&] { return arrivals_ > mine || stopping_; });
  }

  // Reads the request by the words of the protocol alone.
  Status Take(const Json& json) {
    Status error;
    TableCommit commit;
    for (const Json& each : json["requirements"]) {
      const std::string type = each["type"];
      if (type == "assert-table-uuid") commit.requirements.push_back(AssertTableUuid{each["uuid"]});
      if (type == "assert-ref-snapshot-id") {
        AssertRefSnapshotId wanted{each["ref"], std::nullopt};
        if (each["snapshot-id"].is_number()) wanted.snapshot_id = each["snapshot-id"].get<int64_t>();
        commit.requirements.push_back(wanted);
      }
      if (type == "assert-current-schema-id")
        commit.requirements.push_back(AssertCurrentSchemaId{each["current-schema-id"]});
    }
    for (const Json& each : json["updates"]) {
      const std::string action = each["action"];
      if (action == "add-snapshot") {
        commit.updates.push_back(
            AddSnapshot{SnapshotFromJson(each["snapshot"], table_.format_version, "snapshot", &error)});
      } else if (action == "set-snapshot-ref") {
        commit.updates.push_back(SetSnapshotRef{each["ref-name"], RefFromJson(each, "ref", &error)});
      } else if (action == "add-schema") {
        commit.updates.push_back(AddSchema{SchemaFromJson(each["schema"], "schema", &error)});
      } else if (action == "set-properties") {
        commit.updates.push_back(SetProperties{TextsFromJson(each["updates"], "updates", &error)});
      } else if (action == "remove-properties") {
        commit.updates.push_back(RemoveProperties{each["removals"]});
      } else if (action == "remove-snapshot-ref") {
        commit.updates.push_back(RemoveSnapshotRef{each["ref-name"]});
      } else if (action == "remove-snapshots") {
        commit.updates.push_back(RemoveSnapshots{each["snapshot-ids"]});
      } else {
        EXPECT_EQ(action, "set-current-schema");
        if (each["schema-id"] != -1) commit.updates.push_back(SetCurrentSchema{each["schema-id"]});
      }
    }
    EXPECT_TRUE(error.ok()) << error.ToString();
    RETURN_IF_ERROR(CheckRequirements(table_, commit.requirements));
    ASSIGN_OR_RETURN(table_, ApplyUpdates(table_, commit.updates, 1));
    ++version_;
    return Status();
  }

  const TableFiles* files_;
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  int arrivals_ = 0;
  bool stopping_ = false;
  TableMetadata table_;
  int version_ = 0;
  std::string token_;
  std::vector<Fault> faults_;
};

class RestCatalogTest : public ::testing::Test {
 protected:
  RestCatalogTest() : disk_(Env::Real()), files_(&disk_, Env::Real()), service_(&files_) {
    options_.uri = service_.uri();
    options_.warehouse = "house";
    options_.timeout_millis = 300;
  }
  NewTable Columns() {
    NewTable table;
    table.schema.fields.push_back({.id = 1, .name = "id", .type = Type(TypeId::kLong)});
    table.properties = {{"commit.retry.num-retries", "5"}};
    return table;
  }
  // One epoch with one file of `rows` rows.
  Result<AppendOutcome> Append(RestCatalog* catalog, int64_t epoch, int64_t rows) {
    const DataFile file{
        .file_path = "/w/t/data/" + std::to_string(epoch), .record_count = rows, .file_size_in_bytes = rows};
    ASSIGN_OR_RETURN(const PreparedAppend prepared, PrepareAppend(files_, service_.table(), 0, {file}));
    return CommitAppend(catalog, files_, kTable, prepared, {.pipeline = "p", .generation = 1, .epoch = epoch},
                        {});
  }
  std::string TotalRecords() {
    const TableMetadata table = service_.table();
    return table.FindSnapshot(*table.current_snapshot_id)->summary.at("total-records");
  }

  const TableName kTable{{"a", "d"}, "t"};
  MemoryFileSystem disk_;
  TableFiles files_;
  FakeService service_;
  RestOptions options_;
};

TEST_F(RestCatalogTest, AsksByTheServicesPrefixAndReadsAllPages) {
  RestCatalog catalog(options_, Env::Real());
  EXPECT_THAT(*catalog.ListNamespaces(),
              ElementsAre(ElementsAre("a"), ElementsAre("a", "d"), ElementsAre("b c")));
  EXPECT_TRUE(catalog.CreateNamespace({"a"}).ok());  // is there already
  EXPECT_THAT(catalog.LoadTable(kTable).status().message(), HasSubstr("there is no table 'a.d.t'"));
  const auto made = catalog.CreateTable(kTable, Columns());
  ASSERT_TRUE(made.ok()) << made.status().ToString();
  EXPECT_EQ(made->metadata.schemas[0].fields[0].name, "id");
  EXPECT_THAT(catalog.CreateTable(kTable, Columns()).status().message(), HasSubstr("is there already"));
  service_.failing_reads = 2;
  EXPECT_EQ(catalog.LoadTable(kTable)->metadata.table_uuid, made->metadata.table_uuid);
}

TEST_F(RestCatalogTest, DividesTheLevelsOfANamespaceAsTheServiceWantsIt) {
  const std::pair<const char*, const char*> kCases[] = {
      {nullptr, "%1F"}, {"%1F", "%1F"}, {"%2E", "%2E"}, {".", "."}, {"\x1f", "%1F"}};
  for (const auto& [said, divided_by] : kCases) {
    service_.defaults = said == nullptr ? Json::object() : Json{{"namespace-separator", said}};
    service_.targets.clear();
    RestCatalog catalog(options_, Env::Real());
    EXPECT_TRUE(said != nullptr || catalog.CreateTable(kTable, Columns()).ok());
    EXPECT_TRUE(catalog.LoadTable(kTable).ok());
    ASSERT_TRUE(catalog.ListNamespaces().ok());
    const std::string levels = fmt::format("a{}d", divided_by);
    EXPECT_THAT(service_.targets, Contains("/lake/v1/of/house/namespaces/" + levels + "/tables/t"));
    EXPECT_THAT(service_.targets, Contains("/lake/v1/of/house/namespaces?parent=" + levels));
  }
}

TEST_F(RestCatalogTest, EveryEpochIsThereOnceWhateverBecomesOfItsAnswer) {
  RestCatalog catalog(options_, Env::Real());
  ASSERT_TRUE(catalog.CreateTable(kTable, Columns()).ok());
  const std::vector<std::vector<Fault>> plans = {
      {},
      {Fault::kConflict, Fault::kConflict},
      {Fault::kBehind, Fault::kBehind},
      {Fault::kErrorBefore},
      {Fault::kErrorAfter},
      {Fault::kPageAfter},
      {Fault::kCutAfter},
      {Fault::kLateBefore},
      {Fault::kLateAfter},
      {Fault::kErrorBefore, Fault::kErrorAfter, Fault::kConflict},
  };
  int64_t epoch = 0, rows = 0;
  for (const std::vector<Fault>& plan : plans) {
    service_.Plan(plan);
    ++epoch;
    const auto done = Append(&catalog, epoch, epoch);
    ASSERT_TRUE(done.ok()) << epoch << ": " << done.status().ToString();
    rows += epoch;
    EXPECT_EQ(TotalRecords(), std::to_string(rows)) << epoch;
  }
  EXPECT_EQ(service_.table().snapshots.size(), plans.size());
  // Nothing that a snapshot names was removed.
  const TableMetadata table = service_.table();
  for (const Snapshot& snapshot : table.snapshots) {
    const auto list = files_.Read(snapshot.manifest_list);
    ASSERT_TRUE(list.ok()) << list.status().ToString();
    const std::vector<ManifestFile> manifests = ReadManifestList(*list, "list").value();
    for (const ManifestFile& manifest : manifests) EXPECT_TRUE(files_.Read(manifest.manifest_path).ok());
  }
}

TEST_F(RestCatalogTest, SnapshotsExpireWhateverBecomesOfTheAnswer) {
  RestCatalog catalog(options_, Env::Real());
  ASSERT_TRUE(catalog.CreateTable(kTable, Columns()).ok());
  int64_t epoch = 0;
  // Snapshots are dated ahead of each other, and may be of the next milliseconds.
  ExpireOptions options{.policy = {.max_snapshot_age_ms = -60'000}};
  for (const std::vector<Fault>& plan : std::vector<std::vector<Fault>>{
           {}, {Fault::kConflict}, {Fault::kErrorBefore}, {Fault::kErrorAfter}, {Fault::kCutAfter}}) {
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(Append(&catalog, ++epoch, 1).ok());
    const TableMetadata before = service_.table();
    service_.Plan(plan);
    const auto report = ExpireSnapshots(&catalog, files_, kTable, options);
    ASSERT_TRUE(report.ok()) << report.status().ToString();
    const TableMetadata after = service_.table();
    ASSERT_EQ(after.snapshots.size(), 1u);
    EXPECT_EQ(after.current_snapshot_id, before.current_snapshot_id);
    for (const Snapshot& snapshot : before.snapshots) {
      const bool left = snapshot.snapshot_id == *after.current_snapshot_id;
      EXPECT_EQ(*disk_.Exists(snapshot.manifest_list), left);
    }
    for (const std::string& location : report->files)
      EXPECT_TRUE(location.find("/snap-") != std::string::npos);
  }
}

TEST_F(RestCatalogTest, TheThreeEndsOfACommit) {
  RestCatalog catalog(options_, Env::Real());
  ASSERT_TRUE(catalog.CreateTable(kTable, Columns()).ok());
  const TableCommit commit{{}, {SetProperties{{{"k", "v"}}}, RemoveProperties{{"x"}}}};
  const auto outcome = [&](Fault fault) {
    service_.Plan({fault});
    return catalog.Commit(kTable, commit).outcome;
  };
  EXPECT_EQ(outcome(Fault::kNone), CommitOutcome::kDone);
  EXPECT_EQ(service_.table().properties.at("k"), "v");
  EXPECT_EQ(outcome(Fault::kConflict), CommitOutcome::kRefused);
  EXPECT_EQ(outcome(Fault::kBehind), CommitOutcome::kRefused);
  for (const Fault fault : {Fault::kErrorBefore, Fault::kErrorAfter, Fault::kPageAfter, Fault::kCutAfter,
                            Fault::kLateBefore, Fault::kLateAfter}) {
    EXPECT_EQ(outcome(fault), CommitOutcome::kUnknown) << static_cast<int>(fault);
  }
  // Each was said once.
  EXPECT_EQ(service_.commits, 9);
  RestOptions nowhere = options_;
  nowhere.uri = "http://127.0.0.1:1";
  nowhere.retries = 0;
  const CommitAnswer none = RestCatalog(nowhere, Env::Real()).Commit(kTable, commit);
  EXPECT_EQ(none.outcome, CommitOutcome::kRefused);
  EXPECT_EQ(none.status.retry(), Retry::kBackoff);
}

TEST_F(RestCatalogTest, ATokenIsGotAndRenewedAndNeverSaid) {
  service_.wants_token = true;
  options_.credential = "me:a/b";
  RestCatalog catalog(options_, Env::Real());
  ASSERT_TRUE(catalog.CreateTable(kTable, Columns()).ok());
  EXPECT_EQ(service_.tokens, 1);
  service_.Plan({Fault::kTokenRunOut});
  EXPECT_EQ(catalog.Commit(kTable, {{}, {SetProperties{{{"k", "v"}}}}}).outcome, CommitOutcome::kDone);
  EXPECT_EQ(service_.tokens, 2);
  RestOptions other = options_;
  other.credential = "you:very-secret";
  const Status wrong = RestCatalog(other, Env::Real()).LoadTable(kTable).status();
  EXPECT_THAT(wrong.ToString(), HasSubstr("gives no token for the 'credential'"));
  EXPECT_THAT(wrong.ToString(), ::testing::Not(HasSubstr("very-secret")));
  other.credential.clear();
  other.token = "a-token-that-ran-out";
  const Status old = RestCatalog(other, Env::Real()).LoadTable(kTable).status();
  EXPECT_THAT(old.ToString(), HasSubstr("the catalog answers 401: the token has run out"));
  EXPECT_THAT(old.ToString(), ::testing::Not(HasSubstr("a-token-that-ran-out")));
  EXPECT_EQ(old.domain(), Domain::kUser);
}

}  // namespace
}  // namespace caudal::iceberg
