#include "server/result_connector.h"

namespace caudal {
namespace {

// Nothing is kept, so there is nothing to make durable.
class SealedCounts : public SealedEpoch {
 public:
  explicit SealedCounts(Committable counts) : counts_(std::move(counts)) {}
  Result<Committable> Prepare() override { return counts_; }

 private:
  Committable counts_;
};

class ResultWriter : public SinkWriter {
 public:
  explicit ResultWriter(const ResultConnector* connector) : connector_(connector) {}

  Status Write(const Chunk& chunk, SinkRejects&) override {
    const RowSet rows = chunk.rows();
    for (int32_t i = 0; i < rows.count; ++i) {
      (IsAdd(chunk.kind(rows[i])) ? counts_.rows_added : counts_.rows_removed) += 1;
    }
    return connector_->Consume(chunk);
  }
  Result<std::unique_ptr<SealedEpoch>> Seal(Epoch) override {
    return std::unique_ptr<SealedEpoch>(std::make_unique<SealedCounts>(std::exchange(counts_, {})));
  }
  int64_t buffered_bytes() const override { return 0; }

 private:
  const ResultConnector* connector_;
  Committable counts_;
};

class ResultCommitter : public SinkCommitter {
 public:
  Result<Epoch> LastCommitted() override { return Epoch{}; }
  CommitResult Commit(Epoch, std::span<const Committable>) override { return {}; }
};

class ResultSink : public Sink {
 public:
  explicit ResultSink(const ResultConnector* connector) : connector_(connector) {}
  ChangelogKinds accepts() const override { return ChangelogKinds::All(); }
  std::string_view guarantee() const override { return "as they come"; }
  Result<std::unique_ptr<SinkWriter>> MakeWriter(int) override {
    return std::unique_ptr<SinkWriter>(std::make_unique<ResultWriter>(connector_));
  }
  Result<std::unique_ptr<SinkCommitter>> MakeCommitter() override {
    return std::unique_ptr<SinkCommitter>(std::make_unique<ResultCommitter>());
  }

 private:
  const ResultConnector* connector_;
};

}  // namespace

Result<std::unique_ptr<Sink>> ResultConnector::MakeSink(const Table&, const ConnectorContext&) const {
  return std::unique_ptr<Sink>(std::make_unique<ResultSink>(this));
}

Status ResultConnector::Consume(const Chunk& chunk) const {
  std::lock_guard lock(mutex_);
  return consumer_(chunk);
}

Table ResultTable(const Schema& result) {
  Table table;
  table.name = "result";
  table.options["connector"] = ResultConnector::kName;
  for (const Field& field : result.fields) {
    if (!field.name.starts_with('$')) table.columns.push_back({.name = field.name, .type = field.type});
  }
  return table;
}

}  // namespace caudal
