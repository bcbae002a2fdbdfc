// Forward declarations and the shared handles of data/: the only place, with the headers it names, that may
// say shared_ptr. What a handle points to is immutable, so handles cross threads freely.
#pragma once

#include <memory>
#include <vector>

namespace caudal {

class Buffer;
class Column;
class Chunk;
class StringDictionary;
struct ChunkOrigin;
struct Selection;
enum class RowKind : unsigned char;

using BufferPtr = std::shared_ptr<const Buffer>;
using ColumnPtr = std::shared_ptr<const Column>;
using StringDictionaryPtr = std::shared_ptr<const StringDictionary>;
using ChunkOriginPtr = std::shared_ptr<const ChunkOrigin>;
using SelectionPtr = std::shared_ptr<const Selection>;
using RowKindsPtr = std::shared_ptr<const std::vector<RowKind>>;  // one a physical row

}  // namespace caudal
