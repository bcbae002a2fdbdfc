// The file system of an object store against one in this process that loses, cuts and refuses.
#include "fs/s3/s3_file_system.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <algorithm>
#include <deque>
#include <mutex>
#include <sstream>
#include <thread>

#include "fs/s3/process_files.h"

namespace caudal {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// What becomes of a request.
enum class S3Fault {
  kNone,
  kBusyBefore,   // 503 SlowDown, nothing is done
  kErrorAfter,   // done, and 500
  kHiddenError,  // nothing is done, and an error under a 200
  kTakenAfter,   // done, and 412, as if whoever hands requests on had said it twice
  kHiddenAfter,  // done, and an error under a 200
  kCut,          // done, and half of the answer
  kOldToken,     // 400 ExpiredToken
};

// A small store in this process. It checks that requests are signed by the key it knows, not the signature.
class FakeS3 {
 public:
  struct Object {
    std::string bytes, mark, checksum;
    int version = 0;
  };

  FakeS3() {
    const auto handle = [this](const httplib::Request& request, httplib::Response& response) {
      Handle(request, response);
    };
    server_.Get(".*", handle);
    server_.Put(".*", handle);
    server_.Post(".*", handle);
    server_.Delete(".*", handle);
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
  }
  ~FakeS3() {
    server_.stop();
    thread_.join();
  }

  std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }
  // Of the object's bytes, but not of its checksum.
  void Damage(const std::string& key) {
    const std::lock_guard lock(mutex_);
    objects_[key].bytes[0] ^= 1;
  }
  // For the next requests, one each.
  void Will(std::vector<S3Fault> faults) {
    const std::lock_guard lock(mutex_);
    faults_.assign(faults.begin(), faults.end());
  }
  std::map<std::string, Object> objects() {
    const std::lock_guard lock(mutex_);
    return objects_;
  }
  void Put(const std::string& key, std::string bytes) {
    const std::lock_guard lock(mutex_);
    objects_[key] = {std::move(bytes), "", "", ++version_};
  }
  size_t uploads() {
    const std::lock_guard lock(mutex_);
    return uploads_.size();
  }
  // "PUT key", as they came.
  std::vector<std::string> requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  // For the next requests of keys, in the manner of an instance's service, one each; then 200.
  void ServiceWill(std::vector<int> codes) {
    const std::lock_guard lock(mutex_);
    service_.assign(codes.begin(), codes.end());
  }
  // As a store that has not heard of If-None-Match.
  void IgnoreConditions() {
    const std::lock_guard lock(mutex_);
    knows_conditions_ = false;
  }
  std::string access_key = "AKEY";

 private:
  struct Upload {
    std::string key, mark;
    std::map<int, std::string> parts;
  };

  static void Error(httplib::Response& response, int code, const std::string& name) {
    response.status = code;
    response.set_content(fmt::format("<?xml version=\"1.0\"?><Error><Code>{}</Code><Message>so it is &amp; "
                                     "stays</Message></Error>",
                                     name),
                         "application/xml");
  }
  static std::string TagOf(const Object& object) { return fmt::format("\"tag-{}\"", object.version); }

