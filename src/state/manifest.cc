#include "state/manifest.h"

#include "base/crc32c.h"
#include "state/byte_codec.h"

namespace caudal {
namespace {

constexpr std::string_view kManifestMagic = "CDLMANIF";
// Bits of one byte; before there was a second one, programs took any value but 0 for final.
constexpr uint8_t kFinal = 1;
constexpr uint8_t kDrained = 2;
constexpr size_t kManifestHeader = 8 + 4 + 4 + 8;  // magic, version, CRC of the body, length of the body

void WriteWatermark(const Watermark& watermark, ByteWriter& out) {
  out.Integer(watermark.event);
  out.Integer(watermark.processing);
}

Watermark ReadWatermark(ByteReader& in) {
  Watermark watermark;
  watermark.event = in.Integer<int64_t>();
  watermark.processing = in.Integer<int64_t>();
  return watermark;
}

void WriteEpoch(const Epoch& epoch, ByteWriter& out) {
  out.Integer(epoch.generation);
  out.Integer(epoch.number);
}

Epoch ReadEpoch(ByteReader& in) {
  Epoch epoch;
  epoch.generation = in.Integer<int64_t>();
  epoch.number = in.Integer<int64_t>();
  return epoch;
}

template <typename T, typename Write>
void WriteList(const std::vector<T>& list, ByteWriter& out, Write write) {
  out.Integer(static_cast<uint32_t>(list.size()));
  for (const T& element : list) write(element);
}

template <typename T, typename Read>
void ReadList(size_t least, ByteReader& in, std::vector<T>* list, Read read) {
  const uint32_t count = in.Count(least);
  list->reserve(count);
  for (uint32_t i = 0; i < count && in.ok(); ++i) list->push_back(read());
}

void WriteSplit(const SplitState& split, ByteWriter& out) {
  out.String(split.id);
  out.Integer(split.ordinal);
  out.String(split.position);
  out.Integer(split.clock);
  out.Integer(static_cast<uint8_t>(split.finished));
}

SplitState ReadSplit(ByteReader& in) {
  SplitState split;
  split.id = in.String();
  split.ordinal = in.Integer<int32_t>();
  split.position = in.String();
  split.clock = in.Integer<int64_t>();
  split.finished = in.Integer<uint8_t>() != 0;
  return split;
}

void WriteSegment(const SegmentRef& segment, ByteWriter& out) {
  out.String(segment.table);
  out.String(segment.file);
  out.Integer(segment.offset);
  out.Integer(segment.length);
  out.Integer(segment.crc);
}

SegmentRef ReadSegment(ByteReader& in) {
  SegmentRef segment;
  segment.table = in.String();
  segment.file = in.String();
  segment.offset = in.Integer<int64_t>();
  segment.length = in.Integer<int64_t>();
  segment.crc = in.Integer<uint32_t>();
  return segment;
}

void WriteCommittable(const StoredCommittable& committable, ByteWriter& out) {
  out.String(committable.payload);
  out.Integer(committable.rows_added);
  out.Integer(committable.rows_removed);
  out.Integer(committable.bytes);
}

StoredCommittable ReadCommittable(ByteReader& in) {
  StoredCommittable committable;
  committable.payload = in.String();
  committable.rows_added = in.Integer<int64_t>();
  committable.rows_removed = in.Integer<int64_t>();
  committable.bytes = in.Integer<int64_t>();
  return committable;
}

void WriteNode(const NodeState& node, ByteWriter& out) {
  out.String(node.id);
  out.String(node.label);
  out.String(node.fingerprint);
  WriteList(node.tables, out, [&](const TableFingerprint& table) {
    out.String(table.table);
    out.String(table.fingerprint);
  });
  WriteList(node.segments, out, [&](const SegmentRef& segment) { WriteSegment(segment, out); });
  WriteWatermark(node.watermark, out);
  WriteList(node.rows_in, out, [&](int64_t rows) { out.Integer(rows); });
  out.Integer(node.rows_out);
  WriteList(node.fates, out, [&](const CountedFate& fate) {
    out.String(fate.fate);
    out.String(fate.name);
    out.Integer(fate.rows);
  });
  WriteList(node.splits, out, [&](const SplitState& split) { WriteSplit(split, out); });
  out.String(node.enumerator);
  WriteList(node.committables, out, [&](const StoredCommittable& one) { WriteCommittable(one, out); });
  out.Integer(node.tasks);
  out.Integer(node.state_rows);
  out.Integer(node.state_bytes);
}

NodeState ReadNode(ByteReader& in, uint32_t version) {
  NodeState node;
  node.id = in.String();
  node.label = in.String();
  node.fingerprint = in.String();
  ReadList(8, in, &node.tables, [&] {
    TableFingerprint table;
    table.table = in.String();
    table.fingerprint = in.String();
    return table;
  });
  ReadList(28, in, &node.segments, [&] { return ReadSegment(in); });
  node.watermark = ReadWatermark(in);
  ReadList(8, in, &node.rows_in, [&] { return in.Integer<int64_t>(); });
  node.rows_out = in.Integer<int64_t>();
  ReadList(16, in, &node.fates, [&] {
    CountedFate fate;
    fate.fate = in.String();
    fate.name = in.String();
    fate.rows = in.Integer<int64_t>();
    return fate;
  });
  ReadList(21, in, &node.splits, [&] { return ReadSplit(in); });
  node.enumerator = in.String();
  ReadList(28, in, &node.committables, [&] { return ReadCommittable(in); });
  if (version >= 2) {
    node.tasks = in.Integer<int32_t>();
    node.state_rows = in.Integer<int64_t>();
    node.state_bytes = in.Integer<int64_t>();
  }
  return node;
}

Status Damaged(std::string what) { return Status::Data("manifest is damaged: " + std::move(what)); }

}  // namespace

std::string EncodeManifest(const Manifest& manifest) {
  ByteWriter body;
  body.String(manifest.identity);
  body.String(manifest.query);
  WriteEpoch(manifest.epoch, body);
  WriteEpoch(manifest.previous, body);
  body.Integer(manifest.created_micros);
  body.Integer(manifest.processing);
  body.Integer(static_cast<uint8_t>((manifest.final ? kFinal : 0) | (manifest.drained ? kDrained : 0)));
  WriteList(manifest.nodes, body, [&](const NodeState& node) { WriteNode(node, body); });
  const std::string bytes = body.Take();
  ByteWriter header;
  header.Integer(kManifestVersion);
  header.Integer(Crc32c(bytes));
  header.Integer(static_cast<uint64_t>(bytes.size()));
  return std::string(kManifestMagic) + header.Take() + bytes;
}

Result<Manifest> DecodeManifest(std::string_view bytes) {
  if (bytes.size() < kManifestHeader)
    return Damaged("it has only " + std::to_string(bytes.size()) + " bytes");
  if (!bytes.starts_with(kManifestMagic))
    return Damaged("it does not begin with the magic " + std::string(kManifestMagic));
  ByteReader header(bytes.substr(kManifestMagic.size(), kManifestHeader - kManifestMagic.size()));
  const uint32_t version = header.Integer<uint32_t>();
  const uint32_t crc = header.Integer<uint32_t>();
  const uint64_t length = header.Integer<uint64_t>();
  if (version == 0 || version > kManifestVersion) {
    return Status::Data("manifest has format " + std::to_string(version) + ", this program reads 1 to " +
                        std::to_string(kManifestVersion))
        .Hint("run the version of caudal that wrote it, or a newer one");
  }
  const std::string_view body = bytes.substr(kManifestHeader);
  if (body.size() != length) {
    return Damaged(std::to_string(body.size()) + " bytes instead of " + std::to_string(length));
  }
  if (Crc32c(body) != crc) return Damaged("its checksum does not match");
  ByteReader in(body);
  Manifest manifest;
  manifest.identity = in.String();
  manifest.query = in.String();
  manifest.epoch = ReadEpoch(in);
  manifest.previous = ReadEpoch(in);
  manifest.created_micros = in.Integer<int64_t>();
  manifest.processing = in.Integer<int64_t>();
  const uint8_t end = in.Integer<uint8_t>();
  manifest.final = end != 0;
  manifest.drained = (end & kDrained) != 0;
  ReadList(76, in, &manifest.nodes, [&] { return ReadNode(in, version); });
  if (!in.ok() || !in.at_end())
    return Damaged("its body does not have the form of format " + std::to_string(version));
  return manifest;
}

}  // namespace caudal
