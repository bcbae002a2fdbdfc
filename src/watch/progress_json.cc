#include "watch/progress_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/text/time_text.h"

namespace caudal {
namespace {

using Json = nlohmann::ordered_json;

// 2026-03-01T12:00:00.000Z
std::string InstantText(int64_t millis) {
  char text[kTimestampTextSize];
  std::string instant(text, FormatTimestamp(millis * 1000, 3, text));
  instant[instant.find(' ')] = 'T';
  return instant + 'Z';
}

Json Offsets(const NodeState& scan) {
  Json offsets = Json::object();
  for (const SplitState& split : scan.splits) {
    const Json position = Json::parse(split.position, nullptr, false);
    offsets[split.id] = position.is_discarded() ? Json(split.position) : position;
  }
  return offsets;
}

Json Sources(const JobProgress& progress) {
  Json sources = Json::array();
  for (const NodeState& node : progress.checkpoints.nodes) {
    if (node.label == "Scan") sources.push_back({{"description", node.id}, {"endOffset", Offsets(node)}});
  }
  return sources;
}

// As of the last epoch, since the query began; bytes since the process did.
Json Sinks(const JobProgress& progress) {
  Json sinks = Json::array();
  const CheckpointProgress& checkpoints = progress.checkpoints;
  for (const NodeState& node : checkpoints.nodes) {
    if (node.label != "Sink") continue;
    int64_t rows = 0;
    for (const int64_t in : node.rows_in) rows += in;
    const auto bytes = checkpoints.bytes_written.find(node.id);
    sinks.push_back({{"description", node.id},
                     {"numOutputRows", rows},
                     {"bytesWritten", bytes == checkpoints.bytes_written.end() ? 0 : bytes->second}});
  }
  return sinks;
}

Json StateOperators(const JobProgress& progress) {
  Json states = Json::array();
  for (const OperatorProgress& node : progress.operators) {
    if (node.state_rows <= 0 && node.state_bytes <= 0) continue;
    states.push_back({{"operatorName", node.id},
                      {"numRowsTotal", node.state_rows},
                      {"memoryUsedBytes", node.state_bytes}});
  }
  return states;
}

// The least of the sources' watermarks; none before the first row and after the end.
Json EventTime(const JobProgress& progress) {
  int64_t least = Watermark::kEnd;
  for (const OperatorProgress& node : progress.operators) {
    if (node.label == "Scan") least = std::min(least, node.watermark.event);
  }
  if (least == Watermark::kEnd || least == Watermark::kNone) return Json::object();
  return {{"watermark", InstantText(least)}};
}

}  // namespace

std::string ProgressJson(const JobProgress& progress, const Batch& batch) {
  Json json = {{"id", progress.query},
               {"runId", std::to_string(progress.generation)},
               {"name", progress.query},
               {"timestamp", InstantText(batch.observed_millis)},
               {"batchId", batch.id},
               {"numInputRows", batch.rows},
               {"inputRowsPerSecond", batch.input_rps},
               {"processedRowsPerSecond", batch.processed_rps},
               {"durationMs", Json::object()},
               {"eventTime", EventTime(progress)},
               {"stateOperators", StateOperators(progress)},
               {"sources", Sources(progress)},
               {"sinks", Sinks(progress)}};
  if (batch.millis >= 0) json["durationMs"]["triggerExecution"] = batch.millis;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string SourceOffsets(const JobProgress& progress) {
  Json offsets = Json::object();
  for (const NodeState& node : progress.checkpoints.nodes) {
    if (node.label == "Scan") offsets[node.id] = Offsets(node);
  }
  return offsets.empty() ? "" : offsets.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace caudal