  void Handle(const httplib::Request& request, httplib::Response& response) {
    const std::lock_guard lock(mutex_);
    if (request.path == "/keys") {
      return response.set_content(
          fmt::format(R"({{"AccessKeyId":"{}","SecretAccessKey":"from-service","Token":"t"}})", access_key),
          "application/json");
    }
    if (request.path.starts_with("/latest/")) return Serve(request, response);
    const std::string key = request.path.substr(std::min(request.path.find('/', 1) + 1, request.path.size()));
    requests_.push_back(request.method + " " + key);
    const S3Fault fault = faults_.empty() ? S3Fault::kNone : faults_.front();
    if (!faults_.empty()) faults_.pop_front();
    const std::string signature = request.get_header_value("Authorization");
    if (signature.find("Credential=" + access_key + "/") == std::string::npos)
      return Error(response, 403, "InvalidAccessKeyId");
    // What is signed is sent.
    const size_t names = signature.find("SignedHeaders=") + 14;
    std::istringstream list(signature.substr(names, signature.find(',', names) - names));
    for (std::string name; std::getline(list, name, ';');) {
      if (!request.has_header(name.c_str())) return Error(response, 403, "SignatureDoesNotMatch");
    }
    // A body without its digest in the signature is refused.
    if (!request.has_header("x-amz-content-sha256") ||
        signature.find("x-amz-content-sha256") == std::string::npos)
      return Error(response, 400, "InvalidRequest");
    if (fault == S3Fault::kBusyBefore) return Error(response, 503, "SlowDown");
    if (fault == S3Fault::kOldToken) return Error(response, 400, "ExpiredToken");
    if (fault == S3Fault::kHiddenError) return Error(response, 200, "InternalError");
    Answer(request, key, response);
    if (fault == S3Fault::kTakenAfter) return Error(response, 412, "PreconditionFailed");
    if (fault == S3Fault::kErrorAfter) return Error(response, 500, "InternalError");
    if (fault == S3Fault::kHiddenAfter) return Error(response, 200, "InternalError");
    if (fault == S3Fault::kCut) {
      const std::string body = response.body.empty() ? "0123456789" : response.body;
      response.body.clear();
      response.headers.erase("Content-Length");
      response.headers.erase("Content-Type");
      response.set_content_provider(body.size(), "application/octet-stream",
                                    [body](size_t at, size_t, httplib::DataSink& sink) {
                                      const size_t half = body.size() / 2;
                                      return at < half && sink.write(body.data() + at, half - at);
                                    });
    }
  }

  // Keys that ran out long ago, so that each request asks for them anew.
  void Serve(const httplib::Request& request, httplib::Response& response) {
    response.status = service_.empty() ? 200 : service_.front();
    if (!service_.empty()) service_.pop_front();
    const std::string keys = fmt::format(
        R"({{"AccessKeyId":"{}","SecretAccessKey":"x","Token":"t","Expiration":"2020-03-01T12:00:00Z"}})",
        access_key);
    response.set_content(request.path.ends_with("/role") ? keys : "role", "text/plain");
  }

  void Answer(const httplib::Request& request, const std::string& key, httplib::Response& response) {
    const std::string upload = request.get_param_value("uploadId");
    if (request.method == "POST" && request.has_param("uploads")) return Begin(request, key, response);
    if (request.method == "GET" && request.has_param("uploads")) return ListUploads(response);
    if (request.method == "GET" && request.has_param("list-type")) return List(request, response);
    if (!upload.empty()) return OfUpload(request, upload, key, response);
    if (request.method == "PUT") return PutObject(request, key, response);
    if (request.method == "DELETE") {
      objects_.erase(key);
      response.status = 204;
      return;
    }
    const auto found = objects_.find(key);
    if (found == objects_.end()) return Error(response, 404, "NoSuchKey");
    const std::string wanted = request.get_header_value("If-Match");
    if (!wanted.empty() && wanted != TagOf(found->second)) return Error(response, 412, "PreconditionFailed");
    response.set_header("ETag", TagOf(found->second));
    response.set_header("Last-Modified", "Sun, 01 Mar 2026 12:00:00 GMT");
    if (!found->second.mark.empty()) response.set_header("x-amz-meta-caudal-mark", found->second.mark);
    if (!found->second.checksum.empty()) response.set_header("x-amz-checksum-crc32c", found->second.checksum);
    response.set_content(found->second.bytes, "application/octet-stream");
  }

  void PutObject(const httplib::Request& request, const std::string& key, httplib::Response& response) {
    if (knows_conditions_ && request.has_header("If-None-Match") && objects_.contains(key))
      return Error(response, 412, "PreconditionFailed");
    Object made{request.body, request.get_header_value("x-amz-meta-caudal-mark"),
                request.get_header_value("x-amz-checksum-crc32c"), ++version_};
    const std::string source = request.get_header_value("x-amz-copy-source");
    if (!source.empty()) {
      const auto found = objects_.find(source.substr(source.find('/', 1) + 1));
      if (found == objects_.end()) return Error(response, 404, "NoSuchKey");
      made.bytes = found->second.bytes;
      response.set_content("<CopyObjectResult/>", "application/xml");
    }
    response.set_header("ETag", TagOf(made));
    objects_[key] = std::move(made);
  }

