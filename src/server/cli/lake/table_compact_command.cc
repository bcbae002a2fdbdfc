#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "api/connector.h"
#include "connect/iceberg/compact/compact_table.h"
#include "server/cli/lake/for_each_table.h"

namespace caudal {
namespace {

Status ReadSize(const std::string& text, const char* option, std::optional<int64_t>* size) {
  if (text.empty()) return Status();
  const Result<int64_t> bytes = ParseBytes(text);
  if (!bytes.ok()) return Status(bytes.status()).At(option);
  *size = *bytes;
  return Status();
}

Result<CompactTableOptions> OptionsOf(const TableCommand& command) {
  CompactTableOptions options;
  RETURN_IF_ERROR(ReadSize(command.target_size, "--target-file-size", &options.what.target_file_size_bytes));
  RETURN_IF_ERROR(ReadSize(command.min_size, "--min-file-size", &options.what.min_file_size_bytes));
  RETURN_IF_ERROR(ReadSize(command.max_size, "--max-file-size", &options.what.max_file_size_bytes));
  options.what.min_input_files = command.min_input_files;
  options.what.delete_file_threshold = command.delete_files;
  options.what.delete_ratio_threshold = command.delete_ratio;
  options.what.rewrite_all = command.rewrite_all;
  options.max_commits = command.max_commits;
  options.dry = command.dry;
  const auto cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  options.threads = command.threads > 0 ? command.threads : cores;
  options.commit.wait = [](int64_t millis) {
    std::this_thread::sleep_for(std::chrono::milliseconds(millis));
  };
  return options;
}

void PrintCompacted(const LakeTable& table, const CompactionReport& report, bool dry, Console& console) {
  if (console.json) {
    nlohmann::ordered_json left_out = nlohmann::ordered_json::array();
    for (const auto& [why, files] : report.left_out) left_out.push_back({{"why", why}, {"files", files}});
    nlohmann::ordered_json unreadable = nlohmann::ordered_json::array();
    for (const auto& [file, why] : report.unreadable)
      unreadable.push_back({{"file", file}, {"why", why.message()}});
    console.Out(nlohmann::ordered_json{{"table", table.shown},
                                       {"dry_run", dry},
                                       {"groups", report.groups},
                                       {"files_in", report.files_in},
                                       {"bytes_in", report.bytes_in},
                                       {"rows_in", report.rows_in},
                                       {"files_out", report.files_out},
                                       {"bytes_out", report.bytes_out},
                                       {"rows_out", report.rows_out},
                                       {"deletes_gone", report.deletes_gone},
                                       {"moved_deletes", report.moved_deletes},
                                       {"lost", report.lost},
                                       {"snapshots", report.snapshots},
                                       {"left_out", std::move(left_out)},
                                       {"unreadable", std::move(unreadable)}}
                    .dump() +
                "\n");
    return;
  }
  if (dry) {
    console.Out(fmt::format("{}: {} files, {} bytes, would be rewritten in {} groups\n", table.shown,
                            GroupDigits(report.files_in), GroupDigits(report.bytes_in),
                            GroupDigits(report.groups)));
  } else {
    console.Out(fmt::format("{}: {} files, {} bytes, became {} files, {} bytes; {} files of deletes went\n",
                            table.shown, GroupDigits(report.files_in), GroupDigits(report.bytes_in),
                            GroupDigits(report.files_out), GroupDigits(report.bytes_out),
                            GroupDigits(report.deletes_gone)));
  }
  for (const auto& [why, files] : report.left_out)
    console.Note(fmt::format("{}: {} files stay: {}", table.shown, GroupDigits(files), why));
  if (report.lost > 0) {
    console.Note(fmt::format("{}: {} groups were begun anew, since another writer changed them", table.shown,
                             GroupDigits(report.lost)));
  }
}

}  // namespace

int CompactTables(const TableCommand& command, Console& console) {
  Result<CompactTableOptions> options = OptionsOf(command);
  if (!options.ok()) return console.Fail(options.status(), ExitCode::kUsage);
  bool all_readable = true;
  const int code = ForEachTable(command, console, [&](const LakeTable& table) {
    const iceberg::TableFiles& files = table.lake->files();
    options->prefix = fmt::format("compact-{}-", files.NewUuid());
    options->progress = [&](const CompactionReport& report, int64_t groups) {
      console.Progress(fmt::format("{}: {} of {} groups, {} files, {} bytes", table.shown,
                                   GroupDigits(report.groups), GroupDigits(groups),
                                   GroupDigits(report.files_in), GroupDigits(report.bytes_in)));
    };
    iceberg::HeadFiles known;
    CompactionReport report;
    const Status status =
        CompactTable(&table.lake->catalog(), files, table.options.name, &known, *options, &report);
    if (!report.snapshots.empty() || status.ok()) PrintCompacted(table, report, command.dry, console);
    for (const auto& [file, why] : report.unreadable) {
      (void)console.Fail(
          Status(why)
              .At(fmt::format("data file '{}' of table '{}'", file, table.shown))
              .Hint("its partition's files that were to be rewritten with it stay as they are; "
                    "'caudal table check --all' tells what else is wrong"),
          ExitCode::kData);
    }
    if (!status.ok()) {
      const bool outside = status.domain() == Domain::kExternal;
      return console.Fail(status, outside ? ExitCode::kInternal : RefusalCode(status));
    }
    all_readable = all_readable && report.unreadable.empty();
    return static_cast<int>(ExitCode::kOk);
  });
  return code == 0 && !all_readable ? static_cast<int>(ExitCode::kData) : code;
}

}  // namespace caudal
