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

TEST(SecretTest, MissingVariableIsNamed) {
  unsetenv("CAUDAL_TEST_ABSENT");
  EXPECT_EQ(Secrets::Expand("${env:CAUDAL_TEST_ABSENT}").status().message(),
            "environment variable 'CAUDAL_TEST_ABSENT' is not set");
  EXPECT_FALSE(Secrets::Expand("${env:OPEN").ok());
  EXPECT_EQ(*Secrets::Expand("plain $ text {}"), "plain $ text {}");
}

}  // namespace
}  // namespace caudal
