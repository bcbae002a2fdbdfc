// KafkaSink: rows into a topic, exactly once or at least once; by key for 'upsert-kafka'.
//
// The epoch's records become a segment file of the checkpoint (Prepare) and are sent at Commit, so that no
// transaction is open while an epoch lasts: readers of committed records wait for a commit, never for an
// epoch, and no transaction times out between the checkpoint and its commit.
#pragma once

#include <memory>

#include "api/connector.h"
#include "api/sink.h"
#include "connect/kafka/sink/kafka_sink_facts.h"
#include "connect/kafka/sink/kafka_sink_options.h"

namespace caudal {

class KafkaSink : public Sink {
 public:
  // User error for options and columns that do not fit.
  static Result<std::unique_ptr<Sink>> Make(const Table& table, bool upsert, const ConnectorContext& context);

  ChangelogKinds accepts() const override {
    return options_.upsert ? ChangelogKinds::Upsert() : ChangelogKinds::InsertOnly();
  }
  std::string_view guarantee() const override {
    return options_.exactly_once ? "exactly once" : "at least once";
  }
  Status CheckTarget() const override;
  Result<std::unique_ptr<SinkWriter>> MakeWriter(int task) override;
  Result<std::unique_ptr<SinkCommitter>> MakeCommitter() override;
  ClientFacts client() const override;

 private:
  KafkaSink(Table table, KafkaSinkOptions options, ConnectorContext context)
      : table_(std::move(table)), options_(std::move(options)), context_(std::move(context)) {}

  Table table_;
  KafkaSinkOptions options_;
  ConnectorContext context_;
  KafkaSinkFacts facts_;
};

}  // namespace caudal
