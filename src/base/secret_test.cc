#include "base/secret.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace caudal {
namespace {

TEST(SecretTest, ExpandedValuesAreMaskedEverywhere) {
  setenv("CAUDAL_TEST_SECRET", "hunter-2000", 1);
  EXPECT_EQ(*Secrets::Expand("u:${env:CAUDAL_TEST_SECRET}@h"), "u:hunter-2000@h");
  EXPECT_EQ(Secrets::Redact("cannot log in with hunter-2000 (hunter-2000)"), "cannot log in with *** (***)");
}

TEST(SecretTest, EscapedValuesAreMaskedToo) {
  setenv("CAUDAL_TEST_SECRET", "pa\"ss\\wo\nrd\x01", 1);
  ASSERT_TRUE(Secrets::Expand("${env:CAUDAL_TEST_SECRET}").ok());
  EXPECT_EQ(Secrets::Redact("{\"m\":\"no pa\\\"ss\\\\wo\\nrd\\u0001!\"}"), "{\"m\":\"no ***!\"}");
}

// A mask that holds the value again went round for ever.
TEST(SecretTest, ShortValuesAreMaskedWhereTheyStandAlone) {
  for (const char* value : {"pw1", "*"}) {
    setenv("CAUDAL_TEST_SECRET", value, 1);
    ASSERT_TRUE(Secrets::Expand("${env:CAUDAL_TEST_SECRET}").ok());
  }
  EXPECT_EQ(Secrets::RedactMessage("cannot log in as 'u:pw1@h', pw1"), "cannot log in as 'u:***@h', ***");
  EXPECT_EQ(Secrets::RedactMessage("pw10 xpw1"), "pw10 xpw1");
  EXPECT_EQ(Secrets::RedactMessage("2 * 3"), "2 *** 3");
  EXPECT_EQ(Secrets::Redact("pw1"), "pw1");
}

TEST(SecretTest, MissingVariableIsNamed) {
  unsetenv("CAUDAL_TEST_ABSENT");
  EXPECT_EQ(Secrets::Expand("${env:CAUDAL_TEST_ABSENT}").status().message(),
            "environment variable 'CAUDAL_TEST_ABSENT' is not set");
  EXPECT_FALSE(Secrets::Expand("${env:OPEN").ok());
  EXPECT_EQ(*Secrets::Expand("plain $ text {}"), "plain $ text {}");
}

}  // namespace
}  // namespace caudal
