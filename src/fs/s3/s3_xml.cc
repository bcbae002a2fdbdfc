#include "fs/s3/s3_xml.h"

#include <charconv>

namespace caudal {
namespace {

constexpr int kDeepestElement = 32;

Status NoXml() { return Status::External("the store's answer is cut or no XML", Retry::kBackoff); }

void AppendUtf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    *out += static_cast<char>(code);
  } else if (code < 0x800) {
    *out += static_cast<char>(0xC0 | code >> 6);
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    *out += static_cast<char>(0xE0 | code >> 12);
    *out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    *out += static_cast<char>(0xF0 | (code >> 18 & 7));
    *out += static_cast<char>(0x80 | (code >> 12 & 0x3F));
    *out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    *out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

// "amp" of "&amp;"; false: it is none.
bool AppendEntity(std::string_view name, std::string* out) {
  if (name == "amp") return out->push_back('&'), true;
  if (name == "lt") return out->push_back('<'), true;
  if (name == "gt") return out->push_back('>'), true;
  if (name == "quot") return out->push_back('"'), true;
  if (name == "apos") return out->push_back('\''), true;
  if (!name.starts_with('#')) return false;
  name.remove_prefix(1);
  const bool hexadecimal = name.starts_with('x');
  if (hexadecimal) name.remove_prefix(1);
  uint32_t code = 0;
  const auto [end, error] =
      std::from_chars(name.data(), name.data() + name.size(), code, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != name.data() + name.size()) return false;
  AppendUtf8(code, out);
  return true;
}

class XmlReader {
 public:
  explicit XmlReader(std::string_view text) : text_(text) {}

  Result<XmlElement> ReadDocument() {
    for (;;) {
      const size_t tag = text_.find('<', at_);
      if (tag == std::string_view::npos) return NoXml();
      at_ = tag + 1;
      if (!SkipMarkup()) break;
    }
    return ReadElement(0);
  }

 private:
  // Behind a '<': a prolog, comment or declaration. False: it is an element.
  bool SkipMarkup() {
    const std::string_view rest = text_.substr(at_);
    std::string_view end;
    if (rest.starts_with("!--"))
      end = "-->";
    else if (rest.starts_with("?"))
      end = "?>";
    else if (rest.starts_with("!"))
      end = ">";
    if (end.empty()) return false;
    const size_t found = text_.find(end, at_);
    at_ = found == std::string_view::npos ? text_.size() : found + end.size();
    return true;
  }

  Status AppendText(std::string_view raw, std::string* out) {
    for (size_t i = 0; i < raw.size(); ++i) {
      if (raw[i] != '&') {
        *out += raw[i];
        continue;
      }
      const size_t end = raw.find(';', i);
      if (end == std::string_view::npos || !AppendEntity(raw.substr(i + 1, end - i - 1), out)) return NoXml();
      i = end;
    }
    return Status();
  }

  // Behind its '<'.
  Result<XmlElement> ReadElement(int depth) {
    if (depth == kDeepestElement) return NoXml();
    XmlElement element;
    const size_t end = text_.find('>', at_);
    if (end == std::string_view::npos) return NoXml();
    std::string_view tag = text_.substr(at_, end - at_);
    at_ = end + 1;
    const bool empty = tag.ends_with('/');
    if (empty) tag.remove_suffix(1);
    tag = tag.substr(0, tag.find_first_of(" \t\r\n"));
    element.name = tag.substr(tag.find(':') == std::string_view::npos ? 0 : tag.find(':') + 1);
    if (empty) return element;
    for (;;) {
      const size_t next = text_.find('<', at_);
      if (next == std::string_view::npos) return NoXml();
      RETURN_IF_ERROR(AppendText(text_.substr(at_, next - at_), &element.text));
      at_ = next + 1;
      constexpr std::string_view kRaw = "![CDATA[";
      if (text_.substr(at_).starts_with(kRaw)) {
        const size_t stop = text_.find("]]>", at_);
        if (stop == std::string_view::npos) return NoXml();
        element.text += text_.substr(at_ + kRaw.size(), stop - at_ - kRaw.size());
        at_ = stop + 3;
      } else if (text_.substr(at_).starts_with('/')) {
        const size_t stop = text_.find('>', at_);
        if (stop == std::string_view::npos || text_.substr(at_ + 1, stop - at_ - 1) != tag) return NoXml();
        at_ = stop + 1;
        return element;
      } else if (!SkipMarkup()) {
        ASSIGN_OR_RETURN(XmlElement child, ReadElement(depth + 1));
        element.children.push_back(std::move(child));
      }
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

const XmlElement* XmlElement::Find(std::string_view child) const {
  for (const XmlElement& one : children) {
    if (one.name == child) return &one;
  }
  return nullptr;
}

std::string XmlElement::Text(std::string_view child) const {
  const XmlElement* found = Find(child);
  return found == nullptr ? "" : found->text;
}

Result<XmlElement> ParseXml(std::string_view text) { return XmlReader(text).ReadDocument(); }

std::string XmlEscaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

}  // namespace caudal
