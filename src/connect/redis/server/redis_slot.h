// The slots of a Redis cluster: each key lies in one of them, each of them on one server.
//
// Free functions; any thread.
#pragma once

#include <string>
#include <string_view>

namespace caudal {

inline constexpr int kRedisSlots = 16384;

// Of the text between the key's first '{' and the '}' behind it, if there is any; else of the whole key.
int RedisSlotOf(std::string_view key);
// A text whose slot that is, always the same: put in braces it makes any key one of the slot.
std::string RedisSlotTag(int slot);

}  // namespace caudal
