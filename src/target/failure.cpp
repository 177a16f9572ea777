#include "target/failure.h"

#include <fmt/format.h>
#include <signal.h>

#include "os/refused_call.h"

namespace ksearch::target {
namespace {
using base::Json;
using kernel::Verdict;

constexpr std::size_t kCompileLog = 4096;

std::uint64_t number_or(const Json& json, const char* key, std::uint64_t otherwise) {
  const auto found = json.find(key);
  return found != json.end() && found->is_number_unsigned() ? found->get<std::uint64_t>()
                                                            : otherwise;
}

std::string text_or(const Json& json, const char* key, std::string_view otherwise,
                    std::size_t most = 300) {
  const auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>().substr(0, most)
                                                   : std::string(otherwise);
}

bool is_true(const Json& json, const char* key) {
  const auto found = json.find(key);
  return found != json.end() && found->is_boolean() && found->get<bool>();
}

std::string signal_text(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "segmentation fault";
    case SIGBUS:
      return "bus error";
    case SIGFPE:
      return "arithmetic fault, such as an integer division by zero";
    case SIGILL:
      return "illegal instruction or trap";
    case SIGTRAP:
      return "trap";
    case SIGABRT:
      return "aborted";
    case SIGKILL:
      return "killed (signal 9), as the system does when memory runs out";
    case SIGXCPU:
      return "killed for its CPU time";
    default:
      return fmt::format("killed by signal {}", signal);
  }
}

Verdict memory_exceeded(const FaultContext& context) {
  const double limit = static_cast<double>(context.memory_limit_bytes);
  return kernel::LimitExceeded{"memory of the worker in bytes", limit, limit};
}

/// Which buffer a fault was beside. A region holds one set after another, or the plan's own memory.
std::optional<kernel::Finding> beside_buffer(const Json& message, const FaultContext& context) {
  const auto region = message.find("region");
  if (region == message.end() || !region->is_number_unsigned()) return std::nullopt;
  const Arena* arena = *region == 0 ? context.set : context.own;
  if (!arena || arena->bytes() == 0) return std::nullopt;
  return explain_fault(*arena, number_or(message, "offset", 0) % arena->bytes(),
                       is_true(message, "write"));
}

Verdict explain_signal(const Json& message, const FaultContext& context) {
  const int signal = static_cast<int>(number_or(message, "signal", 0));
  if (const auto finding = beside_buffer(message, context)) return kernel::Unsafe{{*finding}};
  if (is_true(message, "memory")) return memory_exceeded(context);
  if (is_true(message, "stack")) return kernel::Crashed{"stack overflow"};
  std::string why = signal_text(signal);
  if (message.contains("address"))
    why += fmt::format(": {} address {:#x}", is_true(message, "write") ? "writes" : "reads",
                       number_or(message, "address", 0));
  return kernel::Crashed{std::move(why)};
}

}  // namespace

Verdict explain_message(const Json& message, const FaultContext& context) {
  if (message.is_object()) {
    if (message.contains("refused"))
      return kernel::Rejected{
          "sandbox",
          os::describe_refused_call(static_cast<long>(number_or(message, "refused", 0)),
                                    number_or(message, "first", 0), text_or(message, "path", ""))};
    if (message.contains("signal")) return explain_signal(message, context);
    const std::string failed = text_or(message, "failed", "");
    const std::string why = text_or(message, "why", "no reason given");
    if (failed == "memory") return memory_exceeded(context);
    if (failed == "exception") return kernel::Crashed{"threw an exception: " + why};
    if (failed == "compile")
      return kernel::CompileFailed{text_or(message, "why", "no reason given", kCompileLog)};
    if (failed == "load") return kernel::CompileFailed{"cannot be loaded: " + why};
    if (failed == "script") return kernel::Crashed{why};
    if (failed == "unsupported") return kernel::Unsupported{why};
  }
  return kernel::Rejected{"sandbox", "it wrote to the worker's control channel"};
}

Verdict explain_end(const WorkerEnd& end, std::chrono::milliseconds limit) {
  switch (end.why) {
    case WorkerEnd::Why::time:
      return kernel::TimedOut{std::chrono::duration<double>(limit).count()};
    case WorkerEnd::Why::output:
      return kernel::LimitExceeded{"output of the worker in bytes", 1 << 20, 1 << 20};
    case WorkerEnd::Why::garbage:
      return kernel::Rejected{"sandbox", "it flooded the worker's control channel"};
    case WorkerEnd::Why::left:
      break;
  }
  // The report of a refused call is a signal itself, and glibc blocks those while it starts a
  // thread.
  if (end.status.killed_by() == SIGSYS)
    return kernel::Rejected{"sandbox",
                            "it made a system call that is refused with all signals blocked, "
                            "as starting a thread does"};
  if (const int signal = end.status.killed_by()) return kernel::Crashed{signal_text(signal)};
  return kernel::Crashed{
      fmt::format("left with status {} in the middle of a call", end.status.code)};
}

}  // namespace ksearch::target
