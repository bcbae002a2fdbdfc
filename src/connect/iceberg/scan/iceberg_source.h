// IcebergSource: the rows of one snapshot of a table, once: a bounded source of 'caudal.source.splits'
// splits.
//
// The snapshot is chosen when the splits are found and stands in their names, so that a query that is started
// again reads the same one.
#pragma once

#include "api/connector.h"
#include "connect/iceberg/scan/iceberg_scan.h"
#include "connect/iceberg/scan/metadata_table.h"

namespace caudal {

class IcebergSource : public Source {
 public:
  static Result<std::unique_ptr<Source>> Make(const Table& table, const ReadRequest& request,
                                              const ConnectorContext& context);

  bool bounded() const override { return true; }
  std::unique_ptr<SplitEnumerator> MakeEnumerator() override;
  Result<std::unique_ptr<SplitReader>> Open(const Split& split, const Position& position) override;

 private:
  IcebergSource() = default;

  Table table_;
  IcebergOptions options_;
  SnapshotChoice choice_;
  std::optional<MetadataKind> metadata_;  // nothing: the rows of the table itself
  std::vector<ScanColumn> columns_;
  int splits_ = 1;
  FileSystem* files_ = nullptr;
  Env* env_ = nullptr;
};

}  // namespace caudal
