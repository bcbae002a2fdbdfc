// IcebergSource: the rows of one snapshot of a table, once, or those of a table as it grows ('streaming'), in
// 'caudal.source.splits' splits.
//
// The snapshot to begin with is chosen when the splits are found and stands in their names, so that a query
// that is started again goes on in the same rows.
#pragma once

#include "api/connector.h"
#include "connect/iceberg/scan/iceberg_scan.h"
#include "connect/iceberg/scan/metadata_table.h"
#include "connect/iceberg/scan/stream_scan.h"

namespace caudal {

class IcebergSource : public Source {
 public:
  static Result<std::unique_ptr<Source>> Make(const Table& table, const ReadRequest& request,
                                              const ConnectorContext& context);

  bool bounded() const override { return !stream_.streaming; }
  std::unique_ptr<SplitEnumerator> MakeEnumerator() override;
  Result<std::unique_ptr<SplitReader>> Open(const Split& split, const Position& position) override;

 private:
  IcebergSource() = default;

  ScanRequest scan_;
  SnapshotChoice choice_;
  StreamOptions stream_;
  std::optional<MetadataKind> metadata_;  // nothing: the rows of the table itself
  int splits_ = 1;
};

}  // namespace caudal
