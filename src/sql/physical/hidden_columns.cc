#include "sql/physical/hidden_columns.h"

#include <array>

#include "api/source.h"

namespace caudal::sql {
namespace {

struct HiddenColumn {
  std::string_view name;
  TypeId id;
};

// In the order in which they stand.
constexpr std::array<HiddenColumn, 8> kHidden = {{{kClockColumn, TypeId::kBigInt},
                                                  {kSplitColumn, TypeId::kInt},
                                                  {kOffsetColumn, TypeId::kBigInt},
                                                  {kRawColumn, TypeId::kVarBinary},
                                                  {kFileColumn, TypeId::kVarChar},
                                                  {kKeyColumn, TypeId::kVarBinary},
                                                  {kHeadersColumn, TypeId::kMap},
                                                  {kArrivalColumn, TypeId::kBigInt}}};
constexpr unsigned kClock = 1;
constexpr unsigned kCoordinates = 2 | 4 | 8;
constexpr unsigned kFile = 16;
constexpr unsigned kKey = 32;
constexpr unsigned kHeaders = 64 | 128;

Type HiddenType(const HiddenColumn& column) {
  if (column.id == TypeId::kVarBinary) return Type::Bytes();
  if (column.id == TypeId::kVarChar) return Type::String();
  if (column.id == TypeId::kMap) return HeadersType();
  return Type(column.id, /*nullable=*/column.name == kArrivalColumn);
}

// Whether the operator compares rows with $clock.
bool DecidesLateness(const PlanNode& node) {
  if (const AggregateNode* aggregate = node.as<AggregateNode>()) return aggregate->windowed;
  if (const TopNNode* top = node.as<TopNNode>()) {
    return top->rowtime_first || top->emit == TopNNode::Emit::kOnWatermark;
  }
  return node.as<DeduplicateNode>() != nullptr;
}

// Whether rows can leave the plan here for the dead-letter table.
bool Rejects(const PlanNode& node) {
  return DecidesLateness(node) || node.as<CalcNode>() != nullptr || node.as<LookupNode>() != nullptr;
}

// Its rows are its own: hidden columns of the input end here.
bool MakesRows(const PlanNode& node) {
  return node.as<AggregateNode>() || node.as<MaterializeNode>() || node.as<TopNNode>() ||
         node.as<ValuesNode>();
}

void Append(Schema& schema, unsigned wanted) {
  for (size_t i = 0; i < kHidden.size(); ++i) {
    if (wanted >> i & 1) schema.fields.push_back({std::string(kHidden[i].name), HiddenType(kHidden[i])});
  }
}

}  // namespace

Draft AddHiddenColumns(const Draft& draft, const Table* dead_letter) {
  Draft result = draft;
  unsigned coordinates = 0;
  if (dead_letter != nullptr) {
    const auto shows = [&](std::string_view name) { return dead_letter->FindColumn(name) != nullptr; };
    coordinates = kCoordinates;
    if (shows("file") || shows("topic") || shows("partition") || shows("headers")) coordinates |= kFile;
    if (shows("key")) coordinates |= kKey;
    if (shows("headers")) coordinates |= kHeaders;
  }
  std::vector<unsigned> wanted(draft.nodes.size(), 0);  // at the output of each node
  for (size_t i = draft.nodes.size(); i-- > 0;) {
    const PlanNode& node = draft.nodes[i];
    unsigned need = MakesRows(node) ? 0 : wanted[i];
    if (DecidesLateness(node)) need |= kClock;
    if (Rejects(node)) need |= coordinates;
    for (const PlanInput& input : node.inputs) {
      const PlanNode& from = draft.nodes[static_cast<size_t>(input.node)];
      // Rows that an operator made have no place in a source.
      wanted[static_cast<size_t>(input.node)] |= MakesRows(from) ? need & kClock : need;
    }
  }
  for (size_t i = 0; i < result.nodes.size(); ++i) {
    PlanNode& node = result.nodes[i];
    // An input may have fewer of them, beyond an operator that makes rows.
    unsigned given = wanted[i];
    // It hands its rows on as they came, with the clock that it compares them with.
    if (coordinates != 0 && node.as<DeduplicateNode>() != nullptr) given |= kClock;
    if (!MakesRows(node) && !node.as<ScanNode>()) {
      for (const PlanInput& input : node.inputs) {
        const Schema& schema = result.nodes[static_cast<size_t>(input.node)].schema;
        for (size_t k = 0; k < kHidden.size(); ++k) {
          if (!schema.Find(kHidden[k].name)) given &= ~(1u << k);
        }
      }
    }
    if (CalcNode* calc = std::get_if<CalcNode>(&node.payload)) {
      const Schema& input = result.nodes[static_cast<size_t>(node.inputs[0].node)].schema;
      for (size_t k = 0; k < kHidden.size(); ++k) {
        if (!(given >> k & 1)) continue;
        const int column = *input.Find(kHidden[k].name);
        calc->projections.push_back(Expr::Column(column, input[column].name, input[column].type));
      }
    }
    Append(node.schema, given);
    if (DeduplicateNode* deduplicate = std::get_if<DeduplicateNode>(&node.payload)) {
      const Schema& input = result.nodes[static_cast<size_t>(node.inputs[0].node)].schema;
      deduplicate->clock_column = *input.Find(kClockColumn);
    }
  }
  return result;
}

}  // namespace caudal::sql
