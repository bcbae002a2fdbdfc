#include "connect/collect/collect_connector.h"

#include <fmt/format.h>

namespace caudal {
namespace {

constexpr OptionSpec kOptions[] = {
    {"collect.changelog", OptionSpec::Type::kString, "",
     "the row kinds it takes: I, UB, UA, D; default: all, without UB if the table has a primary key"},
};

class CollectedEpoch : public SealedEpoch {
 public:
  CollectedEpoch(Collected* target, std::vector<Change> changes)
      : target_(target), changes_(std::move(changes)) {}
  Result<Committable> Prepare() override {
    Committable committable;
    for (const Change& change : changes_) {
      if (IsAdd(change.kind)) {
        ++committable.rows_added;
      } else {
        ++committable.rows_removed;
      }
    }
    committable.payload = target_->Stage(changes_);
    return committable;
  }

 private:
  Collected* target_;
  std::vector<Change> changes_;
};

class CollectWriter : public SinkWriter {
 public:
  explicit CollectWriter(Collected* target) : target_(target) {}
  Status Write(const Chunk& chunk, SinkRejects&) override {
    const RowSet rows = chunk.rows();
    for (int32_t i = 0; i < rows.count; ++i) {
      Change change;
      change.kind = chunk.kind(rows[i]);
      for (const ColumnPtr& column : chunk.columns()) change.values.push_back(ValueAt(*column, rows[i]));
      changes_.push_back(std::move(change));
    }
    return Status();
  }
  Result<std::unique_ptr<SealedEpoch>> Seal(Epoch) override {
    return std::unique_ptr<SealedEpoch>(
        new CollectedEpoch(target_, std::exchange(changes_, std::vector<Change>())));
  }
  int64_t buffered_bytes() const override { return static_cast<int64_t>(changes_.size() * sizeof(Change)); }

 private:
  Collected* target_;
  std::vector<Change> changes_;
};

class CollectCommitter : public SinkCommitter {
 public:
  explicit CollectCommitter(Collected* target) : target_(target) {}
  Result<Epoch> LastCommitted() override { return target_->last_epoch(); }
  CommitResult Commit(Epoch epoch, std::span<const Committable> committables) override {
    std::vector<std::string> staged;
    for (const Committable& committable : committables) staged.push_back(committable.payload);
    return target_->Commit(epoch, staged);
  }
  Status RemoveLeftovers() override {
    target_->DropStaged();
    return Status();
  }

 private:
  Collected* target_;
};

class CollectSink : public Sink {
 public:
  CollectSink(Collected* target, ChangelogKinds kinds) : target_(target), kinds_(kinds) {}
  ChangelogKinds accepts() const override { return kinds_; }
  std::string_view guarantee() const override { return "exactly once"; }
  Result<std::unique_ptr<SinkWriter>> MakeWriter(int) override {
    return std::unique_ptr<SinkWriter>(new CollectWriter(target_));
  }
  Result<std::unique_ptr<SinkCommitter>> MakeCommitter() override {
    return std::unique_ptr<SinkCommitter>(new CollectCommitter(target_));
  }

 private:
  Collected* target_;
  ChangelogKinds kinds_;
};

Result<ChangelogKinds> ParseKinds(std::string_view text) {
  uint8_t bits = 0;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    if (word == "I") {
      bits |= ChangelogKinds::kI;
    } else if (word == "UB") {
      bits |= ChangelogKinds::kUB;
    } else if (word == "UA") {
      bits |= ChangelogKinds::kUA;
    } else if (word == "D") {
      bits |= ChangelogKinds::kD;
    } else {
      return Status::User(fmt::format("option 'collect.changelog': '{}' is not I, UB, UA or D", word));
    }
  }
  return ChangelogKinds(bits);
}

}  // namespace

std::span<const OptionSpec> CollectConnector::options() const { return kOptions; }

Result<ChangelogKinds> CollectConnector::sink_changelog(const Table& table) const {
  const std::string_view stated = table.option("collect.changelog");
  if (!stated.empty()) return ParseKinds(stated);
  return table.primary_key.empty() ? ChangelogKinds::All() : ChangelogKinds::Upsert();
}

Result<std::unique_ptr<Sink>> CollectConnector::MakeSink(const Table& table, const ConnectorContext&) const {
  ASSIGN_OR_RETURN(const ChangelogKinds kinds, sink_changelog(table));
  return std::unique_ptr<Sink>(new CollectSink(registry_->Get(table.name), kinds));
}

}  // namespace caudal
