// Before a row is read: options, positions of other runs, folders.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "connect/filesystem/testing/file_source_fixture.h"

namespace caudal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST_F(FilesystemSourceTest, RawIsBigEndianAndUtf8OrSaysSo) {
  table_.options["format"] = "raw";
  table_.options["raw.charset"] = "utf-8";
  table_.options["raw.endianness"] = "big-endian";
  EXPECT_NE(MakeSource(), nullptr);
  table_.options["raw.charset"] = "ISO-8859-1";
  EXPECT_EQ(connector_.MakeSource(table_, {}, {}).status().message(),
            "option 'raw.charset' of table 't': 'ISO-8859-1' is not built yet");
}

TEST_F(FilesystemSourceTest, WhatIsWrongIsSaidBeforeAnythingRuns) {
  ReadRequest request;
  request.schema.fields = {{"a", Type(TypeId::kInt)}};
  request.columns = {0};
  const auto message = [&] { return connector_.MakeSource(table_, request, {}).status().message(); };
  table_.options["path"] = folder_ + "/none";
  EXPECT_EQ(message(), "table 't': there is no file or folder '" + folder_ + "/none'");
  table_.options["path"] = "hdfs://host/x";
  EXPECT_EQ(message(), "table 't': path 'hdfs://host/x' is on no local disk");
  table_.options["path"] = folder_;
  table_.options["format"] = "csv";
  EXPECT_EQ(message(), "table 't': format 'csv' is not known here");
  table_.options["format"] = "json";
  table_.options["json.nonsense"] = "1";
  EXPECT_EQ(message(), "unknown option 'json.nonsense' of format 'json'");
  table_.options.erase("json.nonsense");
  auto source = connector_.MakeSource(table_, request, {});
  EXPECT_EQ((*source)->Open({"0", 0}, "{\"rows\":3}").status().domain(), Domain::kUser);
}

TEST_F(FilesystemSourceTest, OldPositionsAreUnderstoodAndNewerOnesRefused) {
  Put("a", "{\"a\":1}\n{\"a\":2}\n");
  const std::string old = "{\"root\":\"" + folder_ +
                          "/in\",\"splits\":1,\"file\":\"a\",\"offset\":8,\"done\":false,"
                          "\"identity\":\"0\",\"listed\":1,\"recent\":[]";
  auto source = MakeSource();
  EXPECT_THAT(First(ReadOn(source->Open({"0", 0}, old + "}")->get())), ElementsAre(2));
  const auto newer = source->Open({"0", 0}, old + ",\"version\":4}");
  EXPECT_THAT(newer.status().message(), HasSubstr("is of version 4, newer than 3"));
}

TEST_F(FilesystemSourceTest, ARelativePathIsAnotherFolderElsewhere) {
  const std::filesystem::path here = std::filesystem::current_path();
  std::filesystem::create_directories(folder_ + "/b/in");
  Put("f", "{\"a\":1}\n");
  table_.options["path"] = "in";
  std::filesystem::current_path(folder_);
  auto source = MakeSource();
  auto reader = std::move(source->Open({"0", 0}, "")).value();
  EXPECT_THAT(First(ReadOn(reader.get())), ElementsAre(1));
  const Position position = reader->position();
  EXPECT_TRUE(source->Open({"0", 0}, position).ok());
  std::filesystem::current_path(folder_ + "/b");
  EXPECT_THAT(MakeSource()->Open({"0", 0}, position).status().message(),
              HasSubstr("position is in folder '" + folder_ + "/in' with 1 splits, the table reads '" +
                        folder_ + "/b/in'"));
  std::filesystem::current_path(here);
}

TEST_F(FilesystemSourceTest, AWatchedFolderThatIsNotThereYetIsWaitedFor) {
  table_.options["path"] = folder_ + "/later";
  table_.options["source.monitor-interval"] = "2 ms";
  auto source = MakeSource();
  auto reader = std::move(source->Open({"0", 0}, "")).value();
  const auto poll = NextNews(reader.get());
  EXPECT_THAT(std::get<SourceRows>(*poll).warnings,
              ElementsAre("there is no folder '" + folder_ + "/later' yet: waiting for it"));
  std::filesystem::create_directories(folder_ + "/new");
  std::ofstream(folder_ + "/new/a") << "{\"a\":1}\n";
  std::filesystem::rename(folder_ + "/new", folder_ + "/later");
  EXPECT_THAT(First(ReadOn(reader.get(), 1)), ElementsAre(1));
}

}  // namespace
}  // namespace caudal
