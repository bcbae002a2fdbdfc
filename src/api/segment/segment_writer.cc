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
        path_(std::move(path)),
        rows_(std::move(rows)) {}

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
  std::string path_;
  EpochRows rows_;
};

}  // namespace

Status SegmentWriter::Write(const Chunk& chunk, SinkRejects&) {
  rows_.Add(chunk);
  return Status();
}

Result<std::unique_ptr<SealedEpoch>> SegmentWriter::Seal(Epoch epoch) {
  std::string path = fmt::format("{}/{}{}-{}-{}.segment", context_.segment_dir, form_.file_prefix(),
                                 epoch.generation, epoch.number, task_);
  auto sealed = std::make_unique<SealedSegment>(form_, context_, std::move(path), std::move(rows_));
  rows_ = EpochRows(form_.key);
  return std::unique_ptr<SealedEpoch>(std::move(sealed));
}

}  // namespace caudal
