#include "connect/jdbc/jdbc_sink.h"

#include <fmt/format.h>

#include "connect/jdbc/epoch_rows.h"
#include "connect/jdbc/epoch_segment.h"
#include "connect/jdbc/jdbc_committer.h"

namespace caudal {
namespace {

class SealedRows : public SealedEpoch {
 public:
  SealedRows(const JdbcTarget& target, const ConnectorContext& context, std::string path, EpochRows rows)
      : target_(target),
        files_(context.files),
        folder_(context.segment_dir),
        budget_(context.budget),
        path_(std::move(path)),
        rows_(std::move(rows)),
        charged_(rows_.bytes()) {
    if (budget_ != nullptr) budget_->Charge(charged_);
  }
  ~SealedRows() override {
    if (budget_ != nullptr) budget_->Charge(-charged_);
  }

  Result<Committable> Prepare() override {
    RETURN_IF_ERROR(files_->MakeDirectories(folder_));
    Result<Committable> written = WriteSegment(files_, path_, target_, rows_);
    // Half a segment is of no use to anybody; that it cannot be removed either changes nothing.
    if (!written.ok()) static_cast<void>(files_->Remove(path_).ok());
    return written;
  }

 private:
  const JdbcTarget target_;
  FileSystem* files_;
  std::string folder_;
  MemoryBudget* budget_;
  std::string path_;
  EpochRows rows_;
  int64_t charged_;
};

class JdbcWriter : public SinkWriter {
 public:
  JdbcWriter(JdbcTarget target, ConnectorContext context, int task)
      : target_(std::move(target)), context_(std::move(context)), task_(task), rows_(target_.key) {}
  ~JdbcWriter() override { Charge(0); }

  Status Write(const Chunk& chunk, SinkRejects&) override {
    rows_.Add(chunk);
    Charge(rows_.bytes());
    return Status();
  }
  Result<std::unique_ptr<SealedEpoch>> Seal(Epoch epoch) override {
    Charge(0);
    std::string path = fmt::format("{}/{}{}-{}-{}.segment", context_.segment_dir, SegmentPrefix(target_),
                                   epoch.generation, epoch.number, task_);
    auto sealed = std::make_unique<SealedRows>(target_, context_, std::move(path), std::move(rows_));
    rows_ = EpochRows(target_.key);
    return std::unique_ptr<SealedEpoch>(std::move(sealed));
  }
  int64_t buffered_bytes() const override { return rows_.bytes(); }

 private:
  void Charge(int64_t bytes) {
    if (context_.budget != nullptr) context_.budget->Charge(bytes - charged_);
    charged_ = bytes;
  }

  JdbcTarget target_;
  ConnectorContext context_;
  int task_;
  EpochRows rows_;
  int64_t charged_ = 0;
};

}  // namespace

std::string SegmentPrefix(const JdbcTarget& target) {
  // Table names may hold characters that file names may not.
  std::string prefix = "jdbc-";
  for (const char c : target.declared) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    prefix += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return prefix + "-";
}

Result<std::unique_ptr<SinkWriter>> JdbcSink::MakeWriter(int task) {
  return std::unique_ptr<SinkWriter>(std::make_unique<JdbcWriter>(target_, context_, task));
}

Result<std::unique_ptr<SinkCommitter>> JdbcSink::MakeCommitter() {
  return JdbcCommitter::Make(target_, context_);
}

}  // namespace caudal