  void Begin(const httplib::Request& request, const std::string& key, httplib::Response& response) {
    const std::string id = fmt::format("upload-{}", ++version_);
    uploads_[id] = {key, request.get_header_value("x-amz-meta-caudal-mark"), {}};
    response.set_content(
        fmt::format("<InitiateMultipartUploadResult><UploadId>{}</UploadId></InitiateMultipartUploadResult>",
                    id),
        "application/xml");
  }

  void OfUpload(const httplib::Request& request, const std::string& id, const std::string& key,
                httplib::Response& response) {
    const auto found = uploads_.find(id);
    if (found == uploads_.end()) return Error(response, 404, "NoSuchUpload");
    if (request.method == "DELETE") {
      uploads_.erase(found);
      response.status = 204;
    } else if (request.method == "PUT") {
      const int number = std::stoi(request.get_param_value("partNumber"));
      found->second.parts[number] = request.body;
      response.set_header("ETag", fmt::format("\"part-{}\"", number));
    } else if (request.has_header("If-None-Match") && objects_.contains(key)) {
      Error(response, 412, "PreconditionFailed");
    } else {
      Object made{"", found->second.mark, "", ++version_};
      for (const auto& [_, bytes] : found->second.parts) made.bytes += bytes;
      objects_[key] = std::move(made);
      uploads_.erase(found);
      response.set_content("<CompleteMultipartUploadResult/>", "application/xml");
    }
  }

  void ListUploads(httplib::Response& response) const {
    std::string text = "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>";
    for (const auto& [id, upload] : uploads_)
      text += fmt::format("<Upload><Key>{}</Key><UploadId>{}</UploadId></Upload>", upload.key, id);
    response.set_content(text + "</ListMultipartUploadsResult>", "application/xml");
  }

  // In pages of two entries.
  void List(const httplib::Request& request, httplib::Response& response) const {
    const std::string prefix = request.get_param_value("prefix");
    const std::string after = request.get_param_value("continuation-token");
    std::map<std::string, const Object*> entries;
    for (const auto& [key, object] : objects_) {
      if (!key.starts_with(prefix)) continue;
      const size_t slash = key.find('/', prefix.size());
      if (slash == std::string::npos)
        entries[key] = &object;
      else
        entries[key.substr(0, slash + 1)] = nullptr;
    }
    std::string text = "<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">", last;
    int count = 0;
    for (const auto& [key, object] : entries) {
      if (key <= after) continue;
      if (++count > 2) break;
      last = key;
      const std::string name = httplib::detail::encode_query_param(key);
      text += object == nullptr
                  ? fmt::format("<CommonPrefixes><Prefix>{}</Prefix></CommonPrefixes>", name)
                  : fmt::format(
                        "<Contents><Key>{}</Key><LastModified>2026-03-01T12:00:00.347Z</LastModified>"
                        "<ETag>&quot;tag-{}&quot;</ETag><Size>{}</Size></Contents>",
                        name, object->version, object->bytes.size());
    }
    text += fmt::format("<EncodingType>url</EncodingType><IsTruncated>{}</IsTruncated>", count > 2);
    if (count > 2) text += fmt::format("<NextContinuationToken>{}</NextContinuationToken>", last);
    response.set_content(text + "</ListBucketResult>", "application/xml");
  }

  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
  std::mutex mutex_;
  int version_ = 0;
  std::map<std::string, Object> objects_;
  std::map<std::string, Upload> uploads_;
  std::deque<S3Fault> faults_;
  std::deque<int> service_;
  bool knows_conditions_ = true;
  std::vector<std::string> requests_;
};

constexpr S3Patience kQuick{4, 1, 2, 5'000, 5'000};

class S3FileSystemTest : public ::testing::Test {
 protected:
  void SetUp() override {
    files_ = Make({{"AWS_ACCESS_KEY_ID", "AKEY"}, {"AWS_SECRET_ACCESS_KEY", "secret"}});
  }

