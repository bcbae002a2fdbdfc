#include "connect/redis/lookup/redis_lookup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "api/segment/cell.h"
#include "connect/redis/redis_error.h"
#include "connect/redis/redis_row.h"
#include "data/text/utf8_text.h"

namespace caudal {
namespace {

constexpr size_t kAskedAtOnce = 512;  // commands sent before their answers are read

using Values = std::vector<std::optional<std::string>>;

}  // namespace

// Rows as they come to be known: by key, then by wanted column.
struct RedisLookup::Found {
  std::vector<bool> exists;
  std::vector<Values> values;
  std::vector<ColumnPtr> decoded;       // of format 'json', in place of `values`
  std::vector<std::string> unreadable;  // by key; empty = readable
};

Result<std::unique_ptr<LookupReader>> RedisLookup::Make(const Table& table, const LookupRequest& request) {
  ASSIGN_OR_RETURN(RedisTarget target, RedisTarget::Of(table));
  ASSIGN_OR_RETURN(RedisKeyTemplate key, target.layout.key_template());
  std::unique_ptr<RedisLookup> lookup(new RedisLookup(std::move(target), std::move(key)));
  const auto given = [&](int column) -> int {
    const auto found = std::ranges::find(request.keys, column);
    return found == request.keys.end() ? -1 : static_cast<int>(found - request.keys.begin());
  };
  for (const int column : table.primary_key) lookup->key_order_.push_back(static_cast<size_t>(given(column)));
  for (size_t i = 0; i < request.columns.size(); ++i) {
    lookup->types_.push_back(request.schema.fields[i].type);
    lookup->names_.push_back(request.schema.fields[i].name);
    lookup->given_.push_back(given(request.columns[i]));
  }
  if (lookup->target_.layout.format == RedisFormat::kJson) {
    ASSIGN_OR_RETURN(lookup->json_, JsonDecoder::Make(request.schema, JsonOptions()));
  }
  return std::unique_ptr<LookupReader>(std::move(lookup));
}

Status RedisLookup::Connect() {
  if (nodes_ != nullptr) return Status();
  Result<std::unique_ptr<RedisNodes>> opened = RedisNodes::Open(&target_, /*script=*/"");
  if (!opened.ok()) return std::move(opened).status().At(target_.origin());
  nodes_ = std::move(opened).value();
  return Status();
}

Status RedisLookup::CheckTarget() {
  Status status = Connect();
  return !status.ok() && status.domain() == Domain::kExternal ? Status() : status;
}

Result<LookupRows> RedisLookup::Find(const Chunk& keys) {
  RETURN_IF_ERROR(Connect());
  Result<LookupRows> rows = Ask(keys);
  if (rows.ok()) return rows;
  nodes_ = nullptr;
  return std::move(rows).status().At(target_.origin());
}

std::vector<std::string> RedisLookup::KeysOf(const Chunk& keys) const {
  std::vector<std::string> texts;
  std::vector<std::string> values(key_order_.size());
  for (int32_t row = 0; row < keys.size(); ++row) {
    for (size_t i = 0; i < key_order_.size(); ++i) {
      const RedisColumn& column = target_.layout.columns[static_cast<size_t>(target_.layout.key[i])];
      std::string bytes;
      CellEncoder(*keys.column(static_cast<int>(key_order_[i]))).Append(row, &bytes);
      Cell cell;
      size_t at = 0;
      CHECK(ReadCell(bytes, &at, &cell));
      values[i] = RedisTextOf(cell, column.kind);
    }
    template_.Append(values, &texts.emplace_back());
  }
  return texts;
}

Result<LookupRows> RedisLookup::Ask(const Chunk& keys) {
  const std::vector<std::string> texts = KeysOf(keys);
  Found found;
  found.exists.assign(texts.size(), false);
  found.values.assign(texts.size(), Values(types_.size()));
  found.unreadable.assign(texts.size(), {});
  RETURN_IF_ERROR(target_.layout.format == RedisFormat::kHash ? AskHashes(texts, &found)
                                                              : AskTexts(texts, &found));
  LookupRows rows;
  std::vector<ColumnBuilder> builders;
  for (const Type& type : types_) builders.emplace_back(type);
  for (int32_t key = 0; key < keys.size(); ++key) {
    const size_t at = static_cast<size_t>(key);
    if (!found.exists[at]) continue;
    rows.key_of_row.push_back(key);
    for (size_t i = 0; i < builders.size(); ++i) {
      if (given_[i] >= 0) {
        builders[i].AppendFrom(*keys.column(given_[i]), key);
      } else if (!found.unreadable[at].empty()) {
        builders[i].AppendNull();
      } else if (json_ != nullptr) {
        builders[i].AppendFrom(*found.decoded[i], key);
      } else if (!found.values[at][i]) {
        builders[i].AppendNull();
      } else if (!AppendRedisText(*found.values[at][i], &builders[i])) {
        found.unreadable[at] = NotOfColumn(names_[i], *found.values[at][i], types_[i]);
        builders[i].AppendNull();
      }
    }
    if (!found.unreadable[at].empty()) {
      rows.unreadable.push_back({key, fmt::format("key '{}': {}", texts[at], found.unreadable[at])});
    }
  }
  for (ColumnBuilder& builder : builders) rows.columns.push_back(builder.Finish());
  return rows;
}

// The answers in the order of the commands; an error of one names its key.
Result<std::vector<RedisAnswer>> RedisLookup::Call(const std::vector<RedisCommand>& commands,
                                                   const std::vector<std::string>& keys) {
  std::vector<RedisAnswer> answers;
  std::vector<RedisConnection*> asked;  // of the commands that are on their way
  std::vector<size_t> elsewhere;        // whose slot has moved: asked one by one when all answers are read
  while (answers.size() < commands.size()) {
    asked.clear();
    const size_t until = std::min(commands.size(), answers.size() + kAskedAtOnce);
    for (size_t i = answers.size(); i < until; ++i) {
      ASSIGN_OR_RETURN(RedisConnection* const node, nodes_->NodeOf(nodes_->SlotOf(keys[i])));
      RETURN_IF_ERROR(node->Send(commands[i]));
      asked.push_back(node);
    }
    for (RedisConnection* const node : asked) {
      ASSIGN_OR_RETURN(RedisAnswer answer, node->Receive());
      if (nodes_->IsElsewhere(answer)) elsewhere.push_back(answers.size());
      answers.push_back(std::move(answer));
    }
  }
  for (const size_t i : elsewhere) {
    ASSIGN_OR_RETURN(answers[i], nodes_->Ask(nodes_->SlotOf(keys[i]), commands[i]));
  }
  for (size_t i = 0; i < answers.size(); ++i) {
    if (answers[i].kind != RedisAnswer::Kind::kError) continue;
    return RedisError(answers[i].text).At(fmt::format("key '{}'", keys[i]));
  }
  return answers;
}

Status RedisLookup::AskHashes(const std::vector<std::string>& keys, Found* found) {
  std::vector<size_t> wanted;
  for (size_t i = 0; i < given_.size(); ++i) {
    if (given_[i] < 0) wanted.push_back(i);
  }
  std::vector<int32_t> unsure;
  std::vector<RedisCommand> commands;
  for (const std::string& key : keys) {
    if (wanted.empty()) break;
    commands.emplace_back().Add("HMGET").Add(std::string_view(key));
    for (const size_t i : wanted) commands.back().Add(std::string_view(names_[i]));
  }
  ASSIGN_OR_RETURN(std::vector<RedisAnswer> answers, Call(commands, keys));
  for (size_t key = 0; key < keys.size(); ++key) {
    for (size_t i = 0; i < wanted.size() && i < answers[key].list.size(); ++i) {
      RedisAnswer& value = answers[key].list[i];
      if (value.kind == RedisAnswer::Kind::kNull) continue;
      found->exists[key] = true;
      found->values[key][wanted[i]] = std::move(value.text);
    }
    if (!found->exists[key]) unsure.push_back(static_cast<int32_t>(key));
  }
  return AskAnew(keys, unsure, found);
}

// None of the wanted fields is there: no such key, or all of them are NULL. The whole hash tells.
Status RedisLookup::AskAnew(const std::vector<std::string>& keys, const std::vector<int32_t>& unsure,
                            Found* found) {
  std::vector<RedisCommand> commands;
  std::vector<std::string> asked;
  for (const int32_t key : unsure) {
    asked.push_back(keys[static_cast<size_t>(key)]);
    commands.emplace_back().Add("HGETALL").Add(std::string_view(asked.back()));
  }
  ASSIGN_OR_RETURN(const std::vector<RedisAnswer> answers, Call(commands, asked));
  for (size_t i = 0; i < unsure.size(); ++i) {
    const size_t key = static_cast<size_t>(unsure[i]);
    const std::vector<RedisAnswer>& fields = answers[i].list;
    found->exists[key] = !fields.empty();
    for (size_t f = 0; f + 1 < fields.size(); f += 2) {
      for (size_t c = 0; c < names_.size(); ++c) {
        if (names_[c] == fields[f].text) found->values[key][c] = fields[f + 1].text;
      }
    }
  }
  return Status();
}

Status RedisLookup::AskTexts(const std::vector<std::string>& keys, Found* found) {
  std::vector<RedisCommand> commands;
  for (const std::string& key : keys) commands.emplace_back().Add("GET").Add(std::string_view(key));
  ASSIGN_OR_RETURN(const std::vector<RedisAnswer> answers, Call(commands, keys));
  for (size_t key = 0; key < keys.size(); ++key) {
    found->exists[key] = answers[key].kind == RedisAnswer::Kind::kText;
    if (!found->exists[key]) continue;
    for (size_t c = 0; c < given_.size(); ++c) {
      if (given_[c] < 0) found->values[key][c] = answers[key].text;
    }
  }
  return json_ == nullptr ? Status() : DecodeTexts(answers, found);
}

Status RedisLookup::DecodeTexts(const std::vector<RedisAnswer>& answers, Found* found) {
  size_t size = 0;
  for (const RedisAnswer& answer : answers) size += answer.text.size();
  const auto buffer = Buffer::Allocate(size);
  RawBatch batch;
  batch.pins.push_back(buffer);
  std::vector<size_t> key_of_record;
  size_t at = 0;
  for (size_t key = 0; key < answers.size(); ++key) {
    if (!found->exists[key]) continue;
    const std::string& text = answers[key].text;
    std::memcpy(buffer->mutable_data() + at, text.data(), text.size());
    RawRecord& record = batch.records.emplace_back();
    record.value = std::string_view(buffer->data() + at, text.size());
    key_of_record.push_back(key);
    at += text.size();
  }
  DecodedRows rows;
  RETURN_IF_ERROR(json_->Decode(batch, &rows));
  for (const DecodeError& error : rows.errors) {
    found->unreadable[key_of_record[static_cast<size_t>(error.record)]] = error.message;
  }
  std::vector<ColumnBuilder> builders;
  for (const Type& type : types_) builders.emplace_back(type);
  int32_t record = 0;
  for (size_t key = 0; key < answers.size(); ++key) {
    for (size_t c = 0; c < builders.size(); ++c) {
      if (found->exists[key] && found->unreadable[key].empty()) {
        builders[c].AppendFrom(*rows.columns[c], record);
      } else {
        builders[c].AppendNull();
      }
    }
    if (found->exists[key]) ++record;
  }
  for (ColumnBuilder& builder : builders) found->decoded.push_back(builder.Finish());
  return Status();
}

}  // namespace caudal
