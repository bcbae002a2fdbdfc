// ZstdTrial: how zstd is to go over the pages of one column, found on its first rows.
//
// Level 1 looks for repetitions through a table of 64 KB. In text that is random (ids, addresses) nearly all
// that it finds are the lengths that stand before PLAIN values, and looking takes longer than everything else
// that is done to such a column. With a table of a few entries, and steps that grow while nothing is found,
// the symbols are still coded by how often they occur, which is all that can be had there. Whether a column
// is such a one is tried, since nothing else tells. The same rows always give the same answer. Any thread.
#pragma once

#include <memory>

#include "format/parquet/parquet_store.h"

namespace arrow::util {
class CodecOptions;
}

namespace caudal {

// Null: as the level says, since the column is no text, has codes, is small or of long values, or would come
// out longer than is worth it. `more_follows`: the store is the beginning of a larger one, of which more may
// be tried.
std::shared_ptr<arrow::util::CodecOptions> CheaperZstd(const ParquetStore& store, bool more_follows,
                                                       int level);

}  // namespace caudal