  std::unique_ptr<S3FileSystem> Make(EnvironmentVariables variables) {
    variables["AWS_ENDPOINT_URL_S3"] = store_.url() + "/";
    variables.try_emplace("AWS_EC2_METADATA_DISABLED", "true");
    const S3Options options = S3Options::FromEnvironment(variables);
    return std::make_unique<S3FileSystem>(options, FindS3Credentials(options, variables, Env::Real()),
                                          Env::Real(), kQuick);
  }
  Status Write(const std::string& path, std::string_view bytes) {
    ASSIGN_OR_RETURN(const auto file, files_->Create(path));
    RETURN_IF_ERROR(file->Append(bytes));
    return file->Close();
  }
  // A file that waits for its name; its ticket.
  Result<std::string> Pend(const std::string& path, std::string_view bytes) {
    ASSIGN_OR_RETURN(const auto file, files_->Begin(path));
    RETURN_IF_ERROR(file->Append(bytes));
    RETURN_IF_ERROR(file->Close());
    return file->ticket();
  }
  std::vector<std::string> Names(const std::string& folder) {
    std::vector<std::string> names;
    const Result<std::vector<FileInfo>> found = files_->List(folder);
    EXPECT_TRUE(found.ok()) << found.status().ToString();
    if (!found.ok()) return names;
    for (const FileInfo& file : *found) names.push_back(file.path + (file.is_directory ? "/" : ""));
    return names;
  }

  FakeS3 store_;
  std::unique_ptr<S3FileSystem> files_;
};

TEST_F(S3FileSystemTest, FilesAreReadAsTheyWereWritten) {
  ASSERT_TRUE(Write("s3://b/f/small one+.txt", "hello").ok());
  EXPECT_EQ(*files_->ReadAll("s3a://b/f/small one+.txt"), "hello");
  std::string large(19 << 20, 'x');
  for (size_t i = 0; i < large.size(); i += 7) large[i] = static_cast<char>(i);
  ASSERT_TRUE(Write("s3://b/large", large).ok());
  EXPECT_EQ(store_.objects().at("large").bytes, large);
  EXPECT_EQ(store_.uploads(), 0u);
  const auto file = std::move(files_->Open("s3://b/large")).value();
  EXPECT_EQ(file->size(), static_cast<int64_t>(large.size()));
  for (const int64_t at : {int64_t{0}, int64_t{100}, int64_t{12'345'678}, file->size() - 3}) {
    const Result<MutableBufferPtr> read = file->Read(at, 100);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_EQ((*read)->view(), std::string_view(large).substr(static_cast<size_t>(at), 100)) << at;
  }
}

TEST_F(S3FileSystemTest, AFileIsNotThereBeforeItIsClosed) {
  auto file = std::move(files_->Create("s3://b/f")).value();
  ASSERT_TRUE(file->Append(std::string(9 << 20, 'x')).ok());
  EXPECT_FALSE(*files_->Exists("s3://b/f"));
  EXPECT_EQ(store_.uploads(), 1u);
  file = nullptr;  // given up
  EXPECT_EQ(store_.uploads(), 0u);
}

TEST_F(S3FileSystemTest, FoldersAreThePrefixesOfKeys) {
  for (const char* key : {"a/1", "a/2", "a/b c/1", "a/b c/2", "a/z", "ab"}) store_.Put(key, "x");
  EXPECT_THAT(Names("s3://b/a"), ElementsAre("s3://b/a/1", "s3://b/a/2", "s3://b/a/b c/", "s3://b/a/z"));
  EXPECT_THAT(Names("s3://b"), ElementsAre("s3://b/a/", "s3://b/ab"));
  EXPECT_THAT(Names("s3://b/none"), ElementsAre());
  EXPECT_TRUE(*files_->Exists("s3://b/a"));
  EXPECT_FALSE(*files_->Exists("s3://b/a/b"));
  EXPECT_TRUE(files_->Stat("s3://b/a/b c")->is_directory);
  EXPECT_EQ(files_->Stat("s3://b/ab")->size, 1);
  EXPECT_THAT(files_->Stat("s3://b/none").status().ToString(), HasSubstr("'s3://b/none': no such file"));
  ASSERT_TRUE(files_->Rename("s3://b/a/b c/1", "s3://b/n").ok());
  EXPECT_FALSE(store_.objects().contains("a/b c/1"));
  EXPECT_TRUE(store_.objects().contains("n"));
  EXPECT_TRUE(files_->Remove("s3://b/n").ok());
  EXPECT_TRUE(files_->Remove("s3://b/n").ok());
}

