// The script by which a batch of an epoch's rows is applied inside the server, or not at all.
//
// Plain text; docs/formats/redis-segment.md says what it keeps.
#pragma once

#include <string_view>

namespace caudal {

// KEYS: the ledger, then the key of each row. ARGV: generation and number of the epoch (generation 0: there
// is no ledger), the attempt, the number of the batch in it, '1' for the last one, milliseconds that keys
// live (0 = for ever), generation and number that the ledger is at or past unless the server has lost it;
// then, for each row, 'D' | 'S' value | 'H' count count (field value)… field…, with the fields that go at the
// end; then, if there is more, the slots of a cluster's marks. Answers {word, number, text}: 'ok' and the
// rows; 'older', nothing to do; 'done', the same; 'gap', the ledger is not where this attempt left it;
// 'lost', it is older than it was: generation and number; 'fail', the row and the server's error.
extern const std::string_view kRedisCommitScript;

}  // namespace caudal
