#include "connect/redis/server/redis_slot.h"

#include <array>
#include <cstdint>
#include <vector>

namespace caudal {
namespace {

// CRC-16 with polynomial 0x1021 that begins at 0 ("XMODEM"), as the cluster's specification says.
constexpr std::array<uint16_t, 256> MakeTable() {
  std::array<uint16_t, 256> table{};
  for (unsigned byte = 0; byte < 256; ++byte) {
    unsigned crc = byte << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021 : crc << 1;
    table[byte] = static_cast<uint16_t>(crc);
  }
  return table;
}
constexpr std::array<uint16_t, 256> kTable = MakeTable();

int SlotOfText(std::string_view text) {
  unsigned crc = 0;
  for (const char c : text) {
    crc = ((crc << 8) ^ kTable[((crc >> 8) ^ static_cast<unsigned char>(c)) & 0xff]) & 0xffff;
  }
  return static_cast<int>(crc % kRedisSlots);
}

// The smallest number whose digits give it, for each slot.
std::vector<int> FindTags() {
  std::vector<int> tags(kRedisSlots, -1);
  int missing = kRedisSlots;
  for (int number = 0; missing > 0; ++number) {
    int& tag = tags[static_cast<size_t>(SlotOfText(std::to_string(number)))];
    if (tag >= 0) continue;
    tag = number;
    --missing;
  }
  return tags;
}

}  // namespace

int RedisSlotOf(std::string_view key) {
  const size_t open = key.find('{');
  const size_t close = open == std::string_view::npos ? open : key.find('}', open);
  if (close == std::string_view::npos || close == open + 1) return SlotOfText(key);
  return SlotOfText(key.substr(open + 1, close - open - 1));
}

std::string RedisSlotTag(int slot) {
  static const std::vector<int> tags = FindTags();
  return std::to_string(tags[static_cast<size_t>(slot)]);
}

}  // namespace caudal
