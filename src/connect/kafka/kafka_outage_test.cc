// The source while brokers are away, slow or wrong: nothing ends that can go on, and nobody waits in silence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <thread>

#include "connect/kafka/testing/kafka_source_fixture.h"

namespace caudal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(KafkaSourceTest, FailsToStartWithoutABroker) {
  table_.options["properties.bootstrap.servers"] = "127.0.0.1:1";
  ASSERT_TRUE(MakeSource().ok());
  const Status status = enumerator_->Discover().status();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.domain(), Domain::kExternal);
  EXPECT_THAT(status.message(), HasSubstr("no Kafka broker answers"));
}

TEST_F(KafkaSourceTest, ABrokerThatIsAwayHoldsUpAndEndsNothing) {
  PutNumbers(0, 2);
  ASSERT_TRUE(OpenFirst().ok());
  EXPECT_THAT(First(ReadUntil(2)), ElementsAre(0, 1));
  rd_kafka_mock_broker_set_down(cluster_, 1);
  for (int i = 0; i < 300; ++i) {
    auto poll = reader_->Next();
    ASSERT_TRUE(poll.ok()) << poll.status().ToString();
    ASSERT_TRUE(std::holds_alternative<NothingYet>(*poll));
    GiveTime();
  }
  const auto found = enumerator_->Discover();
  ASSERT_TRUE(found.ok()) << found.status().ToString();
  EXPECT_THAT(*found, IsEmpty());
  rd_kafka_mock_broker_set_up(cluster_, 1);
  PutNumbers(2, 4);
  EXPECT_THAT(First(ReadUntil(2)), ElementsAre(2, 3));
}

// Nothing waits, as far as anybody knew: but nobody knows.
TEST_F(KafkaSourceTest, ABrokerThatDoesNotAnswerTwiceIsTold) {
  PutNumbers(0, 2);
  ASSERT_TRUE(OpenFirst().ok());
  ReadUntil(2);
  rd_kafka_mock_broker_set_down(cluster_, 1);
  ASSERT_TRUE(enumerator_->Discover().ok());
  EXPECT_TRUE(outage().ok()) << "it may be slow";
  ASSERT_TRUE(enumerator_->Discover().ok());
  EXPECT_THAT(outage().message(), HasSubstr("no Kafka broker answers"));
  EXPECT_EQ(outage().domain(), Domain::kExternal);
  EXPECT_EQ(reader_->backlog().rows, -1);
  EXPECT_EQ(reader_->backlog().millis, -1);
  EXPECT_FALSE(reader_->backlog().settled);
  rd_kafka_mock_broker_set_up(cluster_, 1);
  PutNumbers(2, 3);
  EXPECT_THAT(First(ReadUntil(1)), ElementsAre(2));
  EXPECT_TRUE(outage().ok()) << "a record is an answer";
  ASSERT_TRUE(enumerator_->Discover().ok());
  EXPECT_TRUE(outage().ok());
  EXPECT_EQ(reader_->backlog().rows, 0);
}

// A read that ends somewhere asks the cluster nothing more: the records that it still lacks tell.
TEST_F(KafkaSourceTest, ABoundedReadThatIsHeldUpIsTold) {
  ManualEnv clock;
  env_ = &clock;
  PutNumbers(0, 2);
  table_.options["scan.bounded.mode"] = "specific-offsets";
  table_.options["scan.bounded.specific-offsets"] = "partition:0,offset:4";
  ASSERT_TRUE(OpenFirst().ok());
  EXPECT_THAT(First(ReadUntil(2)), ElementsAre(0, 1));
  rd_kafka_mock_broker_set_down(cluster_, 1);
  const auto ask = [&] {
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(std::holds_alternative<NothingYet>(*reader_->Next()));
      GiveTime();
    }
  };
  ask();
  clock.Advance(19'000'000);
  ask();
  EXPECT_TRUE(outage().ok()) << "it may be slow";
  clock.Advance(2'000'000);
  EXPECT_TRUE(outage().ok()) << "nobody has asked since";
  ask();
  EXPECT_THAT(outage().message(),
              HasSubstr("t[0] is to be read up to offset 4, and nothing has come behind 1 for 20 s"));
  EXPECT_EQ(outage().domain(), Domain::kExternal);
  rd_kafka_mock_broker_set_up(cluster_, 1);
  PutNumbers(2, 4);
  EXPECT_THAT(First(ReadUntil(2)), ElementsAre(2, 3));
  EXPECT_TRUE(outage().ok());
  EXPECT_TRUE(std::holds_alternative<Finished>(*reader_->Next()));
  EXPECT_TRUE(outage().ok());
}

