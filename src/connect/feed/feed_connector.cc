#include "connect/feed/feed_connector.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "data/column_builder.h"

namespace caudal {
namespace {

constexpr OptionSpec kOptions[] = {
    {"caudal.splits", OptionSpec::Type::kInteger, "1", "how many splits the table has"},
    {"feed.changelog", OptionSpec::Type::kString, "I", "the row kinds that are fed: I, UB, UA, D"},
};

// Where a field of the requested schema comes from.
struct FeedField {
  enum class From { kValue, kSplit, kOffset, kRaw } from = From::kValue;
  size_t value = 0;  // position among the physical columns
};

class FeedReader : public SplitReader {
 public:
  FeedReader(const Feed* feed, const FeedRegistry* registry, Split split, Schema schema,
             std::vector<FeedField> fields, int64_t next)
      : feed_(feed),
        registry_(registry),
        split_(std::move(split)),
        schema_(std::move(schema)),
        fields_(std::move(fields)),
        first_(next),
        next_(next) {}

  Result<Poll> Next() override {
    const bool ended = feed_->ended();  // before the rows: what is pushed before the end is read
    std::vector<FeedRow> rows = feed_->Read(split_.ordinal, next_, registry_->chunk_rows());
    Result<Poll> poll(Poll(std::in_place_type<NothingYet>));
    if (!rows.empty()) {
      poll->emplace<SourceRows>(Convert(rows));
    } else if (ended) {
      poll->emplace<Finished>();
    }
    return poll;
  }
  Position position() const override { return fmt::format("{{\"rows\":{}}}", next_); }
  int64_t records_passed() const override { return next_ - first_; }
  Backlog backlog() const override {
    Backlog backlog;
    backlog.rows = feed_->size(split_.ordinal) - next_;
    return backlog;
  }

 private:
  SourceRows Convert(const std::vector<FeedRow>& rows) {
    std::vector<ColumnBuilder> builders;
    for (const Field& field : schema_.fields) builders.emplace_back(field.type);
    ColumnBuilder arrival(Type(TypeId::kBigInt));
    auto kinds = std::vector<RowKind>();
    SourceRows out;
    bool insert_only = true;
    bool arrivals = false;
    for (const FeedRow& row : rows) {
      const int64_t offset = next_++;
      if (row.malformed) {
        out.rejected.push_back(*row.malformed);
        out.rejected.back().offset = offset;
        continue;
      }
      for (size_t i = 0; i < fields_.size(); ++i) AppendField(fields_[i], row, offset, &builders[i]);
      out.offsets.push_back(offset);
      kinds.push_back(row.kind);
      insert_only = insert_only && row.kind == RowKind::kInsert;
      arrivals = arrivals || row.arrival_millis >= 0;
      if (row.arrival_millis < 0) {
        arrival.AppendNull();
      } else {
        arrival.Append<int64_t>(row.arrival_millis);
      }
    }
    const int32_t count = static_cast<int32_t>(kinds.size());
    std::vector<ColumnPtr> columns;
    for (ColumnBuilder& builder : builders) columns.push_back(builder.Finish());
    RowKindsPtr shared_kinds;
    if (!insert_only) shared_kinds = RowKindsPtr(new std::vector<RowKind>(std::move(kinds)));
    out.chunk = Chunk(std::move(columns), count, nullptr, std::move(shared_kinds));
    if (arrivals) out.arrival = arrival.Finish();
    return out;
  }
  void AppendField(const FeedField& field, const FeedRow& row, int64_t offset, ColumnBuilder* builder) {
    switch (field.from) {
      case FeedField::From::kValue:
        return builder->AppendValue(row.values[field.value]);
      case FeedField::From::kSplit:
        return builder->Append<int32_t>(split_.ordinal);
      case FeedField::From::kOffset:
        return builder->Append<int64_t>(offset);
      case FeedField::From::kRaw:
        return builder->AppendNull();
    }
  }

