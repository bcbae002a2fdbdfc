// KafkaSource: a table's topics as a source, one split a partition, all read through one client.
#pragma once

#include <memory>
#include <string>

#include "api/connector.h"
#include "connect/kafka/kafka_columns.h"
#include "connect/kafka/kafka_enumerator.h"
#include "connect/kafka/kafka_position.h"

namespace caudal {

class KafkaSource : public Source {
 public:
  // Makes the client, which connects in the background; nothing waits for a broker here.
  static Result<std::unique_ptr<Source>> Make(const Table& table, const ReadRequest& request,
                                              const ConnectorContext& context);

  bool bounded() const override { return options_.stop.mode != KafkaOffsetsSpec::Mode::kUnbounded; }
  std::unique_ptr<SplitEnumerator> MakeEnumerator() override;
  Result<std::unique_ptr<SplitReader>> Open(const Split& split, const Position& position) override;
  void Committed(const std::vector<std::pair<Split, Position>>& positions) override;
  ClientFacts client() const override;

 private:
  KafkaSource(KafkaTableOptions options, KafkaColumns columns, Env* env, MemoryBudget* budget)
      : options_(std::move(options)), columns_(std::move(columns)), env_(env), budget_(budget) {}
  Result<KafkaPosition> StartOf(const KafkaSplit& split, const Position& position) const;

  KafkaTableOptions options_;
  KafkaColumns columns_;
  Env* env_;
  MemoryBudget* budget_;
  std::unique_ptr<KafkaClient> client_;
  KafkaSplits splits_;
};

}  // namespace caudal
