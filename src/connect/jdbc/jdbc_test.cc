#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "api/testing/sink_contract.h"
#include "connect/jdbc/jdbc_connector.h"
#include "data/column_builder.h"
#include "db/sqlite.h"
#include "db/sqlite_transaction.h"

namespace caudal {
namespace {

using ::testing::HasSubstr;

class NoRejects : public SinkRejects {
 public:
  void Reject(const Chunk&, RowSet, std::string message) override { ADD_FAILURE() << message; }
};

struct TestRow {
  RowKind kind;
  std::string account;
  int64_t n;
};

class JdbcTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("caudal-jdbc-" + std::to_string(getpid()) +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
    context_.files = FileSystem::Local();
    context_.query = "bank/features";
    context_.identity = "0123";
    context_.sink = "features/sink/1";
    context_.segment_dir = folder_ / "segments";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Table FeaturesTable(bool with_key) {
    Table table;
    table.name = "features";
    table.columns = {{"account", Type::String().WithNullable(false)}, {"n", Type(TypeId::kBigInt)}};
    if (with_key) table.primary_key = {0};
    table.options = {{"connector", "jdbc"},
                     {"url", "jdbc:sqlite:" + (folder_ / "out.db").string()},
                     {"table-name", "features"},
                     {"caudal.create-table", "true"}};
    return table;
  }

  // A table as somebody else made it.
  std::unique_ptr<Sqlite> MakeTable(const std::string& statements) {
    auto database = Sqlite::Open(folder_ / "out.db", Sqlite::Mode::kCreate);
    EXPECT_TRUE(database.ok());
    EXPECT_TRUE((*database)->Execute(statements).ok());
    return std::move(*database);
  }

  // A source of one BIGINT column of that table.
  Result<std::unique_ptr<Source>> ReadTable(const std::string& column) {
    Table table = FeaturesTable(false);
    table.columns = {{column, Type(TypeId::kBigInt)}};
    return connector_.MakeSource(table, {Schema{{{column, Type(TypeId::kBigInt)}}}, {0}}, context_);
  }

  // What the reader gives next, however long it takes.
  static Result<Poll> Await(SplitReader& reader) {
    for (;;) {
      Result<Poll> poll = reader.Next();
      if (!poll.ok() || !std::holds_alternative<NothingYet>(*poll)) return poll;
      std::this_thread::yield();
    }
  }
  // The first column of all that comes.
  static std::vector<int64_t> Numbers(SplitReader& reader) {
    std::vector<int64_t> numbers;
    for (;;) {
      auto poll = Await(reader);
      EXPECT_TRUE(poll.ok()) << poll.status().ToString();
      if (!poll.ok() || !std::holds_alternative<SourceRows>(*poll)) return numbers;
      const Chunk& chunk = std::get<SourceRows>(*poll).chunk;
      const int64_t* values = chunk.column(0)->values<int64_t>();
      numbers.insert(numbers.end(), values, values + chunk.size());
    }
  }

  static Chunk Rows(const std::vector<TestRow>& rows) {
    ColumnBuilder accounts(Type::String().WithNullable(false)), numbers{Type(TypeId::kBigInt)};
    std::vector<RowKind> kinds;
    for (const TestRow& row : rows) {
      accounts.AppendString(row.account);
      numbers.Append(row.n);
      kinds.push_back(row.kind);
    }
    return Chunk({accounts.Finish(), numbers.Finish()}, static_cast<int32_t>(rows.size()), nullptr,
                 std::make_shared<const std::vector<RowKind>>(kinds));
  }

  std::unique_ptr<Sink> MakeSink(const Table& table) {
    auto sink = connector_.MakeSink(table, context_);
    EXPECT_TRUE(sink.ok()) << sink.status().ToString();
    return std::move(sink).value();
  }
  static std::unique_ptr<SinkCommitter> MakeCommitter(Sink& sink) {
    auto committer = sink.MakeCommitter();
    EXPECT_TRUE(committer.ok()) << committer.status().ToString();
    return std::move(committer).value();
  }
  // The rows, durable but invisible.
  static Committable Prepare(Sink& sink, Epoch epoch, const std::vector<TestRow>& rows) {
    auto writer = sink.MakeWriter(0);
    EXPECT_TRUE(writer.ok());
    NoRejects rejects;
    EXPECT_TRUE((*writer)->Write(Rows(rows), rejects).ok());
    auto sealed = (*writer)->Seal(epoch);
    EXPECT_TRUE(sealed.ok());
    auto committable = (*sealed)->Prepare();
    EXPECT_TRUE(committable.ok()) << committable.status().ToString();
    return *committable;
  }
  CommitOutcome Commit(Sink& sink, Epoch epoch, const Committable& committable) {
    return MakeCommitter(sink)
        ->Commit(epoch, std::span(&committable, 1))
        .outcome;  // each time as a new process
  }
  std::string Content() { return ContentOf(folder_ / "out.db"); }
  static std::string ContentOf(const std::filesystem::path& path) {
    auto database = Sqlite::Open(path, Sqlite::Mode::kReadOnly);
    auto rows = (*database)->Prepare("SELECT account, n FROM features ORDER BY account, n");
    std::string text;
    while (*rows->Step()) text += std::string(rows->text(0)) + "=" + std::string(rows->text(1)) + " ";
    return text;
  }

  std::filesystem::path folder_;
  JdbcConnector connector_;
  ConnectorContext context_;
};

TEST_F(JdbcTest, FoldsAnEpochByKeyAndCountsItsRows) {
  const auto sink = MakeSink(FeaturesTable(true));
  MakeCommitter(*sink);
  const Committable first = Prepare(*sink, {1, 1},
                                    {{RowKind::kInsert, "a", 1},
                                     {RowKind::kInsert, "b", 1},
                                     {RowKind::kUpdateAfter, "a", 2},
                                     {RowKind::kDelete, "b", 1},
                                     {RowKind::kInsert, "c", 7}});
  EXPECT_EQ(first.rows_added, 4);
  EXPECT_EQ(first.rows_removed, 1);
  EXPECT_EQ(Content(), "");  // nothing before the commit
  EXPECT_EQ(Commit(*sink, {1, 1}, first), CommitOutcome::kCommitted);
  EXPECT_EQ(Content(), "a=2 c=7 ");
  const Committable second =
      Prepare(*sink, {1, 2}, {{RowKind::kDelete, "a", 2}, {RowKind::kUpdateAfter, "c", 8}});
  EXPECT_EQ(Commit(*sink, {1, 2}, second), CommitOutcome::kCommitted);
  EXPECT_EQ(Content(), "c=8 ");
}

TEST_F(JdbcTest, AnUpdateInTwoRowsMayBeginAnEpoch) {
  const auto sink = MakeSink(FeaturesTable(true));
  MakeCommitter(*sink);
  const Committable rows = Prepare(*sink, {1, 1},
                                   {{RowKind::kUpdateBefore, "a", 1},
                                    {RowKind::kUpdateAfter, "a", 2},
                                    {RowKind::kUpdateBefore, "b", 1},
                                    {RowKind::kUpdateAfter, "c", 3}});
  EXPECT_EQ(rows.rows_added, 2);
  EXPECT_EQ(rows.rows_removed, 2);
  EXPECT_EQ(Commit(*sink, {1, 1}, rows), CommitOutcome::kCommitted);
  EXPECT_EQ(Content(), "a=2 c=3 ");
}

TEST_F(JdbcTest, KeepsTheContractOfSinks) {
  int targets = 0;
  for (bool with_key : {true, false}) {
    const int cut_short = CheckSinkContract([&] {
      const std::filesystem::path folder = folder_ / std::to_string(targets++);
      std::filesystem::create_directories(folder);
      Table table = FeaturesTable(with_key);
      table.options["url"] = "jdbc:sqlite:" + (folder / "out.db").string();
      SinkUnderTest test;
      test.rows = [with_key](int64_t number) {
        const std::string account = "a" + std::to_string(number);
        if (!with_key) return Rows({{RowKind::kInsert, account, number}, {RowKind::kInsert, "all", number}});
        return Rows({{RowKind::kInsert, account, number},
                     {RowKind::kUpdateAfter, "all", number},
                     {RowKind::kDelete, "a" + std::to_string(number - 2), number - 2}});
      };
      test.open = [this, table, folder](int64_t generation) {
        ConnectorContext context = context_;
        context.segment_dir = folder / "segments";
        context.generation = generation;
        return connector_.MakeSink(table, context);
      };
      test.contents = [folder] { return ContentOf(folder / "out.db"); };
      MakeCommitter(**test.open(1));  // as a start does, which makes the table
      return test;
    });
    EXPECT_GT(cut_short, 0) << "a process dies before its transaction is committed";
  }
}

TEST_F(JdbcTest, ARepeatedAnOlderAndAZombieCommitChangeNothing) {
  const auto sink = MakeSink(FeaturesTable(false));
  MakeCommitter(*sink);
  const Committable first = Prepare(*sink, {1, 1}, {{RowKind::kInsert, "a", 1}});
  const Committable zombie = Prepare(*sink, {1, 9}, {{RowKind::kInsert, "zombie", 1}});
  EXPECT_EQ(Commit(*sink, {1, 1}, first), CommitOutcome::kCommitted);
  EXPECT_EQ(Commit(*sink, {1, 1}, first), CommitOutcome::kCommitted);
  const Committable second = Prepare(*sink, {2, 2}, {{RowKind::kInsert, "a", 1}});
  EXPECT_EQ(Commit(*sink, {2, 2}, second), CommitOutcome::kCommitted);
  EXPECT_EQ(Commit(*sink, {1, 1}, first), CommitOutcome::kCommitted);
  EXPECT_EQ(Commit(*sink, {1, 9}, zombie), CommitOutcome::kCommitted);
  EXPECT_EQ(Content(), "a=1 a=1 ");
  EXPECT_EQ(*MakeCommitter(*sink)->LastCommitted(), (Epoch{2, 2}));
}

TEST_F(JdbcTest, TheLedgerTellsEverySinkFromEveryOther) {
  const Table table = FeaturesTable(false);
  // Another INSERT of the statement set; the same query under a new checkpoint path; one that nothing goes on
  // with.
  for (const auto& [identity, sink_id, ephemeral] :
       {std::tuple("0123", "features/sink/1", false), std::tuple("0123", "features/sink/2", false),
        std::tuple("4567", "features/sink/1", false), std::tuple("89ab", "features/sink/1", true)}) {
    context_.identity = identity;
    context_.sink = sink_id;
    context_.ephemeral = ephemeral;
    const auto sink = MakeSink(table);
    MakeCommitter(*sink);
    const Committable rows = Prepare(*sink, {1, 1}, {{RowKind::kInsert, identity, 1}});
    EXPECT_EQ(Commit(*sink, {1, 1}, rows), CommitOutcome::kCommitted);
  }
  EXPECT_EQ(Content(), "0123=1 0123=1 4567=1 89ab=1 ");
  auto database = Sqlite::Open(folder_ / "out.db", Sqlite::Mode::kReadOnly);
  EXPECT_EQ(*(*database)->QueryInteger("SELECT COUNT(*) FROM caudal_ledger", -1), 3);
}

TEST_F(JdbcTest, ALedgerOfAnEarlierFormIsGoneOnWith) {
  const auto sink = MakeSink(FeaturesTable(false));
  MakeCommitter(*sink);
  auto database = Sqlite::Open(folder_ / "out.db", Sqlite::Mode::kReadWrite);
  ASSERT_TRUE(
      (*database)->Execute("INSERT INTO caudal_ledger VALUES ('bank/features', 'features', 3, 7)").ok());
  EXPECT_EQ(*MakeCommitter(*sink)->LastCommitted(), (Epoch{3, 7}));
  const Committable rows = Prepare(*sink, {3, 7}, {{RowKind::kInsert, "a", 1}});
  EXPECT_EQ(Commit(*sink, {3, 7}, rows), CommitOutcome::kCommitted);
  EXPECT_EQ(Content(), "");  // it had been committed before
  const Committable next = Prepare(*sink, {4, 8}, {{RowKind::kInsert, "a", 1}});
  EXPECT_EQ(Commit(*sink, {4, 8}, next), CommitOutcome::kCommitted);
  EXPECT_EQ(Content(), "a=1 ");
  EXPECT_EQ(*MakeCommitter(*sink)->LastCommitted(), (Epoch{4, 8}));
}

TEST_F(JdbcTest, ARowThatATriggerThrowsAwayIsMissed) {
  const auto sink = MakeSink(FeaturesTable(true));
  MakeCommitter(*sink);
  auto database = Sqlite::Open(folder_ / "out.db", Sqlite::Mode::kReadWrite);
  ASSERT_TRUE((*database)
                  ->Execute("CREATE TRIGGER t BEFORE INSERT ON features WHEN new.account = 'b' "
                            "BEGIN SELECT RAISE(IGNORE); END")
                  .ok());
  const Committable rows = Prepare(*sink, {1, 1}, {{RowKind::kInsert, "a", 1}, {RowKind::kInsert, "b", 2}});
  EXPECT_EQ(Commit(*sink, {1, 1}, rows), CommitOutcome::kRefused);
  EXPECT_EQ(Content(), "");
}

TEST_F(JdbcTest, ALostOrDamagedSegmentIsSaid) {
  const auto sink = MakeSink(FeaturesTable(true));
  MakeCommitter(*sink);
  const Committable damaged = Prepare(*sink, {1, 1}, {{RowKind::kInsert, "a", 1}});
  const std::string segment = context_.segment_dir + "/jdbc-features-1-1-0.segment";
  ASSERT_TRUE(std::filesystem::exists(segment));
  { std::fstream(segment, std::ios::in | std::ios::out).seekp(-1, std::ios::end).put('x'); }
  EXPECT_EQ(Commit(*sink, {1, 1}, damaged), CommitOutcome::kLost);
  ASSERT_TRUE(MakeCommitter(*sink)->RemoveLeftovers().ok());
  EXPECT_FALSE(std::filesystem::exists(segment));
  EXPECT_EQ(Commit(*sink, {1, 1}, damaged), CommitOutcome::kLost);
  EXPECT_EQ(Content(), "");
}

TEST_F(JdbcTest, ABusyDatabaseIsNoAnswer) {
  const auto sink = MakeSink(FeaturesTable(true));
  const auto committer = MakeCommitter(*sink);
  const Committable rows = Prepare(*sink, {1, 1}, {{RowKind::kInsert, "a", 1}});
  {
    auto other = Sqlite::Open(folder_ / "out.db", Sqlite::Mode::kReadWrite);
    SqliteTransaction holder(other->get());
    ASSERT_TRUE(holder.Begin().ok());
    const CommitResult result = committer->Commit({1, 1}, std::span(&rows, 1));
    EXPECT_EQ(result.outcome, CommitOutcome::kUnknown);
    EXPECT_THAT(result.status.ToString(), HasSubstr("out.db"));
  }
  EXPECT_EQ(committer->Commit({1, 1}, std::span(&rows, 1)).outcome, CommitOutcome::kCommitted);
  EXPECT_EQ(Content(), "a=1 ");
}

TEST_F(JdbcTest, ABrokenConstraintIsRefusedAndLeavesNothing) {
  const auto sink = MakeSink(FeaturesTable(false));
  MakeCommitter(*sink);
  auto database = Sqlite::Open(folder_ / "out.db", Sqlite::Mode::kReadWrite);
  ASSERT_TRUE((*database)->Execute("CREATE UNIQUE INDEX one ON features (account)").ok());
  const Committable rows = Prepare(*sink, {1, 1}, {{RowKind::kInsert, "a", 1}, {RowKind::kInsert, "a", 2}});
  EXPECT_EQ(Commit(*sink, {1, 1}, rows), CommitOutcome::kRefused);
  EXPECT_EQ(Content(), "");
}

TEST_F(JdbcTest, RefusesBeforeItStarts) {
  Table table = FeaturesTable(true);
  table.options["caudal.create-table"] = "false";
  auto missing = MakeSink(table)->MakeCommitter();
  EXPECT_THAT(missing.status().ToString(), HasSubstr("there is no table 'features'"));
  auto database = Sqlite::Open(folder_ / "out.db", Sqlite::Mode::kReadWrite);
  ASSERT_TRUE((*database)->Execute("CREATE TABLE features (account, n)").ok());
  auto keyless = MakeSink(table)->MakeCommitter();
  EXPECT_EQ(keyless.status().domain(), Domain::kUser);  // no unique key to upsert by
  ASSERT_TRUE((*database)->Execute("DROP TABLE features; CREATE TABLE features (ACCOUNT, m)").ok());
  const Status narrow = MakeSink(table)->CheckTarget();
  EXPECT_THAT(narrow.ToString(), HasSubstr("table 'features' in the database has no column 'n'"));
  EXPECT_THAT(narrow.hint(), HasSubstr("ALTER TABLE \"features\" ADD COLUMN \"n\" INTEGER"));
  EXPECT_EQ(MakeSink(table)->MakeCommitter().status().ToString(), narrow.ToString());
  table.options["url"] = "jdbc:postgresql://host/db";
  EXPECT_THAT(connector_.MakeSink(table, context_).status().ToString(), HasSubstr("jdbc:sqlite:"));
}

TEST_F(JdbcTest, ReadsWhatItWroteAndResumesAfterAChunk) {
  const auto sink = MakeSink(FeaturesTable(false));
  MakeCommitter(*sink);
  std::vector<TestRow> rows;
  for (int i = 0; i < 5000; ++i) rows.push_back({RowKind::kInsert, "a" + std::to_string(i), i});
  std::vector<TestRow> head(rows.begin(), rows.begin() + 3000), tail(rows.begin() + 3000, rows.end());
  EXPECT_EQ(Commit(*sink, {1, 1}, Prepare(*sink, {1, 1}, head)), CommitOutcome::kCommitted);
  EXPECT_EQ(Commit(*sink, {1, 2}, Prepare(*sink, {1, 2}, tail)), CommitOutcome::kCommitted);

  const Table table = FeaturesTable(false);
  const ReadRequest request{Schema{{{"n", Type(TypeId::kBigInt)},
                                    {std::string(kOffsetColumn), Type(TypeId::kBigInt).WithNullable(false)}}},
                            {1}};
  auto source = connector_.MakeSource(table, request, context_);
  ASSERT_TRUE(source.ok());
  const auto enumerator = (*source)->MakeEnumerator();
  const Split split = enumerator->Discover()->at(0);
  EXPECT_TRUE(enumerator->complete());
  auto reader = (*source)->Open(split, "");
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  auto poll = Await(**reader);
  ASSERT_TRUE(poll.ok() && std::holds_alternative<SourceRows>(*poll));
  EXPECT_EQ(std::get<SourceRows>(*poll).chunk.size(), 4096);
  auto resumed = (*source)->Open(split, (*reader)->position());
  ASSERT_TRUE(resumed.ok());
  auto rest = Await(**resumed);
  ASSERT_TRUE(rest.ok());
  const Chunk& chunk = std::get<SourceRows>(*rest).chunk;
  ASSERT_EQ(chunk.size(), 5000 - 4096);
  EXPECT_EQ(chunk.column(0)->values<int64_t>()[0], 4096);
  EXPECT_TRUE(std::holds_alternative<Finished>(*Await(**resumed)));
  EXPECT_EQ((*source)->Open(split, R"({"origin": "jdbc:sqlite:/elsewhere#t", "after": 1})").status().domain(),
            Domain::kUser);
}

// "rowid" was taken for SQLite's own though the table has a column of that name.
TEST_F(JdbcTest, ReadsEveryRowOfATableWithAColumnRowid) {
  const auto database = MakeTable(
      "CREATE TABLE features (rowid TEXT, v INT); INSERT INTO features VALUES ('a', 1), (NULL, 2), ('!', 3), "
      "('b', 4)");
  auto source = ReadTable("v");
  auto reader = (*source)->Open({"", 0}, "");
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  EXPECT_EQ(Numbers(**reader), (std::vector<int64_t>{1, 2, 3, 4}));
  // SQLite still knows the rowid by other names.
  ASSERT_TRUE(database->Execute("INSERT INTO features VALUES ('c', 5)").ok());
  auto resumed = (*source)->Open({"", 0}, (*reader)->position());
  ASSERT_TRUE(resumed.ok()) << resumed.status().ToString();
  EXPECT_EQ(Numbers(**resumed), (std::vector<int64_t>{5}));
}

// A task that waits for a lock, or for an ORDER BY over a large table, holds up all that share its thread.
TEST_F(JdbcTest, ATableThatCannotBeReadJustNowHoldsNoTaskUp) {
  const auto database = MakeTable("CREATE TABLE features (v INT); INSERT INTO features VALUES (1), (2)");
  ASSERT_TRUE(database->Execute("BEGIN EXCLUSIVE").ok());
  auto source = ReadTable("v");
  const auto before = std::chrono::steady_clock::now();
  auto reader = (*source)->Open({"", 0}, "");
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  const auto poll = (*reader)->Next();
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(2));
  ASSERT_TRUE(poll.ok()) << poll.status().ToString();
  EXPECT_TRUE(std::holds_alternative<NothingYet>(*poll));
  ASSERT_TRUE(database->Execute("COMMIT").ok());
  EXPECT_EQ(Numbers(**reader), (std::vector<int64_t>{1, 2}));
}

// Positions counted rows there, and the rows before moved when the table grew.
TEST_F(JdbcTest, ATableWithoutRowidsIsReadOnBehindItsKey) {
  const auto database = MakeTable(
      "CREATE TABLE features (k TEXT, v INT, PRIMARY KEY (k, v)) WITHOUT ROWID;"
      "CREATE UNIQUE INDEX another_order ON features (v DESC);"
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
      "INSERT INTO features SELECT CASE WHEN i <= 3000 THEN 'caf\u00e9 100%' ELSE 'caf\u00e9 200%' END, i "
      "FROM n");
  auto source = ReadTable("v");
  auto reader = (*source)->Open({"", 0}, "");
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  auto poll = Await(**reader);
  ASSERT_TRUE(poll.ok());
  const SourceRows& rows = std::get<SourceRows>(*poll);
  ASSERT_EQ(rows.chunk.size(), 4096);
  EXPECT_EQ(rows.chunk.column(0)->values<int64_t>()[0], 1);
  EXPECT_EQ(rows.chunk.column(0)->values<int64_t>()[4095], 4096);
  const Position position = (*reader)->position();
  reader->reset();  // which would keep the database from being written
  ASSERT_TRUE(database->Execute("INSERT INTO features VALUES ('a', 9001), ('x', 9002)").ok());
  auto resumed = (*source)->Open({"", 0}, position);
  const std::vector<int64_t> rest = Numbers(**resumed);
  ASSERT_EQ(rest.size(), 5000u - 4096 + 1);
  EXPECT_EQ(rest.front(), 4097);
  EXPECT_EQ(rest.back(), 9002);
  EXPECT_THAT((*resumed)->position(), HasSubstr(R"("rows":5001)"));
  // A position of an earlier form has the number of rows alone.
  nlohmann::json counted = nlohmann::json::parse(position);
  counted.erase("key");
  EXPECT_EQ(Numbers(**(*source)->Open({"", 0}, counted.dump())).front(), 4096);
}

TEST_F(JdbcTest, AKeyThatIsAnotherNowIsRefused) {
  const auto database = MakeTable(
      "CREATE TABLE features (k REAL, b BLOB, v INT, PRIMARY KEY (k, b)) WITHOUT ROWID;"
      "INSERT INTO features VALUES (0.1, x'00ff', 1), (0.1, x'01', 2)");
  auto source = ReadTable("v");
  auto reader = (*source)->Open({"", 0}, "");
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  EXPECT_EQ(Numbers(**reader), (std::vector<int64_t>{1, 2}));
  ASSERT_TRUE(database->Execute("INSERT INTO features VALUES (0.1, x'00fe', 3), (0.1, x'0100', 4)").ok());
  EXPECT_EQ(Numbers(**(*source)->Open({"", 0}, (*reader)->position())), (std::vector<int64_t>{4}));
  ASSERT_TRUE(database
                  ->Execute("DROP TABLE features; CREATE TABLE features (k REAL PRIMARY KEY, v INT) WITHOUT "
                            "ROWID")
                  .ok());
  const Status refused = Await(**(*source)->Open({"", 0}, (*reader)->position())).status();
  EXPECT_EQ(refused.domain(), Domain::kData);
  EXPECT_THAT(refused.message(), HasSubstr("the primary key of table 'features' is not what it was"));
}

TEST_F(JdbcTest, AColumnThatTheDatabaseLacksIsNamedBeforeAnyRowIsRead) {
  const auto sink = MakeSink(FeaturesTable(false));
  MakeCommitter(*sink);
  EXPECT_EQ(Commit(*sink, {1, 1}, Prepare(*sink, {1, 1}, {{RowKind::kInsert, "a", 1}})),
            CommitOutcome::kCommitted);
  Table table = FeaturesTable(false);
  table.columns.push_back({"nope", Type::String()});
  const ReadRequest request{Schema{{{"nope", Type::String()}}}, {static_cast<int>(table.columns.size()) - 1}};
  auto source = connector_.MakeSource(table, request, context_);
  ASSERT_TRUE(source.ok());
  const Status missing = (*source)->MakeEnumerator()->Discover().status();
  EXPECT_EQ(missing.domain(), Domain::kUser);
  EXPECT_THAT(missing.ToString(), HasSubstr("no such column: nope"));
  EXPECT_THAT(missing.ToString(), HasSubstr("out.db"));
  EXPECT_EQ(Await(**(*source)->Open({"", 0}, "")).status().domain(), Domain::kUser);
}

// A row of every type, written and read back, and a text that is no number.
TEST_F(JdbcTest, KeepsEveryTypeExactly) {
  Table table;
  table.name = "features";
  const std::vector<std::pair<Type, Value>> cells = {
      {Type(TypeId::kBoolean), Value(true)},
      {Type(TypeId::kTinyInt), Value(int64_t{-128})},
      {Type(TypeId::kInt), Value(int64_t{2147483647})},
      {Type(TypeId::kBigInt), Value(int64_t{-1})},
      {Type::Decimal(18, 2), Value(int64_t{1230})},
      {Type::Decimal(38, 6), Value(int128_t{1} << 100)},
      {Type(TypeId::kDouble), Value(0.1)},
      {Type::String(), Value(std::string("café"))},
      {Type::Bytes(), Value(std::string("\0\1", 2))},
      {Type(TypeId::kDate), Value(int64_t{19723})},
      {Type::Time(3), Value(int64_t{3723004})},
      {Type::Timestamp(3), Value(int64_t{1740992400123000})},
      {Type::TimestampLtz(9), Value(int64_t{1740992400123456789})},
      {Type::String(), Value()},
  };
  ReadRequest request;
  std::vector<ColumnPtr> columns;
  for (size_t i = 0; i < cells.size(); ++i) {
    table.columns.push_back({"c" + std::to_string(i), cells[i].first});
    request.schema.fields.push_back({table.columns.back().name, cells[i].first});
    request.columns.push_back(static_cast<int>(i));
    columns.push_back(ConstantColumn(cells[i].first, cells[i].second, 1));
  }
  table.options = FeaturesTable(false).options;
  const auto sink = MakeSink(table);
  const auto committer = MakeCommitter(*sink);
  auto writer = sink->MakeWriter(0);
  NoRejects rejects;
  ASSERT_TRUE((*writer)->Write(Chunk(columns, 1), rejects).ok());
  auto committable = (*(*writer)->Seal({1, 1}))->Prepare();
  ASSERT_TRUE(committable.ok());
  ASSERT_EQ(committer->Commit({1, 1}, std::span(&*committable, 1)).outcome, CommitOutcome::kCommitted);
  auto database = Sqlite::Open(folder_ / "out.db", Sqlite::Mode::kReadWrite);
  ASSERT_TRUE((*database)->Execute("INSERT INTO features (c0, c3) VALUES (0, 'many')").ok());

  auto source = connector_.MakeSource(table, request, context_);
  auto reader = (*source)->Open({"", 0}, "");
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  auto poll = Await(**reader);
  ASSERT_TRUE(poll.ok());
  const SourceRows& rows = std::get<SourceRows>(*poll);
  ASSERT_EQ(rows.chunk.size(), 1);
  for (size_t i = 0; i < cells.size(); ++i) {
    EXPECT_EQ(ValueAt(*rows.chunk.column(static_cast<int>(i)), 0), cells[i].second)
        << cells[i].first.ToString();
  }
  ASSERT_EQ(rows.rejected.size(), 1u);
  EXPECT_EQ(rows.rejected[0].message, "column 'c3': 'many' is not a BIGINT");
}

}  // namespace
}  // namespace caudal
