// The Avro schemas of manifests and manifest lists, and values of partitions in Avro.
//
// Pure functions; any thread.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "data/value.h"
#include "format/avro/schema.h"
#include "format/avro/value.h"
#include "iceberg/metadata/table_metadata.h"

namespace caudal::iceberg {

// The type of each field of a partition. User error for a transform that is not known or has no meaning for
// its column, and for a column that the schema lacks.
Result<std::vector<Type>> PartitionTypes(const Schema& schema, const PartitionSpec& spec);

// Of the records of a manifest, in the order that ManifestWriter fills. `types` as PartitionTypes gives them.
avro::Schema ManifestEntrySchema(int format_version, const PartitionSpec& spec,
                                 const std::vector<Type>& types);
const avro::Schema& ManifestListSchema(int format_version);  // never destroyed

// A field's value as its union of null and its type. REQUIRES: it is one of the type's.
avro::Value PartitionToAvro(const Type& type, const Value& value);
// Out of any Avro primitive: what was written decides the form, so that the table's schema is not needed.
Value PartitionFromAvro(const avro::Schema& schema, avro::NodeId type, const avro::Value& value);

// A name that Avro allows, made as the Java library makes it: "a-b" is "a_x2Db".
std::string AvroName(const std::string& name);

}  // namespace caudal::iceberg