  const Feed* feed_;
  const FeedRegistry* registry_;
  Split split_;
  Schema schema_;
  std::vector<FeedField> fields_;
  const int64_t first_;
  int64_t next_;
};

class FeedEnumerator : public SplitEnumerator {
 public:
  explicit FeedEnumerator(int splits) : splits_(splits) {}
  Result<std::vector<Split>> Discover() override {
    std::vector<Split> found;
    for (int i = 0; i < splits_ && !discovered_; ++i) found.push_back({std::to_string(i), i});
    discovered_ = true;
    return found;
  }
  bool complete() const override { return discovered_; }
  std::string Snapshot() const override { return "{}"; }
  Status Restore(std::string_view) override { return Status(); }

 private:
  int splits_;
  bool discovered_ = false;
};

class FeedSource : public Source {
 public:
  FeedSource(const Feed* feed, const FeedRegistry* registry, int splits, Schema schema,
             std::vector<FeedField> fields)
      : feed_(feed),
        registry_(registry),
        splits_(splits),
        schema_(std::move(schema)),
        fields_(std::move(fields)) {}
  bool bounded() const override { return true; }  // a feed ends, in batch mode too
  std::unique_ptr<SplitEnumerator> MakeEnumerator() override {
    return std::make_unique<FeedEnumerator>(splits_);
  }
  Result<std::unique_ptr<SplitReader>> Open(const Split& split, const Position& position) override {
    int64_t next = 0;
    if (!position.empty()) {
      constexpr std::string_view kPrefix = "{\"rows\":";
      if (!position.starts_with(kPrefix)) {
        return Status::User(fmt::format("position '{}' is not one of a feed", position));
      }
      std::from_chars(position.data() + kPrefix.size(), position.data() + position.size(), next);
    }
    return std::unique_ptr<SplitReader>(new FeedReader(feed_, registry_, split, schema_, fields_, next));
  }

 private:
  const Feed* feed_;
  const FeedRegistry* registry_;
  int splits_;
  Schema schema_;
  std::vector<FeedField> fields_;
};

}  // namespace

std::span<const OptionSpec> FeedConnector::options() const { return kOptions; }

Result<ChangelogKinds> FeedConnector::source_changelog(const Table& table) const {
  uint8_t bits = 0;
  for (std::string_view text = table.option("feed.changelog", "I"); !text.empty();) {
    const size_t comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    static constexpr std::string_view kWords[] = {"I", "UB", "UA", "D"};
    const auto found = std::find(std::begin(kWords), std::end(kWords), word);
    if (found == std::end(kWords)) {
      return Status::User(fmt::format("option 'feed.changelog': '{}' is not I, UB, UA or D", word));
    }
    bits = static_cast<uint8_t>(bits | 1u << (found - std::begin(kWords)));
  }
  return ChangelogKinds(bits);
}

Result<std::unique_ptr<Source>> FeedConnector::MakeSource(const Table& table, const ReadRequest& request,
                                                          const ConnectorContext&) const {
  const std::string_view splits = table.option("caudal.splits", "1");
  int count = 1;
  std::from_chars(splits.data(), splits.data() + splits.size(), count);
  if (count < 1) return Status::User(fmt::format("option 'caudal.splits': '{}' is not 1 or more", splits));
  std::vector<size_t> physical(table.columns.size());
  size_t next = 0;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    physical[i] = next;
    if (table.columns[i].kind == TableColumn::Kind::kPhysical) ++next;
  }
  std::vector<FeedField> fields;
  size_t at = 0;
  for (const Field& field : request.schema.fields) {
    if (field.name == kSplitColumn) {
      fields.push_back({FeedField::From::kSplit});
    } else if (field.name == kOffsetColumn) {
      fields.push_back({FeedField::From::kOffset});
    } else if (field.name == kRawColumn) {
      fields.push_back({FeedField::From::kRaw});
    } else {
      const size_t column = static_cast<size_t>(request.columns[at++]);
      if (table.columns[column].kind != TableColumn::Kind::kPhysical) {
        return Status::User(fmt::format("connector 'feed' has no metadata for column '{}'", field.name));
      }
      fields.push_back({FeedField::From::kValue, physical[column]});
    }
  }
  return std::unique_ptr<Source>(
      new FeedSource(registry_->Get(table.name), registry_, count, request.schema, std::move(fields)));
}

}  // namespace caudal
