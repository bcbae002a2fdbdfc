#include "iceberg/deletes/position_set.h"

#include <cstring>
#include <map>
#include <roaring/roaring.hh>

#include "iceberg/deletes/roaring_split.h"

namespace caudal::iceberg {
namespace {

uint32_t HighHalf(int64_t position) { return static_cast<uint32_t>(static_cast<uint64_t>(position) >> 32); }
uint32_t LowHalf(int64_t position) { return static_cast<uint32_t>(position); }

template <typename T>
void AppendNumber(T number, std::string* out) {
  out->append(reinterpret_cast<const char*>(&number), sizeof(number));
}

}  // namespace

struct PositionSet::Bitmaps {
  std::map<uint32_t, Roaring> by_high;  // none is empty
};

PositionSet::PositionSet() : bitmaps_(std::make_unique<Bitmaps>()) {}
PositionSet::~PositionSet() = default;
PositionSet::PositionSet(PositionSet&&) noexcept = default;
PositionSet& PositionSet::operator=(PositionSet&&) noexcept = default;

void PositionSet::Add(int64_t position) { bitmaps_->by_high[HighHalf(position)].add(LowHalf(position)); }

void PositionSet::AddAll(const PositionSet& other) {
  for (const auto& [high, bitmap] : other.bitmaps_->by_high) bitmaps_->by_high[high] |= bitmap;
}

void PositionSet::RemoveAll(const PositionSet& other) {
  for (const auto& [high, bitmap] : other.bitmaps_->by_high) {
    const auto mine = bitmaps_->by_high.find(high);
    if (mine == bitmaps_->by_high.end()) continue;
    mine->second -= bitmap;
    if (mine->second.isEmpty()) bitmaps_->by_high.erase(mine);
  }
}

bool PositionSet::Contains(int64_t position) const {
  const auto found = bitmaps_->by_high.find(HighHalf(position));
  return found != bitmaps_->by_high.end() && found->second.contains(LowHalf(position));
}

int64_t PositionSet::size() const {
  uint64_t size = 0;
  for (const auto& [high, bitmap] : bitmaps_->by_high) size += bitmap.cardinality();
  return static_cast<int64_t>(size);
}

bool PositionSet::operator==(const PositionSet& other) const {
  return bitmaps_->by_high == other.bitmaps_->by_high;
}

std::vector<int64_t> PositionSet::ToVector() const {
  std::vector<int64_t> positions;
  positions.reserve(static_cast<size_t>(size()));
  for (const auto& [high, bitmap] : bitmaps_->by_high) {
    for (uint32_t low : bitmap) positions.push_back(static_cast<int64_t>(uint64_t{high} << 32 | low));
  }
  return positions;
}

std::string PositionSet::Serialize() const {
  std::string bytes;
  AppendNumber<uint64_t>(bitmaps_->by_high.size(), &bytes);
  for (const auto& [high, bitmap] : bitmaps_->by_high) {
    AppendNumber<uint32_t>(high, &bytes);
    Roaring smallest = bitmap;
    smallest.runOptimize();
    std::string part(smallest.getSizeInBytes(), '\0');
    part.resize(smallest.write(part.data()));
    bytes += part;
  }
  return bytes;
}

Result<PositionSet> PositionSet::Deserialize(std::string_view bytes) {
  ASSIGN_OR_RETURN(const std::vector<RoaringPart> parts, SplitRoaring(bytes));
  PositionSet set;
  for (const RoaringPart& part : parts) {
    Roaring bitmap = Roaring::readSafe(part.bitmap.data(), part.bitmap.size());
    if (!bitmap.isEmpty()) set.bitmaps_->by_high.emplace(part.high, std::move(bitmap));
  }
  return set;
}

}  // namespace caudal::iceberg