// A store lists fractions of a second that it tells nowhere else.
TEST_F(S3FileSystemTest, AFileIsTheSameListedAndLookedAt) {
  store_.Put("f", "x");
  const std::vector<FileInfo> listed = *files_->List("s3://b");
  const FileInfo seen = *files_->Stat("s3://b/f");
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed[0].modified_micros, seen.modified_micros);
  EXPECT_EQ(listed[0].changed_micros, seen.changed_micros);
  EXPECT_EQ(listed[0].identity, seen.identity);
}

TEST_F(S3FileSystemTest, AStoreThatWouldOverwriteIsRefusedBeforeItDoes) {
  store_.Put("identity", "the first");
  store_.IgnoreConditions();
  for (int i = 0; i < 2; ++i) {
    const Status refused = files_->CreateIfAbsent("s3://b/identity", "the second").status();
    EXPECT_THAT(refused.ToString(), HasSubstr("overwrites what 'If-None-Match' protects"));
    EXPECT_EQ(refused.domain(), Domain::kUser);
  }
  EXPECT_EQ(store_.objects().at("identity").bytes, "the first");
  EXPECT_EQ(store_.objects().size(), 1u);
}

TEST_F(S3FileSystemTest, ANameIsTakenOnce) {
  EXPECT_TRUE(*files_->CreateIfAbsent("s3://b/name", "mine"));
  EXPECT_FALSE(*files_->CreateIfAbsent("s3://b/name", "mine"));
}

// Two starts write the same bytes under one name: what tells them apart is not the content.
TEST_F(S3FileSystemTest, ALostAnswerIsSettledByLookingWhoseObjectItIs) {
  EXPECT_TRUE(*files_->CreateIfAbsent("s3://b/first", "same"));  // which asks what the store knows
  store_.Will({S3Fault::kErrorAfter});
  EXPECT_TRUE(*files_->CreateIfAbsent("s3://b/lost", "same"));
  store_.Will({S3Fault::kCut});
  EXPECT_TRUE(*files_->CreateIfAbsent("s3://b/cut", "same"));
  store_.Will({S3Fault::kTakenAfter});
  EXPECT_TRUE(*files_->CreateIfAbsent("s3://b/unseen", "same"));
  store_.Will({S3Fault::kBusyBefore});
  EXPECT_FALSE(*files_->CreateIfAbsent("s3://b/lost", "same"));
  store_.Will({S3Fault::kErrorAfter, S3Fault::kErrorAfter, S3Fault::kErrorAfter, S3Fault::kErrorAfter});
  EXPECT_TRUE(*files_->CreateIfAbsent("s3://b/all-lost", "same"));
}

TEST_F(S3FileSystemTest, WhatIsBusyOrCutIsAskedAgain) {
  store_.Put("f", "content");
  store_.Will({S3Fault::kBusyBefore, S3Fault::kCut, S3Fault::kErrorAfter});
  const Result<std::string> read = files_->ReadAll("s3://b/f");
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_EQ(*read, "content");
  store_.Will(std::vector<S3Fault>(4, S3Fault::kBusyBefore));
  const Status gone = files_->ReadAll("s3://b/f").status();
  EXPECT_THAT(gone.ToString(), HasSubstr("503 SlowDown: so it is & stays"));
  EXPECT_EQ(gone.retry(), Retry::kBackoff);
}

