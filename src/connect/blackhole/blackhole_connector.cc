#include "connect/blackhole/blackhole_connector.h"

namespace caudal {
namespace {

class CountedEpoch : public SealedEpoch {
 public:
  explicit CountedEpoch(Committable rows) : rows_(std::move(rows)) {}
  Result<Committable> Prepare() override { return rows_; }

 private:
  Committable rows_;
};

class BlackholeWriter : public SinkWriter {
 public:
  Status Write(const Chunk& chunk, SinkRejects&) override {
    const RowSet rows = chunk.rows();
    int64_t removed = 0;
    for (int32_t i = 0; i < rows.count && !chunk.insert_only(); ++i)
      removed += IsAdd(chunk.kind(rows[i])) ? 0 : 1;
    rows_.rows_removed += removed;
    rows_.rows_added += rows.count - removed;
    return Status();
  }
  Result<std::unique_ptr<SealedEpoch>> Seal(Epoch) override {
    return std::unique_ptr<SealedEpoch>(new CountedEpoch(std::exchange(rows_, Committable())));
  }
  int64_t buffered_bytes() const override { return 0; }

 private:
  Committable rows_;
};

class BlackholeCommitter : public SinkCommitter {
 public:
  Result<Epoch> LastCommitted() override { return Epoch(); }
  CommitResult Commit(Epoch, std::span<const Committable>) override { return {}; }
};

class BlackholeSink : public Sink {
 public:
  ChangelogKinds accepts() const override { return ChangelogKinds::All(); }
  std::string_view guarantee() const override { return "exactly once"; }
  Result<std::unique_ptr<SinkWriter>> MakeWriter(int) override {
    return std::unique_ptr<SinkWriter>(new BlackholeWriter());
  }
  Result<std::unique_ptr<SinkCommitter>> MakeCommitter() override {
    return std::unique_ptr<SinkCommitter>(new BlackholeCommitter());
  }
};

}  // namespace

Result<std::unique_ptr<Sink>> BlackholeConnector::MakeSink(const Table&, const ConnectorContext&) const {
  return std::unique_ptr<Sink>(new BlackholeSink());
}

}  // namespace caudal
