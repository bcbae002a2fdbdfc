#include "run/epoch/accounting.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace caudal {
namespace {

Status Differs(std::string what) {
  return Status::Internal("accounting: " + std::move(what))
      .Hint("the epoch was not committed; the query starts again from the last checkpoint");
}

}  // namespace

void AddFates(const std::vector<CountedFate>& from, std::vector<CountedFate>* into) {
  for (const CountedFate& fate : from) {
    auto same = [&](const CountedFate& each) { return each.fate == fate.fate && each.name == fate.name; };
    auto found = std::find_if(into->begin(), into->end(), same);
    if (found == into->end()) {
      into->push_back(fate);
    } else {
      found->rows += fate.rows;
    }
  }
}

int64_t NodeTotals::fate_total() const {
  int64_t total = 0;
  for (const CountedFate& fate : fates) total += fate.rows;
  return total;
}

int64_t NodeTotals::fate(std::string_view name) const {
  int64_t total = 0;
  for (const CountedFate& fate : fates) total += fate.fate == name ? fate.rows : 0;
  return total;
}

void NodeTotals::GoOnFrom(const NodeState* base, NodeState* node) const {
  node->rows_in = rows_in;
  node->rows_out = rows_out;
  node->fates = fates;
  if (base == nullptr) return;
  for (size_t port = 0; port < std::min(rows_in.size(), base->rows_in.size()); ++port) {
    node->rows_in[port] += base->rows_in[port];
  }
  node->rows_out += base->rows_out;
  AddFates(base->fates, &node->fates);
}

void EpochTotals::Add(const NodeAck& ack) {
  NodeTotals& totals = nodes_[static_cast<size_t>(ack.node)];
  totals.rows_in.resize(std::max(totals.rows_in.size(), ack.rows_in.size()));
  for (size_t i = 0; i < ack.rows_in.size(); ++i) totals.rows_in[i] += ack.rows_in[i];
  totals.rows_out += ack.rows_out;
  totals.rows_read += ack.rows_read;
  totals.records_passed += ack.records_passed;
  AddFates(ack.fates, &totals.fates);
  if (!first_dead_) first_dead_ = ack.first_dead;
  for (const EdgeRows& edge : ack.edges) edges_[{edge.reader, edge.port}] += edge.rows;
}

Status EpochTotals::Check(const std::vector<std::string>& ids, const std::vector<NodeRole>& roles,
                          const std::vector<int64_t>& recounts) const {
  for (const auto& [edge, sent] : edges_) {
    const std::vector<int64_t>& taken = node(edge.first).rows_in;
    const int64_t rows = taken[static_cast<size_t>(edge.second)];
    if (sent != rows) {
      return Differs(fmt::format("{} rows were sent to '{}' and {} arrived", sent,
                                 ids[static_cast<size_t>(edge.first)], rows));
    }
  }
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const NodeTotals& totals = nodes_[i];
    const int64_t in = std::accumulate(totals.rows_in.begin(), totals.rows_in.end(), int64_t{0});
    const int64_t fates = totals.fate_total();
    switch (roles[i]) {
      case NodeRole::kSource:
        if (totals.records_passed != totals.rows_read) {
          return Differs(fmt::format("the positions of source '{}' moved over {} records and {} were read",
                                     ids[i], totals.records_passed, totals.rows_read));
        }
        if (totals.rows_read != totals.rows_out + fates) {
          return Differs(fmt::format("source '{}' read {} rows, passed on {} and gave {} a fate", ids[i],
                                     totals.rows_read, totals.rows_out, fates));
        }
        break;
      case NodeRole::kPasses:
        if (in != totals.rows_out + fates) {
          return Differs(fmt::format("operator '{}' took {} rows, passed on {} and gave {} a fate", ids[i],
                                     in, totals.rows_out, fates));
        }
        break;
      case NodeRole::kAbsorbs:
        if (in != fates) {
          return Differs(fmt::format("operator '{}' took {} rows and gave {} a fate", ids[i], in, fates));
        }
        break;
      case NodeRole::kSink:
        if (in != fates) {
          return Differs(fmt::format("sink '{}' took {} rows and gave {} a fate", ids[i], in, fates));
        }
        if (recounts[i] != totals.fate("published")) {
          return Differs(fmt::format("sink '{}' published {} rows and recounts {}", ids[i],
                                     totals.fate("published"), recounts[i]));
        }
        break;
    }
  }
  return Status();
}

}  // namespace caudal
