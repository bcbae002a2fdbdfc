#include "data/string_view.h"

#include <gtest/gtest.h>

namespace caudal {
namespace {

// Under UBSan: memcpy must not be given null, whatever the length.
TEST(StringView, OfATextWithoutBytesIsEmpty) {
  const StringView none{std::string_view()};
  EXPECT_EQ(none.size(), 0u);
  EXPECT_EQ(none, StringView(std::string_view("")));
  EXPECT_EQ(none.view(), "");
}

}  // namespace
}  // namespace caudal
