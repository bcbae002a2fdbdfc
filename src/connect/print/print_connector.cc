#include "connect/print/print_connector.h"

#include <fmt/format.h>

#include "api/boolean_option.h"
#include "connect/print/row_text.h"

namespace caudal {
namespace {

constexpr OptionSpec kOptions[] = {
    {"print-identifier", OptionSpec::Type::kString, "", "what each line begins with"},
    {"standard-error", OptionSpec::Type::kBoolean, "false", "print to standard error"},
    {"sink.parallelism", OptionSpec::Type::kNotBuilt, "",
     "leave it out; the tasks of a query are 'parallelism.default'"},
};

// The lines themselves are the committable: Commit needs nothing else.
class PrintedEpoch : public SealedEpoch {
 public:
  explicit PrintedEpoch(Committable lines) : lines_(std::move(lines)) {}
  Result<Committable> Prepare() override { return lines_; }

 private:
  Committable lines_;
};

class PrintWriter : public SinkWriter {
 public:
  explicit PrintWriter(std::string prefix) : prefix_(std::move(prefix)) {}
  Status Write(const Chunk& chunk, SinkRejects&) override {
    const RowSet rows = chunk.rows();
    for (int32_t i = 0; i < rows.count; ++i) {
      lines_.payload.append(prefix_);
      AppendRowText(chunk, rows[i], &lines_.payload);
      lines_.payload.push_back('\n');
      ++(IsAdd(chunk.kind(rows[i])) ? lines_.rows_added : lines_.rows_removed);
    }
    return Status();
  }
  Result<std::unique_ptr<SealedEpoch>> Seal(Epoch) override {
    lines_.bytes = static_cast<int64_t>(lines_.payload.size());
    return std::unique_ptr<SealedEpoch>(new PrintedEpoch(std::exchange(lines_, Committable())));
  }
  int64_t buffered_bytes() const override { return static_cast<int64_t>(lines_.payload.capacity()); }

 private:
  std::string prefix_;
  Committable lines_;
};

class PrintCommitter : public SinkCommitter {
 public:
  explicit PrintCommitter(std::FILE* out) : out_(out) {}
  Result<Epoch> LastCommitted() override { return Epoch(); }
  CommitResult Commit(Epoch, std::span<const Committable> committables) override {
    for (const Committable& lines : committables) {
      std::fwrite(lines.payload.data(), 1, lines.payload.size(), out_);
    }
    if (std::fflush(out_) != 0) {
      return {CommitOutcome::kRefused,
              Status::External("the output that 'print' writes to is closed", Retry::kNo)};
    }
    return {};
  }

 private:
  std::FILE* out_;
};

class PrintSink : public Sink {
 public:
  PrintSink(std::FILE* out, std::string identifier) : out_(out), identifier_(std::move(identifier)) {}
  ChangelogKinds accepts() const override { return ChangelogKinds::All(); }
  std::string_view guarantee() const override { return "at least once"; }
  Result<std::unique_ptr<SinkWriter>> MakeWriter(int task) override {
    std::string prefix = identifier_;
    if (task > 0) prefix += fmt::format("{}{}", prefix.empty() ? "" : ":", task + 1);
    if (!prefix.empty()) prefix += "> ";
    return std::unique_ptr<SinkWriter>(new PrintWriter(std::move(prefix)));
  }
  Result<std::unique_ptr<SinkCommitter>> MakeCommitter() override {
    return std::unique_ptr<SinkCommitter>(new PrintCommitter(out_));
  }

 private:
  std::FILE* out_;
  std::string identifier_;
};

}  // namespace

std::span<const OptionSpec> PrintConnector::options() const { return kOptions; }

Result<std::unique_ptr<Sink>> PrintConnector::MakeSink(const Table& table, const ConnectorContext&) const {
  std::FILE* out = BooleanOption(table, "standard-error") ? err_ : out_;
  return std::unique_ptr<Sink>(new PrintSink(out, std::string(table.option("print-identifier"))));
}

}  // namespace caudal
