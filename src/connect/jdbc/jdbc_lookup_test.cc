#include "connect/jdbc/jdbc_lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "api/lookup_node.h"
#include "data/column_view.h"

namespace caudal {
namespace {

using ::testing::HasSubstr;

class JdbcLookupTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() /
              ("caudal-jdbc-lookup-" + std::to_string(getpid()) +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return folder_ / "people.db"; }
  static void Execute(const std::string& path, const std::string& sql) {
    auto database = Sqlite::Open(path, Sqlite::Mode::kCreate);
    ASSERT_TRUE(database.ok()) << database.status().ToString();
    const Status status = (*database)->Execute(sql);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }
  static TableColumn Declared(std::string name, Type type) {
    TableColumn column;
    column.name = std::move(name);
    column.type = std::move(type);
    return column;
  }
  Table People() {
    Table table;
    table.name = "people";
    table.columns = {Declared("id", Type(TypeId::kBigInt)), Declared("age", Type(TypeId::kBigInt))};
    table.options = {{"connector", "jdbc"}, {"url", "jdbc:sqlite:" + path()}, {"table-name", "people"}};
    return table;
  }
  Result<std::unique_ptr<LookupReader>> Open(const Table& table) {
    LookupNode node;
    node.table = table;
    node.columns = {1};
    node.keys.push_back({0, Expr()});
    return JdbcLookup::Make(table, node.request());
  }
  static Chunk Ids(const std::vector<int64_t>& ids) {
    ColumnBuilder builder{Type(TypeId::kBigInt)};
    for (const int64_t id : ids) builder.Append(id);
    return Chunk({builder.Finish()}, static_cast<int32_t>(ids.size()));
  }
  // "key:age key:age", then what could not be read.
  static std::string Text(const Result<LookupRows>& rows) {
    if (!rows.ok()) return rows.status().ToString();
    std::string text;
    for (size_t i = 0; i < rows->key_of_row.size(); ++i) {
      const ColumnView<int64_t> ages(*rows->columns[0]);
      const int32_t row = static_cast<int32_t>(i);
      text += std::to_string(rows->key_of_row[i]) + ":" +
              (ages.IsNull(row) ? "NULL" : std::to_string(ages[row])) + " ";
    }
    for (const LookupRows::Unreadable& each : rows->unreadable) text += "! " + each.message;
    return text;
  }

  std::filesystem::path folder_;
};

TEST_F(JdbcLookupTest, GivesEachRowOfEachKey) {
  Execute(path(),
          "CREATE TABLE people (id, age); INSERT INTO people VALUES (1, 30), (2, 40), (1, 31), (3, NULL)");
  auto reader = Open(People());
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  EXPECT_EQ(Text((*reader)->Find(Ids({3, 9, 1}))), "0:NULL 2:30 2:31 ");
  Execute(path(), "DELETE FROM people WHERE age = 30");
  EXPECT_EQ(Text((*reader)->Find(Ids({1}))), "0:31 ");
}

TEST_F(JdbcLookupTest, NamesTheColumnOfWhatCannotBeRead) {
  Execute(path(), "CREATE TABLE people (id, age); INSERT INTO people VALUES (1, 'old'), (2, 40)");
  auto reader = Open(People());
  EXPECT_EQ(Text((*reader)->Find(Ids({1, 2}))), "0:NULL 1:40 ! column 'age': 'old' is not a BIGINT");
}

TEST_F(JdbcLookupTest, BytesThatAreNoTextAreNoString) {
  Execute(path(),
          "CREATE TABLE people (id, age); INSERT INTO people VALUES (1, CAST(x'61ff' AS TEXT)), (2, 'é')");
  Table table = People();
  table.columns[1].type = Type::String();
  auto reader = Open(table);
  const auto rows = (*reader)->Find(Ids({1, 2}));
  ASSERT_TRUE(rows.ok()) << rows.status().ToString();
  ASSERT_EQ(rows->unreadable.size(), 1u);
  EXPECT_EQ(rows->unreadable[0].key, 0);
  EXPECT_EQ(rows->unreadable[0].message, "column 'age': bytes that are not UTF-8 are not a STRING");
  EXPECT_EQ(ColumnView<StringView>(*rows->columns[0])[1].view(), "é");
}

TEST_F(JdbcLookupTest, SeesADatabaseThatWasPutInThePlaceOfItsFile) {
  Execute(path(), "CREATE TABLE people (id, age); INSERT INTO people VALUES (1, 30)");
  auto reader = Open(People());
  EXPECT_EQ(Text((*reader)->Find(Ids({1}))), "0:30 ");
  Execute(folder_ / "new.db", "CREATE TABLE people (id, age); INSERT INTO people VALUES (1, 99)");
  std::filesystem::rename(folder_ / "new.db", path());
  EXPECT_EQ(Text((*reader)->Find(Ids({1}))), "0:99 ");
  std::filesystem::remove(path());
  EXPECT_EQ((*reader)->Find(Ids({1})).status().retry(), Retry::kBackoff);
}

TEST_F(JdbcLookupTest, ATableThatIsNotThereIsSaidBeforeTheStart) {
  Execute(path(), "CREATE TABLE other (id)");
  const auto reader = Open(People());
  ASSERT_FALSE(reader.ok());
  EXPECT_EQ(reader.status().domain(), Domain::kUser);
  EXPECT_THAT(reader.status().ToString(), HasSubstr("no such table: people"));
}

}  // namespace
}  // namespace caudal
