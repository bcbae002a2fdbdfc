#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace caudal {
namespace {

// The check value of CRC-32C and two vectors of RFC 3720, B.4.
TEST(Crc32c, KnownValues) {
  EXPECT_EQ(Crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62a8ab43u);
  EXPECT_EQ(Crc32c(""), 0u);
}

TEST(Crc32c, GoesOnWhereItStopped) { EXPECT_EQ(Crc32c("56789", Crc32c("1234")), Crc32c("123456789")); }

}  // namespace
}  // namespace caudal
