// StatusBoard: the last look at a run's jobs, for pages that other threads serve. Any thread.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "base/env.h"
#include "run/job_progress.h"
#include "server/http/http_server.h"

namespace caudal {

class StatusBoard {
 public:
  explicit StatusBoard(Env* env) : env_(env) {}

  // `not_running`: a line for each query that does not run although it has not come to its end.
  void Show(std::vector<JobProgress> jobs, std::vector<std::string> not_running);

  HttpPage Metrics() const;
  HttpPage Live() const;    // 200 as long as the run's loop goes round
  HttpPage Ready() const;   // 200 when every query runs, its last epoch a success, or has come to its end
  HttpPage Status() const;  // JSON for people and scripts

 private:
  Env* env_;
  mutable std::mutex mutex_;
  std::vector<JobProgress> jobs_;
  std::vector<std::string> not_running_;
  int64_t shown_nanos_ = 0;
};

}  // namespace caudal
