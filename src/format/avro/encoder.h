// Encode: a Value in Avro's binary form.
//
// A pure function; any thread.
#pragma once

#include <string>

#include "base/status.h"
#include "format/avro/schema.h"
#include "format/avro/value.h"

namespace caudal::avro {

// Appends the datum of the schema's root. Internal error that names the field path if the value is not one of
// the schema's: whoever built it is wrong; `out` then holds a part of it.
Status Encode(const Schema& schema, const Value& value, std::string* out);

// Parts of the binary form that a container needs as well.
void EncodeLong(int64_t value, std::string* out);
void EncodeBytes(std::string_view bytes, std::string* out);

}  // namespace caudal::avro