TEST_F(S3FileSystemTest, WhatCannotBeWrittenIsKeptAndWrittenLater) {
  auto file = std::move(files_->Create("s3://b/f")).value();
  store_.Will(std::vector<S3Fault>(4, S3Fault::kBusyBefore));
  EXPECT_FALSE(file->Append(std::string(9 << 20, 'x')).ok());
  EXPECT_TRUE(file->Append("y").ok());
  ASSERT_TRUE(file->Close().ok());
  EXPECT_TRUE(file->Close().ok());
  EXPECT_EQ(store_.objects().at("f").bytes, std::string(9 << 20, 'x') + "y");
}

// One request of all of it would have to get through within the time of a request.
TEST_F(S3FileSystemTest, WhatAnOutageLeftIsSentInParts) {
  std::string all;
  auto file = std::move(files_->Create("s3://b/f")).value();
  store_.Will(std::vector<S3Fault>(12, S3Fault::kBusyBefore));
  for (const char byte : {'x', 'y', 'z'}) {
    EXPECT_FALSE(file->Append(std::string(9 << 20, byte)).ok());
    all += std::string(9 << 20, byte);
  }
  ASSERT_TRUE(file->Close().ok());
  EXPECT_EQ(store_.objects().at("f").bytes, all);
  const std::vector<std::string> requests = store_.requests();
  EXPECT_EQ(std::ranges::count(requests, "PUT f"), 4);
}

TEST_F(S3FileSystemTest, APendingFileGetsItsNameWhenItIsPublished) {
  const std::string ticket = *Pend("s3://b/t/f", "rows");
  EXPECT_TRUE(store_.objects().empty());
  EXPECT_EQ(*files_->Publish("s3://b/t/f", ticket), PublishOutcome::kPublished);
  EXPECT_EQ(store_.objects().at("t/f").bytes, "rows");
  EXPECT_EQ(*files_->Publish("s3://b/t/f", ticket), PublishOutcome::kPublished);  // by whoever repeats it
}

TEST_F(S3FileSystemTest, PublishingTellsWhatBecameOfItHoweverAnswersAreLost) {
  for (const S3Fault fault : {S3Fault::kBusyBefore, S3Fault::kErrorAfter, S3Fault::kHiddenError,
                              S3Fault::kHiddenAfter, S3Fault::kCut}) {
    const std::string path = fmt::format("s3://b/t/{}", static_cast<int>(fault));
    const std::string ticket = *Pend(path, "rows");
    store_.Will({fault});
    EXPECT_EQ(*files_->Publish(path, ticket), PublishOutcome::kPublished) << path;
  }
  EXPECT_EQ(store_.objects().size(), 5u);
  const std::string late = *Pend("s3://b/taken", "rows");
  store_.Put("taken", "of somebody else");
  EXPECT_EQ(*files_->Publish("s3://b/taken", late), PublishOutcome::kTaken);
  EXPECT_EQ(store_.objects().at("taken").bytes, "of somebody else");
}

TEST_F(S3FileSystemTest, WhatNobodyPublishedIsFoundAndGivenUp) {
  const std::string ticket = *Pend("s3://b/t/d/f", "rows");
  ASSERT_TRUE(Pend("s3://b/other/f", "rows").ok());
  const std::vector<UnpublishedFile> found = *files_->ListUnpublished("s3://b/t");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].path, "s3://b/t/d/f");
  ASSERT_TRUE(files_->Abort(found[0]).ok());
  EXPECT_TRUE(files_->Abort(found[0]).ok());
  EXPECT_EQ(*files_->Publish("s3://b/t/d/f", ticket), PublishOutcome::kGone);
  EXPECT_EQ(store_.uploads(), 1u);
}

TEST_F(S3FileSystemTest, AFileThatIsReplacedWhileItIsReadIsNotMixed) {
  store_.Put("f", std::string(100, 'a'));
  const auto file = std::move(files_->Open("s3://b/f")).value();
  store_.Put("f", std::string(100, 'b'));
  EXPECT_THAT(file->Read(0, 10).status().ToString(), HasSubstr("'s3://b/f' was replaced while it was read"));
}

