#include "server/cli/dead_letters/letter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace caudal {
namespace {

Result<Mark> MarkIn(std::string_view note) { return ReadMark(nlohmann::json::parse(note, nullptr, false)); }

TEST(Letter, AMarkIsReadAsItWasWritten) {
  const Mark mark = MarkIn(R"({"what": "discarded", "at": 1700000000123, "reason": "a test"})").value();
  EXPECT_EQ(mark.what, Mark::What::kDiscarded);
  EXPECT_EQ(mark.at_millis, 1'700'000'000'123);
  EXPECT_EQ(mark.reason, "a test");
  EXPECT_EQ(MarkIn(R"({"what": "replayed", "at": 1})").value().what, Mark::What::kReplayed);
}

// Others may write to a topic of notes, too.
TEST(Letter, WhatIsNoMarkIsNoCrash) {
  for (const char* note : {"", "7", "[]", "{}", R"({"what": 1, "at": 1})", R"({"what": "replayed"})",
                           R"({"what": "replayed", "at": "now"})", R"({"what": "replayed", "at": 1.5})",
                           R"({"what": "replayed", "at": 1, "reason": 2})", R"({"what": "eaten", "at": 1})",
                           R"({"what": null, "at": null})"}) {
    const Result<Mark> mark = MarkIn(note);
    EXPECT_FALSE(mark.ok()) << note;
    EXPECT_TRUE(mark.ok() || mark.status().domain() == Domain::kData) << note;
  }
}

}  // namespace
}  // namespace caudal
