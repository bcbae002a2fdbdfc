#include "format/avro/container.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace caudal::avro {
namespace {

using testing::HasSubstr;

constexpr SyncMarker kSync = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};

Value Row(int64_t number) { return Value(ValueList{Value(number), Value(std::string(20, 'x'))}); }

std::string File(Codec codec, int64_t rows) {
  auto schema = Schema::Parse(
      R"({"type":"record","name":"r","fields":[{"name":"a","type":"long","field-id":1},{"name":"b","type":"string"}]})");
  ContainerWriter writer(std::move(schema).value(), {{"format-version", "2"}}, codec, kSync);
  for (int64_t i = 0; i < rows; ++i) EXPECT_TRUE(writer.Append(Row(i)).ok());
  return std::move(writer.Finish()).value();
}

// The rows read until the end or the first error, and that error.
std::pair<int64_t, Status> ReadThrough(std::string_view file, const Limits& limits = {}) {
  auto reader = ContainerReader::Open(file, "f.avro", limits);
  if (!reader.ok()) return {0, reader.status()};
  for (int64_t rows = 0;; ++rows) {
    auto next = (*reader)->Next();
    if (!next.ok()) return {rows, next.status()};
    if (!next->has_value()) return {rows, {}};
    EXPECT_EQ(**next, Row(rows));
  }
}

TEST(AvroContainer, EveryCodecGivesTheRowsBack) {
  for (Codec codec : {Codec::kNull, Codec::kDeflate, Codec::kZstandard}) {
    for (int64_t rows : {0, 1, 10000}) {  // none, one block, several blocks
      const std::string file = File(codec, rows);
      const auto [count, status] = ReadThrough(file);
      EXPECT_TRUE(status.ok()) << CodecName(codec) << ": " << status.ToString();
      EXPECT_EQ(count, rows);
    }
  }
}

TEST(AvroContainer, MetadataAndSchemaAreKept) {
  const std::string file = File(Codec::kDeflate, 1);
  const auto reader = ContainerReader::Open(file, "f.avro");
  ASSERT_TRUE(reader.ok()) << reader.status().ToString();
  EXPECT_EQ(*(*reader)->FindMetadata("format-version"), "2");
  EXPECT_EQ((*reader)->FindMetadata("other"), nullptr);
  EXPECT_EQ(IntegerAttribute((*reader)->schema().node(0).fields[0].attributes, "field-id"), 1);
}

TEST(AvroContainer, DamageIsNamedWithBlockRecordFieldAndByte) {
  std::string file = File(Codec::kNull, 3);
  const size_t second_text = file.find("xxxx", file.find("xxxx") + 20);
  file[second_text + 3] = '\xff';
  const auto [rows, status] = ReadThrough(file);
  EXPECT_EQ(rows, 1);
  EXPECT_EQ(status.domain(), Domain::kData);
  EXPECT_THAT(status.ToString(), HasSubstr("field 'b': a string that is not UTF-8 (at byte 24)"));
  EXPECT_THAT(status.ToString(), HasSubstr("at record 1 of block 0 (byte "));
  EXPECT_THAT(status.ToString(), HasSubstr("of Avro file 'f.avro'"));
}

TEST(AvroContainer, EveryCutIsNoticed) {
  for (Codec codec : {Codec::kNull, Codec::kDeflate, Codec::kZstandard}) {
    const std::string file = File(codec, 5);
    for (size_t size = 0; size < file.size(); ++size) {
      const auto [rows, status] = ReadThrough(std::string_view(file).substr(0, size));
      // A file that ends behind its header is whole, and has no rows.
      if (status.ok()) {
        EXPECT_EQ(size, File(codec, 0).size()) << CodecName(codec);
      }
    }
  }
}

TEST(AvroContainer, WhatACompressedBlockGivesHasALimit) {
  for (Codec codec : {Codec::kNull, Codec::kDeflate, Codec::kZstandard}) {
    const std::string file = File(codec, 100);
    EXPECT_EQ(ReadThrough(file, {.block_bytes = 2200 + 36}).second.ToString(), "ok") << CodecName(codec);
    EXPECT_THAT(ReadThrough(file, {.block_bytes = 2000}).second.ToString(),
                HasSubstr("the block unpacks to more than 2000 bytes"));
  }
}

TEST(AvroContainer, APartOfTheZlibChecksumMayFollow) {
  const std::string packed = Pack(Codec::kDeflate, "some data").value();
  EXPECT_EQ(Unpack(Codec::kDeflate, packed + "abc", 100).value(), "some data");  // as PyIceberg writes it
  EXPECT_EQ(Unpack(Codec::kDeflate, packed + "abcde", 100).status().message(),
            "bytes behind the end of the deflated block");
}

TEST(AvroContainer, OtherFilesAreRefusedByName) {
  EXPECT_THAT(ReadThrough("PAR1").second.ToString(), HasSubstr("it does not begin with 'Obj' and 1"));
  std::string file = File(Codec::kNull, 1);
  file.replace(file.find("\x08null", 0), 5, "\x08lzma");
  EXPECT_THAT(ReadThrough(file).second.ToString(), HasSubstr("the codec 'lzma' is not read"));
}

}  // namespace
}  // namespace caudal::avro
