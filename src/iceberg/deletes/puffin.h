// Puffin files: blobs one after the other, and a footer of JSON that says where each is and what it means.
//
// Values and pure functions; a writer belongs to one thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace caudal::iceberg {

struct PuffinBlob {
  std::string type;
  std::vector<int32_t> fields;  // ids of the columns that it was made of
  int64_t snapshot_id = -1;     // −1: that of the commit which adds it, as for deletion vectors
  int64_t sequence_number = -1;
  int64_t offset = 0;
  int64_t length = 0;
  std::optional<std::string> compression_codec;
  std::map<std::string, std::string> properties;
  bool operator==(const PuffinBlob&) const = default;
};

struct PuffinFooter {
  std::vector<PuffinBlob> blobs;
  std::map<std::string, std::string> properties;
  bool operator==(const PuffinFooter&) const = default;
};

// Of a whole file. Data error that says what is wrong; a compressed footer is refused by name.
Result<PuffinFooter> ReadPuffinFooter(std::string_view file);

class PuffinWriter {
 public:
  PuffinWriter();

  // Appends the bytes; `blob` says the rest. Answers where they are: what the manifest must repeat.
  PuffinBlob Add(std::string_view bytes, PuffinBlob blob);
  // A deletion vector of `data_file`, which must be written the same here, in the manifest and everywhere
  // else.
  PuffinBlob AddDeletionVector(std::string_view bytes, const std::string& data_file, int64_t positions);

  // The whole file. Nothing may be added afterwards.
  std::string Finish(const std::string& created_by);

 private:
  std::string file_;
  PuffinFooter footer_;
};

}  // namespace caudal::iceberg
