#include "simt/engine/worker.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <new>

#include "simt/engine/job.h"

namespace ksearch::simt {
namespace {

/// To the first NUL: some systems lengthen shared memory to whole pages.
base::Result<std::string> read_job() {
  struct stat job {};
  if (::fstat(kJobDescriptor, &job) != 0 || job.st_size == 0)
    return base::internal_error("the checking process", "it was given no job");
  const auto bytes = static_cast<std::size_t>(job.st_size);
  void* at = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, kJobDescriptor, 0);
  if (at == MAP_FAILED) return base::internal_error("the checking process", "no memory for a job");
  std::string text(static_cast<const char*>(at), ::strnlen(static_cast<const char*>(at), bytes));
  ::munmap(at, bytes);
  return text;
}

}  // namespace

int run_simt_worker() {
  using base::Json;
  const auto say = [](const Json& json) {
    fmt::print("{}\n", base::to_line(json));
    std::fflush(stdout);
  };
  Json answer;
  int status = 1;
  // The adaptor around nlohmann's exceptions and bad_alloc: a job is ours, so either is told.
  try {
    const auto text = read_job();
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
