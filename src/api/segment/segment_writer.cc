#include "api/segment/segment_writer.h"

#include <fmt/format.h>

#include <utility>

namespace caudal {
namespace {

class SealedSegment : public SealedEpoch {
 public:
  SealedSegment(const SegmentForm& form, const ConnectorContext& context, std::string path, EpochRows rows)
      : form_(form),
        files_(context.files),
        folder_(context.segment_dir),
        budget_(context.budget),
        path_(std::move(path)),
        rows_(std::move(rows)),
        charged_(rows_.bytes()) {
    if (budget_ != nullptr) budget_->Charge(charged_);
  }
  ~SealedSegment() override {
    if (budget_ != nullptr) budget_->Charge(-charged_);
  }

  Result<Committable> Prepare() override {
    RETURN_IF_ERROR(files_->MakeDirectories(folder_));
    Result<Committable> written = WriteSegment(files_, path_, form_, rows_);
    // Half a segment is of no use to anybody; that it cannot be removed either changes nothing.
    if (!written.ok()) static_cast<void>(files_->Remove(path_).ok());
    return written;
  }

 private:
  const SegmentForm form_;
  FileSystem* files_;
  std::string folder_;
  MemoryBudget* budget_;
  std::string path_;
  EpochRows rows_;
  int64_t charged_;
};

}  // namespace

Status SegmentWriter::Write(const Chunk& chunk, SinkRejects&) {
  rows_.Add(chunk);
  Charge(rows_.bytes());
  return Status();
}

Result<std::unique_ptr<SealedEpoch>> SegmentWriter::Seal(Epoch epoch) {
  Charge(0);
  std::string path = fmt::format("{}/{}{}-{}-{}.segment", context_.segment_dir, form_.file_prefix(),
                                 epoch.generation, epoch.number, task_);
  auto sealed = std::make_unique<SealedSegment>(form_, context_, std::move(path), std::move(rows_));
  rows_ = EpochRows(form_.key);
  return std::unique_ptr<SealedEpoch>(std::move(sealed));
}

void SegmentWriter::Charge(int64_t bytes) {
  if (context_.budget != nullptr) context_.budget->Charge(bytes - charged_);
  charged_ = bytes;
}

}  // namespace caudal
