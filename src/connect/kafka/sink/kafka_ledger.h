// KafkaLedger: which epoch a sink has committed last, told by the cluster itself.
//
// The ledger is a compacted topic of one partition. A record is written in the transaction of the rows that
// it speaks of: key "<pipeline>/<query>@<identity>:<sink>", value {"generation": g, "number": n}
// (docs/formats/kafka-segment.md). Free functions; they block: I/O threads only.
#pragma once

#include <map>
#include <string>

#include "api/connector.h"
#include "base/status.h"
#include "data/message.h"

namespace caudal {

std::string KafkaLedgerKey(const ConnectorContext& context);
std::string KafkaLedgerValue(const Epoch& epoch);

// The last committed record of `key`; {0, 0}: there is none. REQUIRES: the caller has ended its own
// transactions, so that what is still open belongs to others, whose end is waited for: a record of ours may
// stand behind theirs. External error when that takes too long.
Result<Epoch> ReadKafkaLedger(const std::map<std::string, std::string>& properties, const std::string& topic,
                              const std::string& key);

}  // namespace caudal
