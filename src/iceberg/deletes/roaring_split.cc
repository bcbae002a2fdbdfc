#include "iceberg/deletes/roaring_split.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

namespace caudal::iceberg {
namespace {

constexpr uint32_t kCookieWithRuns = 12347;     // low half; the high half is the number of containers − 1
constexpr uint32_t kCookieWithoutRuns = 12346;  // the number of containers follows
constexpr uint32_t kMostContainers = 1 << 16;
constexpr uint32_t kOffsetsFrom = 4;   // with runs, offsets stand from this many containers on
constexpr uint32_t kArrayMost = 4096;  // members of an array; more are a bitset
constexpr size_t kBitsetBytes = 8192;

class RoaringWalk {
 public:
  explicit RoaringWalk(std::string_view bytes) : bytes_(bytes) {}

  bool Walk64() {
    const auto count = Take<uint64_t>();
    int64_t before = -1;
    for (uint64_t i = 0; ok_ && i < count; ++i) {
      const auto high = Take<uint32_t>();
      if (high > INT32_MAX) return Fail("a position of more than 63 bits");
      if (static_cast<int64_t>(high) <= before) return Fail("bitmaps out of order");
      before = high;
      const size_t start = at_;
      if (ok_ && Walk32()) parts_.push_back({high, bytes_.substr(start, at_ - start)});
    }
    if (ok_ && at_ != bytes_.size()) return Fail("bytes behind the end");
    return ok_;
  }

  std::vector<RoaringPart>& parts() { return parts_; }
  const std::string& what() const { return what_; }
  size_t at() const { return at_; }

 private:
  struct Container {
    uint16_t key = 0;
    uint32_t members = 0;
  };

  bool Fail(std::string what) {
    if (ok_) what_ = std::move(what);
    ok_ = false;
    return false;
  }

  template <typename T>
  T Take() {
    T number{};
    if (ok_ && bytes_.size() - at_ < sizeof(T)) Fail("the bytes end too early");
    if (!ok_) return number;
    std::memcpy(&number, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return number;
  }

  bool Walk32() {
    const auto cookie = Take<uint32_t>();
    const bool runs = (cookie & 0xffff) == kCookieWithRuns;
    if (!runs && cookie != kCookieWithoutRuns) return Fail("no Roaring bitmap");
    const uint32_t size = runs ? (cookie >> 16) + 1 : Take<uint32_t>();
    if (size > kMostContainers) return Fail("more than 65536 containers");
    std::vector<uint8_t> is_run(runs ? (size + 7) / 8 : 0);
    for (uint8_t& byte : is_run) byte = Take<uint8_t>();
    std::vector<Container> containers;
    for (uint32_t i = 0; ok_ && i < size; ++i) {
      Container container{Take<uint16_t>()};
      container.members = Take<uint16_t>() + 1u;
      if (!containers.empty() && container.key <= containers.back().key)
        return Fail("containers out of order");
      containers.push_back(container);
    }
    if (!runs || size >= kOffsetsFrom) {
      for (uint32_t i = 0; ok_ && i < size; ++i) Take<uint32_t>();  // nobody needs them to read everything
    }
    for (uint32_t i = 0; ok_ && i < containers.size(); ++i) {
      if (runs && (is_run[i / 8] >> (i % 8) & 1) != 0) {
        WalkRuns(containers[i].members);
      } else {
        containers[i].members <= kArrayMost ? WalkArray(containers[i].members)
                                            : WalkBitset(containers[i].members);
      }
    }
    return ok_;
  }

  bool WalkRuns(uint32_t members) {
    const auto count = Take<uint16_t>();
    int64_t end = -2;  // of the run before: the next must leave a gap
    uint32_t sum = 0;
    for (uint32_t i = 0; ok_ && i < count; ++i) {
      const int64_t start = Take<uint16_t>();
      const int64_t length = Take<uint16_t>();
      if (start <= end + 1 || start + length > UINT16_MAX) return Fail("runs out of order");
      end = start + length;
      sum += static_cast<uint32_t>(length) + 1;
    }
    return sum == members || Fail("runs with another number of members than claimed");
  }

  bool WalkArray(uint32_t members) {
    int64_t before = -1;
    for (uint32_t i = 0; ok_ && i < members; ++i) {
      const int64_t member = Take<uint16_t>();
      if (member <= before) return Fail("members out of order");
      before = member;
    }
    return ok_;
  }

  bool WalkBitset(uint32_t members) {
    uint32_t sum = 0;
    for (size_t i = 0; ok_ && i < kBitsetBytes / sizeof(uint64_t); ++i) {
      sum += static_cast<uint32_t>(std::popcount(Take<uint64_t>()));
    }
    return sum == members || Fail("a bitset with another number of members than claimed");
  }

  std::string_view bytes_;
  size_t at_ = 0;
  bool ok_ = true;
  std::string what_;
  std::vector<RoaringPart> parts_;
};

}  // namespace

Result<std::vector<RoaringPart>> SplitRoaring(std::string_view bytes) {
  RoaringWalk walk(bytes);
  if (walk.Walk64()) return std::move(walk.parts());
  return Status::Data(fmt::format("no bitmap of positions: {} (at byte {})", walk.what(), walk.at()));
}

}  // namespace caudal::iceberg
