// XmlElement: the answers of an object store, taken apart: elements and their text, nothing else of XML.
//
// A pure function over bytes; any thread. Namespaces' prefixes, attributes and comments are passed over.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace caudal {

struct XmlElement {
  std::string name;
  std::string text;  // its own, without that of its children
  std::vector<XmlElement> children;

  const XmlElement* Find(std::string_view child) const;
  // The text of a child; empty if there is none.
  std::string Text(std::string_view child) const;
};

// External error: it is cut, or no XML.
Result<XmlElement> ParseXml(std::string_view text);
// For a text between tags.
std::string XmlEscaped(std::string_view text);

}  // namespace caudal
