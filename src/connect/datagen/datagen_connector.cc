#include "connect/datagen/datagen_connector.h"

#include <fmt/format.h>

#include <charconv>

#include "connect/datagen/datagen_reader.h"

namespace caudal {
namespace {

using Kind = OptionSpec::Type;

constexpr OptionSpec kOptions[] = {
    {"rows-per-second", Kind::kInteger, "10000", "how fast"},
    {"number-of-rows", Kind::kInteger, "", "how many; unset: no end"},
    {"scan.parallelism", Kind::kNotBuilt, "", "leave it out; one task makes the rows"},
    {"fields.*", Kind::kString, "",
     "fields.<name>.kind ('random', 'sequence'), .min, .max, .start, .end, .length, .null-rate, .max-past"},
};

class OneSplit : public SplitEnumerator {
 public:
  Result<std::vector<Split>> Discover() override {
    std::vector<Split> found;
    if (!std::exchange(discovered_, true)) found.push_back({"0", 0});
    return found;
  }
  bool complete() const override { return discovered_; }
  std::string Snapshot() const override { return "{}"; }
  Status Restore(std::string_view) override { return Status(); }

 private:
  bool discovered_ = false;
};

class DatagenSource : public Source {
 public:
  DatagenSource(DatagenOptions options, std::vector<DatagenReader::Output> outputs, Env* env)
      : options_(std::move(options)), outputs_(std::move(outputs)), env_(env) {}
  bool bounded() const override {
    return DatagenReader::TotalRows(options_) < std::numeric_limits<int64_t>::max();
  }
  std::unique_ptr<SplitEnumerator> MakeEnumerator() override { return std::make_unique<OneSplit>(); }
  Result<std::unique_ptr<SplitReader>> Open(const Split&, const Position& position) override {
    constexpr std::string_view kPrefix = "{\"row\":";
    int64_t next = 0;
    if (!position.empty()) {
      if (!position.starts_with(kPrefix)) {
        return Status::User(fmt::format("position '{}' is not one of 'datagen'", position));
      }
      std::from_chars(position.data() + kPrefix.size(), position.data() + position.size(), next);
    }
    return std::unique_ptr<SplitReader>(new DatagenReader(&options_, outputs_, env_, next));
  }

 private:
  DatagenOptions options_;
  std::vector<DatagenReader::Output> outputs_;
  Env* env_;
};

}  // namespace

std::span<const OptionSpec> DatagenConnector::options() const { return kOptions; }

Result<std::unique_ptr<Source>> DatagenConnector::MakeSource(const Table& table, const ReadRequest& request,
                                                             const ConnectorContext& context) const {
  ASSIGN_OR_RETURN(DatagenOptions options, DatagenOptions::From(table));
  std::vector<int> physical;  // by position in Table::columns
  int next = 0;
  for (const TableColumn& column : table.columns) {
    physical.push_back(next);
    if (column.kind == TableColumn::Kind::kPhysical) ++next;
  }
  std::vector<DatagenReader::Output> outputs;
  size_t at = 0;
  for (const Field& field : request.schema.fields) {
    int source = 0;
    if (field.name == kOffsetColumn) {
      source = -1;
    } else if (field.name == kSplitColumn) {
      source = -2;
    } else if (field.name == kRawColumn) {
      source = -3;
    } else {
      source = physical[static_cast<size_t>(request.columns[at++])];
    }
    outputs.push_back({field, source});
  }
  Env* env = context.env == nullptr ? Env::Real() : context.env;
  return std::unique_ptr<Source>(new DatagenSource(std::move(options), std::move(outputs), env));
}

}  // namespace caudal
