#include "connect/kafka/kafka_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "connect/kafka/kafka_split_reader.h"
#include "format/format.h"

namespace caudal {
namespace {

// Null if no column comes from there.
Result<std::unique_ptr<Decoder>> DecoderOf(const std::string& format, const Schema& schema,
                                           const Options& options) {
  if (format.empty() || (schema.size() == 0 && format == "raw")) return std::unique_ptr<Decoder>();
  return MakeDecoder(format, schema, options);
}

// A partition may be idle only if its broker says that nothing came: often enough for the timeout to be kept.
int64_t HeardMillis(int64_t idle_millis) { return std::clamp<int64_t>(idle_millis / 4, 100, 1000); }

}  // namespace

Result<std::unique_ptr<Source>> KafkaSource::Make(const Table& table, const ReadRequest& request,
                                                  const ConnectorContext& context) {
  ASSIGN_OR_RETURN(KafkaTableOptions options, KafkaTableOptions::From(table));
  ASSIGN_OR_RETURN(KafkaColumns columns, KafkaColumns::Make(table, request, options));
  Env* env = context.env == nullptr ? Env::Real() : context.env;
  std::unique_ptr<KafkaSource> source(
      new KafkaSource(std::move(options), std::move(columns), env, context.budget));
  // The same checks that Open makes, so that a wrong option is found before anything runs.
  const KafkaTableOptions& known = source->options_;
  RETURN_IF_ERROR(DecoderOf(known.value_format, source->columns_.in_value(), known.value_options).status());
  if (source->columns_.in_key().size() > 0) {
    RETURN_IF_ERROR(DecoderOf(known.key_format, source->columns_.in_key(), known.key_options).status());
  }
  // A name of its own where none is given; nothing is committed under it.
  const std::string group = known.group.empty() ? "caudal-" + context.query : known.group;
  Result<std::unique_ptr<KafkaClient>> client =
      KafkaClient::Make(known.properties, group, known.idle_millis > 0 ? HeardMillis(known.idle_millis) : 0);
  if (!client.ok()) return client.status().At(fmt::format("table '{}'", table.name));
  source->client_ = std::move(*client);
  return std::unique_ptr<Source>(std::move(source));
}

ClientFacts KafkaSource::client() const {
  ClientFacts facts = {{"library", KafkaLibrary()}};
  if (!options_.left_out.empty()) {
    facts.emplace_back("topics left out", fmt::format("{}", fmt::join(options_.left_out, ", ")));
  }
  return facts;
}

std::unique_ptr<SplitEnumerator> KafkaSource::MakeEnumerator() {
  return std::make_unique<KafkaEnumerator>(client_.get(), &options_, &splits_);
}

Result<KafkaPosition> KafkaSource::StartOf(const KafkaSplit& split, const Position& position) const {
  KafkaPosition start;
  start.cluster = splits_.cluster();
  start.topic = split.partition.topic;
  start.topic_id = splits_.topic_id(start.topic);
  start.partition = split.partition.partition;
  start.offset = split.start;
  if (position.empty()) return start;
  ASSIGN_OR_RETURN(const KafkaPosition saved, KafkaPosition::Parse(position));
  const bool other_topic =
      !saved.topic_id.empty() && !start.topic_id.empty() && saved.topic_id != start.topic_id;
  start.losses = saved.losses;
  const bool other = saved.cluster != start.cluster || other_topic;
  if (other && options_.record_loss && saved.topic == start.topic && saved.partition == start.partition) {
    start.losses.push_back(
        {saved.offset, -1,
         fmt::format(
             "{} was made again: it was of cluster '{}' and topic id '{}', now it is of cluster '{}' and "
             "topic id '{}', read from offset {}",
             split.id(), saved.cluster, saved.topic_id, start.cluster, start.topic_id, start.offset),
         env_->NowMillis()});
    return start;
  }
  if (other || saved.topic != start.topic || saved.partition != start.partition) {
    return Status::Data(
               fmt::format("the checkpoint's position, offset {} of {}[{}], is of cluster '{}' and topic id "
                           "'{}'; {} is of cluster '{}' and topic id '{}'",
                           saved.offset, saved.topic, saved.partition, saved.cluster, saved.topic_id,
                           split.id(), start.cluster, start.topic_id))
        .Hint("set the table's options back, or start with a new checkpoint");
  }
  start.offset = saved.offset;
  start.leader_epoch = saved.leader_epoch;
  return start;
}

Result<std::unique_ptr<SplitReader>> KafkaSource::Open(const Split& split, const Position& position) {
  const std::optional<KafkaSplit> known = splits_.Find(split.id);
  if (!known) return Status::User(fmt::format("the checkpoint has no partition '{}'", split.id));
  KafkaRecordDecoder::Parts decoder{split, known->partition, &columns_};
  ASSIGN_OR_RETURN(decoder.value,
                   DecoderOf(options_.value_format, columns_.in_value(), options_.value_options));
  if (columns_.in_key().size() > 0) {
    ASSIGN_OR_RETURN(decoder.key, DecoderOf(options_.key_format, columns_.in_key(), options_.key_options));
  }
  decoder.null_values = options_.value_format == "raw";
  KafkaSplitReader::Parts parts;
  parts.decoder = std::make_unique<KafkaRecordDecoder>(std::move(decoder));
  ASSIGN_OR_RETURN(parts.position, StartOf(*known, position));
  KafkaFetcher::Begin begin{known->partition,    parts.position.topic_id,     parts.position.offset,
                            known->stop,         parts.position.leader_epoch, columns_.with_headers(),
                            options_.record_loss};
  ASSIGN_OR_RETURN(parts.fetcher, KafkaFetcher::Open(client_.get(), env_, std::move(begin)));
  // The library does not tell what it holds, so that the whole is charged.
  parts.prefetch = std::make_unique<MemoryBudget>("kafka " + split.id, 0, budget_);
  parts.prefetch->Charge(client_->prefetch_bytes());
  parts.splits = &splits_;
  parts.env = env_;
  const std::string warning = KafkaVersionWarning();
  if (split.ordinal == 0 && !warning.empty()) parts.warnings.push_back(warning);
  return std::unique_ptr<SplitReader>(std::make_unique<KafkaSplitReader>(std::move(parts)));
}

void KafkaSource::Committed(const std::vector<std::pair<Split, Position>>& positions) {
  if (options_.group.empty()) return;
  std::map<KafkaPartitionId, int64_t> offsets;
  for (const auto& [split, position] : positions) {
    const Result<KafkaPosition> parsed = KafkaPosition::Parse(position);
    if (parsed.ok()) offsets[{parsed->topic, parsed->partition}] = parsed->offset;
  }
  client_->CommitOffsets(offsets);
}

}  // namespace caudal
