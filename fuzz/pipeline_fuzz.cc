// The pipeline file's parser: any bytes end in a PipelineFile or in one User error with a message.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "pipeline/pipeline_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto file = caudal::ParsePipelineFile(text, "pipeline.yaml");
  if (file.ok()) return 0;
  const caudal::Status status = file.status();
  if (status.domain() != caudal::Domain::kUser || status.message().empty()) std::abort();
  return 0;
}