TEST_F(S3FileSystemTest, BytesThatTheStoreDamagedAreNotTaken) {
  ASSERT_TRUE(*files_->CreateIfAbsent("s3://b/f", "content"));
  EXPECT_EQ(*files_->ReadAll("s3://b/f"), "content");
  store_.Damage("f");
  EXPECT_THAT(files_->ReadAll("s3://b/f").status().ToString(), HasSubstr("another checksum than was stored"));
  // Crc32c("123456789") is 0xe3069283, as its standard has it.
  ASSERT_TRUE(*files_->CreateIfAbsent("s3://b/check", "123456789"));
  EXPECT_EQ(store_.objects().at("check").checksum, "4waSgw==");
}

TEST_F(S3FileSystemTest, CredentialsThatRanOutAreRenewed) {
  files_ = Make({{"AWS_CONTAINER_CREDENTIALS_FULL_URI", store_.url() + "/keys"}});
  store_.Will({S3Fault::kOldToken});
  EXPECT_TRUE(Write("s3://b/f", "x").ok());
  EXPECT_TRUE(store_.objects().contains("f"));
}

TEST_F(S3FileSystemTest, AGrantSaysWhereAndAsWhomAndIsAskedForAgainWhenItRanOut) {
  ProcessFiles process({{"AWS_EC2_METADATA_DISABLED", "true"}}, Env::Real());
  int asked = 0;
  const auto ask = [&]() -> Result<FileGrant> {
    ++asked;
    return FileGrant{{{"s3.endpoint", store_.url()},
                      {"s3.access-key-id", store_.access_key},
                      {"s3.secret-access-key", "secret"},
                      {"s3.session-token", fmt::format("token {}", asked)}},
                     0};
  };
  FileSystem* const files = FilesWithGrant(process.files(), "lake db.t", ask);
  EXPECT_EQ(asked, 0);
  ASSERT_TRUE(*files->CreateIfAbsent("s3://b/f", "x"));
  EXPECT_EQ(asked, 1);
  store_.Will({S3Fault::kOldToken});
  EXPECT_EQ(*files->ReadAll("s3://b/f"), "x");
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(FilesWithGrant(process.files(), "lake db.t", nullptr), files);
}

