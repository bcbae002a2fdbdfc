// PARSE_URL: a part of an address, or one key of its query; as java.net.URL takes addresses apart.
#include <algorithm>

#include "expr/functions/families.h"
#include "expr/functions/signature_pattern.h"
#include "expr/kernel.h"
#include "expr/string_output.h"

namespace caudal {
namespace {

constexpr std::string_view kSchemes[] = {"http", "https", "ftp", "file", "jar"};

struct UrlParts {
  std::string_view scheme, authority, user, host, path, query, reference;
  bool has_user = false, has_query = false, has_reference = false;
};

// False for what java.net.URL refuses: no scheme, or one that it does not know.
bool SplitUrl(std::string_view text, UrlParts* parts) {
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  parts->scheme = text.substr(0, colon);
  if (std::find(std::begin(kSchemes), std::end(kSchemes), parts->scheme) == std::end(kSchemes)) return false;
  text.remove_prefix(colon + 1);
  const size_t hash = text.find('#');
  if (hash != std::string_view::npos) {
    parts->has_reference = true;
    parts->reference = text.substr(hash + 1);
    text = text.substr(0, hash);
  }
  const size_t mark = text.find('?');
  if (mark != std::string_view::npos) {
    parts->has_query = true;
    parts->query = text.substr(mark + 1);
    text = text.substr(0, mark);
  }
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    const size_t slash = std::min(text.find('/'), text.size());
    parts->authority = text.substr(0, slash);
    text.remove_prefix(slash);
  }
  parts->path = text;
  std::string_view host = parts->authority;
  const size_t at = host.find('@');
  if (at != std::string_view::npos) {
    parts->has_user = true;
    parts->user = host.substr(0, at);
    host.remove_prefix(at + 1);
  }
  const size_t port = host.starts_with('[') ? host.find("]:") : host.find(':');
  parts->host = host.substr(0, port);
  return true;
}

// The value behind "key=" in a query.
bool QueryKey(std::string_view query, std::string_view key, std::string_view* value) {
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    if (pair.size() > key.size() && pair.starts_with(key) && pair[key.size()] == '=') {
      *value = pair.substr(key.size() + 1);
      return true;
    }
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return false;
}

// False: NULL.
bool UrlPart(std::string_view url, std::string_view part, std::string* out) {
  UrlParts parts;
  if (!SplitUrl(url, &parts)) return false;
  const auto give = [&](bool present, std::string_view text) {
    *out = text;
    return present;
  };
  if (part == "HOST") return give(true, parts.host);
  if (part == "PATH") return give(true, parts.path);
  if (part == "QUERY") return give(parts.has_query, parts.query);
  if (part == "REF") return give(parts.has_reference, parts.reference);
  if (part == "PROTOCOL") return give(true, parts.scheme);
  if (part == "AUTHORITY") return give(true, parts.authority);
  if (part == "USERINFO") return give(parts.has_user, parts.user);
  if (part != "FILE") return false;
  *out = parts.path;
  if (parts.has_query) out->append("?").append(parts.query);
  return true;
}

ColumnPtr ParseUrlKernel(KernelCall& call) {
  StringOutput out(call.physical_rows);
  const ColumnView<StringView> urls(*call.args[0]);
  const ColumnView<StringView> names(*call.args[1]);
  const bool keyed = call.args.size() == 3;
  const ColumnView<StringView> keys(*call.args[keyed ? 2 : 1]);
  std::string part;
  ForEachRow(call.rows, [&](int32_t row) {
    if (!UrlPart(urls[row].view(), names[row].view(), &part)) return out.SetNull(row);
    if (!keyed) return out.Set(row, part);
    std::string_view value;
    if (names[row].view() != "QUERY" || !QueryKey(part, keys[row].view(), &value)) return out.SetNull(row);
    out.Set(row, value);
  });
  return out.Finish(call.expr.type);
}

const ScalarFunction kUrl[] = {
    {"PARSE_URL", "string",
     "A part of an address (HOST, PATH, QUERY, REF, PROTOCOL, FILE, AUTHORITY, USERINFO), or a key of its "
     "QUERY.",
     "PARSE_URL('http://a.com/p?query=1&k=v', 'QUERY', 'k')", "v", Pattern<"tt?t>S!">, ParseUrlKernel},
};

}  // namespace

std::span<const ScalarFunction> UrlFunctions() { return kUrl; }

}  // namespace caudal
