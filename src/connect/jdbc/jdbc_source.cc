#include "connect/jdbc/jdbc_source.h"

#include "connect/jdbc/jdbc_reader_thread.h"

namespace caudal {
namespace {

// One split, found once: when the table can be read, which is known before anything runs.
class JdbcEnumerator : public SplitEnumerator {
 public:
  JdbcEnumerator(JdbcTarget target, std::vector<std::string> names)
      : target_(std::move(target)), names_(std::move(names)) {}
  Result<std::vector<Split>> Discover() override {
    if (found_) return std::vector<Split>();
    RETURN_IF_ERROR(JdbcRows::Check(target_, names_));
    found_ = true;
    return std::vector<Split>{{target_.origin(), 0}};
  }
  bool complete() const override { return found_; }
  std::string Snapshot() const override { return found_ ? "found" : ""; }
  Status Restore(std::string_view snapshot) override {
    found_ = snapshot == "found";
    return Status();
  }

 private:
  JdbcTarget target_;
  std::vector<std::string> names_;
  bool found_ = false;
};

class JdbcReader : public SplitReader {
 public:
  JdbcReader(JdbcReaderThread::Open open, JdbcPosition position, JdbcTarget target)
      : position_(std::move(position)),
        first_(position_.rows),
        target_(std::move(target)),
        thread_(std::move(open)) {}

  Result<Poll> Next() override {
    if (ended_) return Poll(Finished{});
    RETURN_IF_ERROR(failure_);
    std::optional<JdbcBatch> batch = thread_.Take();
    if (!batch) return Poll(NothingYet{});
    failure_ = batch->rows.status();
    RETURN_IF_ERROR(failure_);
    position_ = std::move(batch->position);
    ended_ = batch->rows->chunk.empty() && batch->rows->rejected.empty();
    return ended_ ? Poll(Finished{}) : Poll(std::move(*batch->rows));
  }

  Position position() const override { return position_.ToText(target_.origin(), target_.file()); }
  int64_t records_passed() const override { return position_.rows - first_; }

 private:
  JdbcPosition position_;
  int64_t first_;  // position_.rows when it was opened
  JdbcTarget target_;
  Status failure_;
  bool ended_ = false;
  JdbcReaderThread thread_;
};

}  // namespace

std::unique_ptr<SplitEnumerator> JdbcSource::MakeEnumerator() {
  return std::make_unique<JdbcEnumerator>(target_, names_);
}

Result<std::unique_ptr<SplitReader>> JdbcSource::Open(const Split&, const Position& position) {
  ASSIGN_OR_RETURN(const JdbcPosition from, JdbcPosition::Parse(position, target_.origin(), target_.file()));
  const auto open = [from, target = target_, names = names_, schema = request_.schema] {
    return JdbcRows::Open(target, names, schema, from);
  };
  return std::unique_ptr<SplitReader>(std::make_unique<JdbcReader>(open, from, target_));
}

}  // namespace caudal
