// FilesystemSourceTest: a folder of its own, a table over it and what its readers give.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "connect/filesystem/filesystem_connector.h"
#include "data/value.h"

namespace caudal {

inline TableColumn Physical(std::string name, Type type) {
  TableColumn column;
  column.name = std::move(name);
  column.type = std::move(type);
  return column;
}

class FilesystemSourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/caudal-source-XXXXXX";
    folder_ = mkdtemp(name);
    table_.name = "t";
    table_.columns = {Physical("a", Type(TypeId::kInt))};
    table_.options = {{"connector", "filesystem"}, {"path", folder_ + "/in"}, {"format", "json"}};
    std::filesystem::create_directories(folder_ + "/in");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // A finished file, as by rename.
  void Put(const std::string& name, const std::string& text) {
    const std::string path = folder_ + "/in/" + name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    ASSERT_TRUE(*FileSystem::Local()->CreateIfAbsent(path, text));
  }
  std::unique_ptr<Source> MakeSource() {
    ReadRequest request;
    for (size_t i = 0; i < table_.columns.size(); ++i) {
      request.schema.fields.push_back({table_.columns[i].name, table_.columns[i].type});
      request.columns.push_back(static_cast<int>(i));
    }
    for (const Field& field : hidden_) request.schema.fields.push_back(field);
    auto source = connector_.MakeSource(table_, request, {});
    EXPECT_TRUE(source.ok()) << source.status().ToString();
    return source.ok() ? std::move(source).value() : nullptr;
  }
  // What a reader gives next that is not NothingYet: its thread runs when the machine lets it, so what never
  // comes is for the test's own time limit to say.
  static Result<Poll> NextNews(SplitReader* reader) {
    for (;;) {
      auto poll = reader->Next();
      if (!poll.ok() || !std::holds_alternative<NothingYet>(*poll)) return poll;
      std::this_thread::yield();
    }
  }
  struct Read {
    std::vector<std::vector<Value>> rows;
    std::vector<RejectedRecord> rejected;
    Status status;
  };
  // All that one reader gives until it ends or fails; `polls`: at most so many.
  static Read ReadOn(SplitReader* reader, int polls = 1'000'000) {
    Read read;
    for (int i = 0; i < polls; ++i) {
      auto poll = NextNews(reader);
      if (!poll.ok()) {
        read.status = poll.status();
        break;
      }
      if (std::holds_alternative<Finished>(*poll)) break;
      SourceRows& rows = std::get<SourceRows>(*poll);
      for (int32_t r = 0; r < rows.chunk.size(); ++r) {
        std::vector<Value>& values = read.rows.emplace_back();
        for (const ColumnPtr& column : rows.chunk.columns()) {
          values.push_back(ValueAt(*column, rows.chunk.rows()[r]));
        }
      }
      for (RejectedRecord& rejected : rows.rejected) read.rejected.push_back(std::move(rejected));
    }
    return read;
  }
  static std::vector<int64_t> First(const Read& read) {
    std::vector<int64_t> values;
    for (const auto& row : read.rows) values.push_back(std::get<int64_t>(row[0].data));
    return values;
  }

  std::string folder_;
  Table table_;
  std::vector<Field> hidden_;
  FilesystemConnector connector_;
};

}  // namespace caudal
