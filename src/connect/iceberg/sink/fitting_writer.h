// FittingWriter: rows of the declared columns as the table has them: a column that it lacks is left out, a
// type that is narrower there is narrowed. Rows of which something would be lost are handed back, for the
// dead-letter table ('caudal.schema-evolution' = 'dead-letter').
//
// One thread, as the writer behind it. -U and -D are never handed back: all that counts of them is the key,
// which is as it is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/sink.h"
#include "api/table.h"
#include "iceberg/metadata/table_metadata.h"

namespace caudal {

// What becomes of one column that rows bring.
struct ColumnFit {
  std::string name;
  Type type;              // as declared
  Type in_table;          // as it is written
  bool gone = false;      // the table has no such column
  bool required = false;  // the table wants a value, and rows may bring NULL
  bool is_as_it_is() const { return !gone && !required && type == in_table; }
};

struct FittedTable {
  Table table;                  // the declaration that the table would take, of stored columns alone
  std::vector<ColumnFit> fits;  // of each that rows bring
  bool is_as_it_is() const;
};

// REQUIRES: CheckKeyFits. Types that are not narrower in the table but others stay, to be refused as ever.
// User error if a key or what a table is partitioned by is among what it lacks.
Result<FittedTable> FitTo(const Table& declared, const iceberg::TableMetadata& table);

class FittingWriter : public SinkWriter {
 public:
  FittingWriter(const std::vector<ColumnFit>& fits, std::unique_ptr<SinkWriter> inner)
      : fits_(fits), inner_(std::move(inner)) {}

  bool full() const override { return inner_->full(); }
  Status Write(const Chunk& chunk, SinkRejects& rejects) override;
  Result<std::unique_ptr<SealedEpoch>> Seal(Epoch epoch) override { return inner_->Seal(epoch); }
  int64_t buffered_bytes() const override { return inner_->buffered_bytes(); }

 private:
  std::vector<ColumnFit> fits_;
  std::unique_ptr<SinkWriter> inner_;
};

}  // namespace caudal
