// SessionList: the open sessions of one key, in order of time, each with a row of accumulators; and its
// codec, with which KeyedRows becomes "sessions by key".
//
// A list lives in the row of a KeyEntry; At() reads it there. The accumulators' codec outlives it. Times are
// ms, wall clock where the window is labelled in local time. One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "state/record.h"
#include "state/row_codec.h"

namespace caudal {

// From its first row to a gap behind its last one; the end is the first ms that is not in it.
class Session {
 public:
  Session(int64_t start, int64_t end, const RowCodec* accumulators)
      : start(start), end(end), accumulators_(accumulators), row_(new char[accumulators->width()]) {
    accumulators_->Init(row_.get());
  }
  ~Session() {
    if (row_ != nullptr) accumulators_->Destroy(row_.get());
  }
  Session(Session&& other) noexcept = default;
  Session& operator=(Session&& other) noexcept {
    std::swap(start, other.start);
    std::swap(end, other.end);
    std::swap(row_, other.row_);
    return *this;
  }

  // Keeps its address while the list changes around it.
  char* row() const { return row_.get(); }

  int64_t start;
  int64_t end;

 private:
  const RowCodec* accumulators_;
  std::unique_ptr<char[]> row_;
};

class SessionList {
 public:
  // The list in a row made by SessionListCodec.
  static SessionList& At(char* row) {
    SessionList* list;
    std::memcpy(&list, row, sizeof(list));
    return *list;
  }

  std::vector<Session>& sessions() { return sessions_; }
  const std::vector<Session>& sessions() const { return sessions_; }

 private:
  std::vector<Session> sessions_;
};

class SessionListCodec : public RowCodec {
 public:
  // `words`: what times are, for the fingerprint.
  SessionListCodec(std::string words, const RowCodec* accumulators)
      : words_(std::move(words)), accumulators_(accumulators) {}

  size_t width() const override { return sizeof(SessionList*); }
  void Init(char* row) const override {
    SessionList* list = new SessionList();
    std::memcpy(row, &list, sizeof(list));
  }
  void Destroy(char* row) const override { delete &SessionList::At(row); }
  int64_t ExtraBytes(const char* row) const override {
    int64_t bytes = static_cast<int64_t>(sizeof(SessionList));
    for (const Session& session : SessionList::At(const_cast<char*>(row)).sessions()) {
      bytes += static_cast<int64_t>(sizeof(Session) + accumulators_->width()) +
               accumulators_->ExtraBytes(session.row());
    }
    return bytes;
  }
  void Encode(const char* row, std::string* out) const override {
    const std::vector<Session>& sessions = SessionList::At(const_cast<char*>(row)).sessions();
    PutVarint(sessions.size(), out);
    for (const Session& session : sessions) {
      PutFixed64(static_cast<uint64_t>(session.start), out);
      PutFixed64(static_cast<uint64_t>(session.end), out);
      accumulators_->Encode(session.row(), out);
    }
  }
  Status Decode(std::string_view* in, char* row) const override {
    RecordReader reader(*in);
    std::vector<Session>& sessions = SessionList::At(row).sessions();
    for (uint64_t left = reader.Varint(); left > 0; --left) {
      const int64_t start = static_cast<int64_t>(reader.Fixed64());
      const int64_t end = static_cast<int64_t>(reader.Fixed64());
      if (!reader.ok() || start >= end) return Status::Data("a saved list of sessions is damaged");
      std::string_view rest = reader.rest();
      RETURN_IF_ERROR(accumulators_->Decode(&rest, sessions.emplace_back(start, end, accumulators_).row()));
      reader.set_rest(rest);
    }
    if (!reader.ok()) return Status::Data("a saved list of sessions is damaged");
    *in = reader.rest();
    return Status();
  }
  std::string Fingerprint() const override {
    return "sessions(" + words_ + "; " + accumulators_->Fingerprint() + ")";
  }

 private:
  std::string words_;
  const RowCodec* accumulators_;
};

}  // namespace caudal
