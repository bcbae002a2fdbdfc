// The pipeline file's parser: any bytes end in a PipelineFile or in one User error with a message; a file
// that was read can be held against queries.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "pipeline/pipeline_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto file = caudal::ParsePipelineFile(text, "pipeline.yaml");
  if (file.ok()) {
    const caudal::PipelineQueries queries{.checkpoint_names = {"main", "hot"},
                                          .tables = {"transactions", "silver_transactions", "hot"},
                                          .read_tables = {"transactions"},
                                          .written_tables = {"silver_transactions", "hot"},
                                          .watermarks = {{"transactions", 300'000}}};
    const caudal::Status fits = caudal::CheckPipeline(file.value(), queries);
    if (!fits.ok() && fits.message().empty()) std::abort();
    const caudal::Status twice = caudal::CheckPipeline(file.value(), {.checkpoint_names = {"main", "main"}});
    if (twice.ok()) std::abort();
    return 0;
  }
  const caudal::Status status = file.status();
  if (status.domain() != caudal::Domain::kUser || status.message().empty()) std::abort();
  return 0;
}
