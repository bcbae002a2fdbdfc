// FileSource: a folder (or file) as a source of `caudal.source.splits` splits, bounded or watched.
//
// A split is a share of the names; its reader lists the folder itself, so the enumerator has nothing to find.
#pragma once

#include "api/connector.h"
#include "connect/filesystem/file_columns.h"
#include "connect/filesystem/file_options.h"

namespace caudal {

class FileSource : public Source {
 public:
  static Result<std::unique_ptr<Source>> Make(const Table& table, const ReadRequest& request,
                                              const ConnectorContext& context);

  bool bounded() const override { return options_.monitor_millis < 0; }
  std::unique_ptr<SplitEnumerator> MakeEnumerator() override;
  Result<std::unique_ptr<SplitReader>> Open(const Split& split, const Position& position) override;

 private:
  FileSource(FileTableOptions options, FileColumns columns, Options format_options, FileSystem* files,
             Env* env)
      : options_(std::move(options)),
        columns_(std::move(columns)),
        format_options_(std::move(format_options)),
        files_(files),
        env_(env) {}

  FileTableOptions options_;
  FileColumns columns_;
  Options format_options_;
  FileSystem* files_;
  Env* env_;
};

}  // namespace caudal
