#include "api/segment/segment_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "data/column_builder.h"
#include "fs/memory_file_system.h"

namespace caudal {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMegabyte = 1 << 20;

class MeasuredFile : public RandomAccessFile {
 public:
  MeasuredFile(std::unique_ptr<RandomAccessFile> file, int64_t* longest)
      : file_(std::move(file)), longest_(longest) {}
  Result<MutableBufferPtr> Read(int64_t offset, int64_t length) override {
    *longest_ = std::max(*longest_, length);
    return file_->Read(offset, length);
  }
  int64_t size() const override { return file_->size(); }

 private:
  std::unique_ptr<RandomAccessFile> file_;
  int64_t* longest_;
};

// Notes the most bytes that were asked for at once.
class MeasuredFiles : public MemoryFileSystem {
 public:
  using MemoryFileSystem::MemoryFileSystem;
  Result<std::unique_ptr<RandomAccessFile>> Open(const std::string& path) override {
    ASSIGN_OR_RETURN(auto file, MemoryFileSystem::Open(path));
    return std::unique_ptr<RandomAccessFile>(std::make_unique<MeasuredFile>(std::move(file), &longest));
  }
  int64_t longest = 0;
};

class SegmentRecordsTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(files_.MakeDirectories("s").ok()); }

  // A segment of the texts, one a row.
  SegmentReference Write(const std::vector<std::string>& texts) {
    EpochRows rows({});
    for (const std::string& text : texts) {
      ColumnBuilder column(Type::String());
      column.AppendString(text);
      rows.Add(Chunk({column.Finish()}, 1));
    }
    const Result<Committable> written = WriteSegment(&files_, "s/1", form_, rows);
    EXPECT_TRUE(written.ok()) << written.status().ToString();
    return SegmentReference::Parse(form_, written->payload).value();
  }
  // The rows' texts, without the 5 bytes that their cells begin with.
  std::vector<std::string> Read(const SegmentReference& reference) {
    bool lost = true;
    auto records = SegmentRecords::OfFile(&files_, reference, &lost);
    EXPECT_TRUE(records.ok()) << records.status().ToString();
    EXPECT_FALSE(lost);
    EXPECT_TRUE(records->Open(form_.magic).ok());
    EXPECT_EQ(records->header(), form_.header);
    std::vector<std::string> texts;
    for (SegmentRecord record;;) {
      const Result<bool> more = records->Next(&record);
      EXPECT_TRUE(more.ok()) << more.status().ToString();
      if (!more.ok() || !*more) return texts;
      texts.emplace_back(record.cells.substr(5));
    }
  }

  MeasuredFiles files_{Env::Real()};
  SegmentForm form_{.connector = "test", .magic = "CDLTEST1", .header = R"({"table":"t"})", .declared = "t"};
};

TEST_F(SegmentRecordsTest, AnEpochLargerThanABlockIsNeverInMemoryAsAWhole) {
  std::vector<std::string> texts;
  for (int i = 0; i < 9000; ++i) texts.push_back(std::to_string(i) + std::string(1000, 'x'));
  const SegmentReference reference = Write(texts);
  ASSERT_GT(reference.size, 8 * kMegabyte);
  EXPECT_EQ(Read(reference), texts);
  EXPECT_LE(files_.longest, kMegabyte);
}

TEST_F(SegmentRecordsTest, ARecordMayBeLargerThanABlock) {
  const std::vector<std::string> texts = {"a", std::string(3 * kMegabyte, 'b'), "c",
                                          std::string(kMegabyte, 'd')};
  EXPECT_EQ(Read(Write(texts)), texts);
  EXPECT_EQ(Read(Write({})), std::vector<std::string>());
}

TEST_F(SegmentRecordsTest, GivesNothingOfAFileThatIsNotAsItWasWritten) {
  const SegmentReference reference = Write(std::vector<std::string>(3000, std::string(1000, 'x')));
  const std::string bytes = *files_.ReadAll("s/1");
  const auto expect_lost = [&](std::string_view what) {
    bool lost = false;
    const auto records = SegmentRecords::OfFile(&files_, reference, &lost);
    ASSERT_FALSE(records.ok());
    EXPECT_TRUE(lost);
    EXPECT_EQ(records.status().domain(), Domain::kData);
    EXPECT_THAT(records.status().message(), HasSubstr(what));
  };
  std::string damaged = bytes;
  damaged[damaged.size() - 1] ^= 1;
  files_.Overwrite("s/1", damaged);
  expect_lost("segment 's/1' is damaged");
  files_.Overwrite("s/1", bytes.substr(0, bytes.size() - 1));
  expect_lost("segment 's/1' is damaged");
  files_.Overwrite("s/1", bytes + "x");
  expect_lost("segment 's/1' is damaged");
  ASSERT_TRUE(files_.Remove("s/1").ok());
  expect_lost("segment 's/1' is gone");
}

TEST_F(SegmentRecordsTest, RefusesBytesThatAreNoSegment) {
  SegmentReference reference;
  reference.path = "s/1";
  reference.records = 1;
  const std::string head = EmptySegment(form_);
  for (const std::string& bytes : {std::string(), std::string("CDLTEST1"), "CDLTEST2" + head.substr(8),
                                   head.substr(0, head.size() - 1)}) {
    EXPECT_FALSE(SegmentRecords(bytes, reference).Open(form_.magic).ok());
  }
  SegmentRecord record;
  for (const std::string_view rest : {"", "\x01", "\xff\xff\xff\xff+xxxxxxxxyy"}) {
    SegmentRecords records(head + std::string(rest), reference);
    ASSERT_TRUE(records.Open(form_.magic).ok());
    EXPECT_FALSE(records.Next(&record).ok());
  }
}

}  // namespace
}  // namespace caudal
