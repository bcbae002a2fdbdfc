#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "connect/blackhole/blackhole_connector.h"
#include "connect/filesystem/filesystem_connector.h"
#include "connect/jdbc/jdbc_connector.h"
#include "db/sqlite.h"
#include "run/job.h"
#include "run/schedule/pool_executor.h"
#include "sql/session.h"

namespace caudal {
namespace {

// A reader that loses the last row of its first chunk; its position moves on.
class LosingReader : public SplitReader {
 public:
  explicit LosingReader(std::unique_ptr<SplitReader> inner) : inner_(std::move(inner)) {}
  Result<Poll> Next() override {
    Result<Poll> poll = inner_->Next();
    SourceRows* rows = poll.ok() ? std::get_if<SourceRows>(&*poll) : nullptr;
    if (rows == nullptr || rows->chunk.empty() || std::exchange(lost_, true)) return poll;
    auto kept = std::make_unique<Selection>();
    for (int32_t i = 0; i + 1 < rows->chunk.size(); ++i) kept->rows.push_back(static_cast<uint16_t>(i));
    rows->chunk = rows->chunk.WithSelection(SelectionPtr(std::move(kept)));
    return poll;
  }
  Position position() const override { return inner_->position(); }
  int64_t records_passed() const override { return inner_->records_passed(); }

 private:
  std::unique_ptr<SplitReader> inner_;
  bool lost_ = false;
};

class LosingSource : public Source {
 public:
  explicit LosingSource(std::unique_ptr<Source> inner) : inner_(std::move(inner)) {}
  bool bounded() const override { return inner_->bounded(); }
  std::unique_ptr<SplitEnumerator> MakeEnumerator() override { return inner_->MakeEnumerator(); }
  Result<std::unique_ptr<SplitReader>> Open(const Split& split, const Position& position) override {
    ASSIGN_OR_RETURN(std::unique_ptr<SplitReader> reader, inner_->Open(split, position));
    return std::unique_ptr<SplitReader>(std::make_unique<LosingReader>(std::move(reader)));
  }

 private:
  std::unique_ptr<Source> inner_;
};

template <typename Base>
class Losing : public Base {
 public:
  Result<std::unique_ptr<Source>> MakeSource(const Table& table, const ReadRequest& request,
                                             const ConnectorContext& context) const override {
    ASSIGN_OR_RETURN(std::unique_ptr<Source> source, Base::MakeSource(table, request, context));
    return std::unique_ptr<Source>(std::make_unique<LosingSource>(std::move(source)));
  }
};

class SourceAccountingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/caudal-accounting-XXXXXX";
    folder_ = mkdtemp(name);
    std::filesystem::create_directories(folder_ + "/in");
    auto database = Sqlite::Open(folder_ + "/in.db", Sqlite::Mode::kCreate);
    ASSERT_TRUE((*database)->Execute("CREATE TABLE t (a INTEGER)").ok());
    std::ofstream file(folder_ + "/in/a.json");
    for (int i = 0; i < 40; ++i) {
      file << "{\"a\": " << i << "}\n";
      ASSERT_TRUE((*database)->Execute("INSERT INTO t VALUES (" + std::to_string(i) + ")").ok());
    }
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Of a query that reads a table with these options.
  Status Run(const std::string& options, const Connector* connector) {
    const BlackholeConnector blackhole;
    const Connector* connectors[] = {connector, &blackhole};
    Catalog catalog(connectors);
    sql::Session session(&catalog);
    auto outcomes = session.Execute("CREATE TABLE t (a INT) WITH (" + options +
                                    "); CREATE TABLE o (a INT) WITH ('connector' = 'blackhole'); "
                                    "INSERT INTO o SELECT a FROM t");
    RETURN_IF_ERROR(outcomes.status());
    PoolExecutor executor(Env::Real(), 1);
    JobOptions job_options;
    job_options.env = Env::Real();
    job_options.files = FileSystem::Local();
    job_options.executor = &executor;
    job_options.connectors = connectors;
    ASSIGN_OR_RETURN(const std::unique_ptr<Job> job,
                     Job::Start(std::get<sql::InsertQuery>(outcomes->back()).plan, job_options));
    return job->Wait();
  }

  std::string folder_;
};

constexpr const char* kDiffer = "' moved over 40 records and 39 were read";

TEST_F(SourceAccountingTest, AQueryStopsWhenARowOfAFileIsLost) {
  const std::string options = "'connector' = 'filesystem', 'format' = 'json', 'path' = '" + folder_ + "/in'";
  const FilesystemConnector whole;
  EXPECT_EQ(Run(options, &whole).ToString(), "ok");
  const Losing<FilesystemConnector> losing;
  EXPECT_THAT(Run(options, &losing).message(), ::testing::HasSubstr(kDiffer));
}

TEST_F(SourceAccountingTest, AQueryStopsWhenARowOfATableIsLost) {
  const std::string options =
      "'connector' = 'jdbc', 'table-name' = 't', 'url' = 'jdbc:sqlite:" + folder_ + "/in.db'";
  const JdbcConnector whole;
  EXPECT_EQ(Run(options, &whole).ToString(), "ok");
  const Losing<JdbcConnector> losing;
  EXPECT_THAT(Run(options, &losing).message(), ::testing::HasSubstr(kDiffer));
}

}  // namespace
}  // namespace caudal
