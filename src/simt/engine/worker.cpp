#include "simt/engine/worker.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <new>

#include "os/files.h"
#include "simt/engine/job.h"

namespace ksearch::simt {

int run_simt_worker(const std::filesystem::path& path) {
  using base::Json;
  const auto say = [](const Json& json) {
    fmt::print("{}\n", base::to_line(json));
    std::fflush(stdout);
  };
  Json answer;
  int status = 1;
  // The adaptor around nlohmann's exceptions and bad_alloc: a job is ours, so either is told.
  try {
    const auto text = os::read_file(path);
    const auto job = text ? base::parse_json(*text, "job") : std::unexpected(text.error());
    const auto report = job ? (new Job(*job))->run() : std::unexpected(job.error());  // see Job
    if (report) {
      answer = *report;
      status = 0;
    } else {
      answer = {{"failed", report.error().what},
                {"where", report.error().where},
                {"todo", report.error().todo},
                {"usage", report.error().kind == base::ErrorKind::usage}};
    }
  } catch (const std::bad_alloc&) {
    answer = {{"failed", "there is not enough memory for the buffers and their shadows"}};
  } catch (const nlohmann::json::exception& error) {
    answer = {{"failed", error.what()}};
  }
  say(answer);
  ::_exit(status);  // no destructors of the object
}

}  // namespace ksearch::simt
