#include "run/simulation/simulated_source.h"

#include <charconv>

#include "data/column_builder.h"
#include "run/simulation/simulated_world.h"

namespace caudal {
namespace {

class Reader : public SplitReader {
 public:
  Reader(SimulatedWorld* world, Schema schema, size_t split, size_t next)
      : world_(world), schema_(std::move(schema)), split_(split), first_(next), next_(next) {}

  Result<Poll> Next() override {
    const std::vector<SimulatedEvent>& events = world_->workload().splits()[split_];
    if (next_ == events.size()) return Poll(Finished{});
    if (world_->OneIn(10)) return Poll(NothingYet{});
    const size_t end = std::min(events.size(), next_ + 1 + world_->Random() % 24);
    SourceRows rows;
    std::vector<ColumnBuilder> builders;
    for (const Field& field : schema_.fields) builders.emplace_back(field.type, 24);
    int32_t count = 0;
    for (; next_ < end; ++next_) {
      const SimulatedEvent& event = events[next_];
      if (event.malformed) {
        rows.rejected.push_back({static_cast<int64_t>(next_), "?", "malformed", "not an event"});
        continue;
      }
      for (size_t i = 0; i < builders.size(); ++i) Append(schema_.fields[i].name, event, &builders[i]);
      ++count;
    }
    std::vector<ColumnPtr> columns;
    for (ColumnBuilder& builder : builders) columns.push_back(builder.Finish());
    rows.chunk = Chunk(std::move(columns), count);
    return Poll(std::move(rows));
  }
  Position position() const override { return std::to_string(next_); }
  int64_t records_passed() const override { return static_cast<int64_t>(next_ - first_); }

 private:
  void Append(const std::string& name, const SimulatedEvent& event, ColumnBuilder* out) const {
    if (name == "k") {
      event.no_key ? out->AppendNull() : out->Append(event.key);
    } else if (name == "account") {
      out->Append(event.account);
    } else if (name == "amount") {
      out->Append(event.amount);
    } else if (name == "ts") {
      out->Append(event.time * 1000);
    } else if (name == "mark") {
      out->Append((event.time - Workload::kDelay) * 1000);
    } else if (name == "keep") {
      out->Append(static_cast<uint8_t>(event.keep));
    } else if (name == kOffsetColumn) {
      out->Append(static_cast<int64_t>(next_));
    } else {
      out->AppendNull();
    }
  }

  SimulatedWorld* world_;
  Schema schema_;
  size_t split_;
  const size_t first_;
  size_t next_;
};

class Enumerator : public SplitEnumerator {
 public:
  explicit Enumerator(SimulatedWorld* world) : world_(world) {}
  Result<std::vector<Split>> Discover() override {
    std::vector<Split> splits;
    for (size_t i = 0; i < world_->workload().splits().size(); ++i) {
      splits.push_back({std::to_string(i), static_cast<int>(i)});
    }
    return splits;
  }
  bool complete() const override { return true; }
  std::string Snapshot() const override { return "simulated"; }
  Status Restore(std::string_view snapshot) override {
    if (snapshot == "simulated") return Status();
    return Status::Internal("foreign enumerator state");
  }

 private:
  SimulatedWorld* world_;
};

class SimulatedSource : public Source {
 public:
  SimulatedSource(SimulatedWorld* world, Schema schema) : world_(world), schema_(std::move(schema)) {}
  bool bounded() const override { return true; }
  std::unique_ptr<SplitEnumerator> MakeEnumerator() override { return std::make_unique<Enumerator>(world_); }
  Result<std::unique_ptr<SplitReader>> Open(const Split& split, const Position& position) override {
    size_t next = 0;
    std::from_chars(position.data(), position.data() + position.size(), next);
    return std::unique_ptr<SplitReader>(
        std::make_unique<Reader>(world_, schema_, static_cast<size_t>(split.ordinal), next));
  }

 private:
  SimulatedWorld* world_;
  Schema schema_;
};

}  // namespace

Result<std::unique_ptr<Source>> SimulatedSourceConnector::MakeSource(const Table&, const ReadRequest& request,
                                                                     const ConnectorContext&) const {
  return std::unique_ptr<Source>(std::make_unique<SimulatedSource>(world_, request.schema));
}

}  // namespace caudal