TEST_F(KafkaSourceTest, ErrorsOfFetchesThatPassLoseAndRepeatNothing) {
  PutNumbers(0, 3);
  for (const rd_kafka_resp_err_t error :
       {RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT,
        RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR, RD_KAFKA_RESP_ERR_UNKNOWN_LEADER_EPOCH,
        RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE, RD_KAFKA_RESP_ERR_OFFSET_NOT_AVAILABLE}) {
    rd_kafka_mock_push_request_errors(cluster_, kFetchRequest, 1, error);
  }
  ASSERT_TRUE(OpenFirst().ok());
  const Read read = ReadUntil(3);
  EXPECT_THAT(First(read), ElementsAre(0, 1, 2)) << (read.status.ok() ? "" : read.status.ToString());
}

TEST_F(KafkaSourceTest, SilenceOfABrokerThatIsAwayIsNoIdleness) {
  table_.options["scan.watermark.idle-timeout"] = "400 ms";
  PutNumbers(0, 2);
  ASSERT_TRUE(OpenFirst().ok());
  ReadUntil(2);
  const auto quiet_for = [&](int64_t since, int millis) {  // as far as is known, within some time
    for (int i = 0; i < 3000; ++i) {
      GiveTime();
      EXPECT_TRUE(reader_->Next().ok());
      if (reader_->nothing_waits_nanos() - since >= int64_t{millis} * 1'000'000) return true;
    }
    return false;
  };
  EXPECT_TRUE(quiet_for(Env::Real()->SteadyNanos(), 400));
  rd_kafka_mock_broker_set_down(cluster_, 1);
  for (int i = 0; i < 300; ++i) GiveTime();  // for what was under way
  EXPECT_FALSE(quiet_for(Env::Real()->SteadyNanos(), 100));
  rd_kafka_mock_broker_set_up(cluster_, 1);
  EXPECT_TRUE(quiet_for(Env::Real()->SteadyNanos(), 400));
}

TEST_F(KafkaSourceTest, WhatTheClientIsNotSetUpForIsNoOutage) {
  PutNumbers(0, 3);
  rd_kafka_mock_push_request_errors(cluster_, kFetchRequest, 1, RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
  ASSERT_TRUE(OpenFirst().ok());
  const Read read = ReadUntil(4);
  EXPECT_EQ(read.status.domain(), Domain::kUser);
  EXPECT_THAT(read.status.ToString(), HasSubstr("'properties.receive.message.max.bytes'"));
}

// A broker that has just been started answers so.
TEST_F(KafkaSourceTest, OneAnswerDoesNotMakeATopicGone) {
  PutNumbers(0, 2);
  ASSERT_TRUE(OpenFirst().ok());
  const std::string snapshot = enumerator_->Snapshot();
  rd_kafka_mock_topic_set_error(cluster_, "t", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  ASSERT_TRUE(MakeSource().ok());
  ASSERT_TRUE(enumerator_->Restore(snapshot).ok());
  std::thread broker([this] {
    for (int i = 0; i < 1000; ++i) GiveTime();
    rd_kafka_mock_topic_set_error(cluster_, "t", RD_KAFKA_RESP_ERR_NO_ERROR);
  });
  const auto found = enumerator_->Discover();
  broker.join();
  ASSERT_TRUE(found.ok()) << found.status().ToString();
}

}  // namespace
}  // namespace caudal