TEST(RenewedS3CredentialsTest, AServiceThatDoesNotAnswerIsAskedNowAndThenWhileItsKeysLast) {
  ManualEnv env(1'000'000'000);
  int asked = 0;
  bool answers = true;
  const auto ask = [&]() -> Result<FileGrant> {
    ++asked;
    if (!answers) return Status::External("no answer", Retry::kBackoff);
    return FileGrant{{{"s3.access-key-id", "a"}, {"s3.secret-access-key", "b"}}, env.NowMillis() + 300'000};
  };
  const auto keys = MakeGrantedS3Credentials(ask, {}, nullptr, &env);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(keys->Get(false).ok());
  EXPECT_EQ(asked, 1) << "keys of five minutes are good for most of them";
  answers = false;
  env.Advance(int64_t{240} * 1'000'000);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(keys->Get(false).ok());
  EXPECT_EQ(asked, 2);
  env.Advance(int64_t{31} * 1'000'000);
  ASSERT_TRUE(keys->Get(false).ok());
  EXPECT_EQ(asked, 3);
  env.Advance(int64_t{60} * 1'000'000);
  EXPECT_FALSE(keys->Get(false).ok()) << "they have run out";
}

// The service tells where the store is, and keeps its keys to itself.
TEST_F(S3FileSystemTest, AGrantWithoutKeysLeavesThoseOfTheEnvironment) {
  ProcessFiles process({{"AWS_ACCESS_KEY_ID", "AKEY"}, {"AWS_SECRET_ACCESS_KEY", "secret"}}, Env::Real());
  FileSystem* const files = FilesWithGrant(process.files(), "lake", [this]() -> Result<FileGrant> {
    return FileGrant{{{"s3.endpoint", store_.url()}}, 0};
  });
  store_.Put("f", "x");
  EXPECT_EQ(*files->ReadAll("s3://b/f"), "x");
  FileSystem* const silent = FilesWithGrant(process.files(), "silent", []() -> Result<FileGrant> {
    return Status::External("the catalog does not answer", Retry::kBackoff);
  });
  EXPECT_THAT(silent->ReadAll("s3://b/f").status().ToString(), HasSubstr("the catalog does not answer"));
}

TEST_F(S3FileSystemTest, AServiceOfKeysThatFallsSilentIsWaitedFor) {
  files_ =
      Make({{"AWS_EC2_METADATA_DISABLED", "false"}, {"AWS_EC2_METADATA_SERVICE_ENDPOINT", store_.url()}});
  EXPECT_TRUE(Write("s3://b/f", "x").ok());
  for (const std::vector<int>& codes :
       {std::vector{503}, std::vector{200, 429}, std::vector{200, 200, 500}}) {
    store_.ServiceWill(codes);
    const Status away = Write("s3://b/f", "x");
    EXPECT_EQ(away.domain(), Domain::kExternal) << away.ToString();
    EXPECT_EQ(away.retry(), Retry::kBackoff) << away.ToString();
    EXPECT_TRUE(Write("s3://b/f", "x").ok());
  }
  // A machine that has no role.
  files_ =
      Make({{"AWS_EC2_METADATA_DISABLED", "false"}, {"AWS_EC2_METADATA_SERVICE_ENDPOINT", store_.url()}});
  store_.ServiceWill({200, 404});
  EXPECT_THAT(Write("s3://b/f", "x").ToString(), HasSubstr("there are no credentials for s3://"));
}

TEST_F(S3FileSystemTest, WhatIsRefusedIsSaidWithoutSecrets) {
  files_ = Make({{"AWS_ACCESS_KEY_ID", "OTHER"}, {"AWS_SECRET_ACCESS_KEY", "hidden-value"}});
  const std::string refused = Write("s3://b/f", "x").ToString();
  EXPECT_THAT(refused, HasSubstr("cannot write 's3://b/f': the store answers 403 InvalidAccessKeyId"));
  EXPECT_THAT(refused, Not(HasSubstr("hidden-value")));
  files_ = Make({});
  EXPECT_THAT(Write("s3://b/f", "x").ToString(), HasSubstr("there are no credentials for s3://"));
  EXPECT_THAT(Write("s3:///f", "x").ToString(), HasSubstr("names no bucket"));
}

TEST(S3OptionsTest, OptionsWinOverTheEnvironment) {
  const EnvironmentVariables variables{{"AWS_ENDPOINT_URL", "http://a:1/"}, {"AWS_REGION", "eu-west-1"}};
  const S3Options base = S3Options::FromEnvironment(variables);
  EXPECT_EQ(base.endpoint, "http://a:1");
  EXPECT_EQ(base.region, "eu-west-1");
  const Result<S3Options> made = S3Options::From(
      {{"s3.endpoint", "https://b"}, {"client.region", "us-west-2"}, {"s3.path-style-access", "false"}},
      base);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->endpoint, "https://b");
  EXPECT_EQ(made->region, "us-west-2");
  EXPECT_EQ(made->path_style, false);
  EXPECT_FALSE(S3Options::From({{"s3.access-key-id", "a"}}, base).ok());
  EXPECT_FALSE(S3Options::From({{"s3.endpoint", "host"}}, base).ok());
  EXPECT_FALSE(S3Options::From({{"s3.path-style-access", "maybe"}}, base).ok());
}

TEST(S3OptionsTest, AnOptionThatNobodyReadsIsRefused) {
  for (const char* name : {"s3.endpont", "s3.sse.type"}) {
    EXPECT_TRUE(S3Options::AreIn({{"path", "s3://b"}, {name, "x"}})) << name;
    EXPECT_THAT(S3Options::From({{"path", "s3://b"}, {name, "x"}}, {}).status().ToString(),
                HasSubstr(fmt::format("option '{}' is not known", name)));
  }
  EXPECT_FALSE(S3Options::AreIn({{"path", "s3://b"}}));
}

TEST(S3TimeTest, TimesAreOfTheirZone) {
  EXPECT_EQ(ParseS3Time("1970-01-01T00:00:01.250Z"), 1250);
  EXPECT_EQ(ParseS3Time("2026-03-01T12:00:00Z"), 1'772'366'400'000);
  EXPECT_EQ(ParseS3Time("yesterday"), 0);
}

}  // namespace
}  // namespace caudal
