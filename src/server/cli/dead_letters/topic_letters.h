// TopicLetters: the dead letters of a topic. A replayed record and its note are sent in one transaction.
//
// Notes are in the compacted topic "<dead-letter topic>.handled": key Letter::id(), value {"what", "at",
// "reason"} (docs/connectors/kafka.md). A second command at the same time is fenced by the first one's
// transactional id or fences it; neither sends a record twice.
#pragma once

#include "connect/kafka/client/kafka_client.h"
#include "connect/kafka/kafka_producer.h"
#include "server/cli/dead_letters/letter_store.h"

namespace caudal {

class TopicLetters : public LetterStore {
 public:
  static Result<std::unique_ptr<LetterStore>> Open(const Program& program, const Table& table);
  // The table's topic if the cluster has none of its name, in quotes as it is told; else empty.
  static Result<std::string> MissingTopic(const Table& table);

  Result<Marks> ReadMarks() override;
  Status Read(const LetterVisitor& visit) override;
  Result<HandledLetters> Handle(const LetterSelection& selection, const Mark& mark, bool dry) override;

 private:
  TopicLetters() = default;
  std::string handled_topic() const { return topic_ + ".handled"; }
  // One transaction: the records, unless they are only marked, and their notes.
  Status Commit(const std::vector<Letter>& letters, const Mark& mark, KafkaProducer* producer);
  // Whether the notes can be kept in their topic, if it is there.
  Status CheckNotes(KafkaClient* client) const;
  // Whether the letter's topic is where the letters are, so that one transaction reaches both.
  Status CheckTarget(const Letter& letter, KafkaClient* client);

  std::string pipeline_;  // whose letters they are
  std::string topic_;
  std::map<std::string, std::string> properties_;
  std::map<std::string, std::string> servers_of_;  // by source table
  std::map<std::string, int32_t> partitions_;      // of topics that were asked for
};

}  // namespace caudal
