// A segment of connector 'redis', whatever its bytes are: what is read of it becomes keys and actions that
// the script of a commit could take apart again, and what cannot be read is said.
//
// The first byte is the number of records that the manifest tells.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "connect/redis/redis_row.h"
#include "connect/redis/redis_segment.h"
#include "connect/redis/server/redis_slot.h"

namespace caudal {
namespace {

// As redis_script.cc goes through them; aborts where that would read past the end.
int64_t CountActions(const RedisCommand& actions) {
  int64_t count = 0;
  for (int64_t at = 0; at < actions.count; ++count) {
    const std::string_view action = actions.at(at);
    if (action == "D") {
      at += 1;
    } else if (action == "S") {
      at += 2;
    } else if (action == "H" && at + 2 < actions.count) {
      at += 3 + std::stoll(std::string(actions.at(at + 1))) + std::stoll(std::string(actions.at(at + 2)));
    } else {
      std::abort();
    }
    if (at > actions.count) std::abort();
  }
  return count;
}

void Apply(std::string_view segment, int64_t count) {
  SegmentReference reference;
  reference.path = "fuzz";
  reference.records = count;
  SegmentRecords records(std::string(segment), reference);
  if (!records.Open(kRedisSegmentMagic).ok()) return;
  auto layout = RedisLayout::Parse(records.header());
  if (!layout.ok()) return;
  // What was read is what would be written.
  const auto again = RedisLayout::Parse(layout->ToJson());
  if (!again.ok() || again->ToJson() != layout->ToJson()) std::abort();
  auto rows = RedisRowWriter::Make(std::move(layout).value());
  if (!rows.ok()) std::abort();
  RedisBatch batch;
  int64_t taken = 0;
  for (SegmentRecord record;;) {
    const auto more = records.Next(&record);
    if (!more.ok() || !*more || !rows->Read(record)) break;
    const int slot = RedisSlotOf(rows->key());
    if (slot < 0 || slot >= kRedisSlots) std::abort();
    rows->AppendTo(&batch);
    if (batch.keys.at(taken++) != rows->key()) std::abort();
  }
  if (batch.keys.count != taken || CountActions(batch.actions) != taken) std::abort();
}

}  // namespace
}  // namespace caudal

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  caudal::Apply({reinterpret_cast<const char*>(data) + 1, size - 1}, data[0]);
  return 0;
}
