// A program that reads the letter and writes the answer.
#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>

#include "engineer/correspondent.h"
#include "os/descriptor.h"
#include "os/process.h"

namespace ksearch::engineer {
namespace {

namespace fs = std::filesystem;
using Steady = std::chrono::steady_clock;

constexpr std::uintmax_t kLargestOutput = 16u << 20;

/// The last line that is not blank, at most 300 characters: usually the message.
std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ' || text.back() == '\r'))
    text.pop_back();
  text = text.substr(text.rfind('\n') + 1);
  return text.size() > 300 ? text.substr(0, 300) + "..." : text;
}

class ExecCorrespondent final : public Correspondent {
 public:
  ExecCorrespondent(ExecOptions options, Patience patience)
      : options_(std::move(options)), patience_(std::move(patience)) {}

  std::string name() const override { return "exec:" + options_.command; }

  LetterReply ask(const Letter& letter) override {
    auto answer = run(letter);
    if (!answer) return {Lost{answer.error().text()}};
    return {llm::RawReply{std::move(*answer)}};
  }

 private:
  base::Result<std::string> run(const Letter& letter) const {
    KS_TRY(const os::TempFolder folder, os::TempFolder::create("ksearch-letter-"));
    const fs::path in = folder.path() / "in", out = folder.path() / "out",
                   errors = folder.path() / "errors";
    KS_RETURN_IF_ERROR(os::write_file(in, letter.text));
    const os::Descriptor from(::open(in.c_str(), O_RDONLY | O_CLOEXEC));
    const os::Descriptor to(::open(out.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    const os::Descriptor said(::open(errors.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    if (from.get() < 0 || to.get() < 0 || said.get() < 0)
      return base::environment_error(folder.path().string(), "a file cannot be opened");
    os::Command command;
    command.argv = {"/bin/sh", "-c", options_.command};
    command.environment = options_.environment;
    command.environment["KSEARCH_REQUEST"] = letter_name(letter);
    command.environment["KSEARCH_KIND"] = letter.kind;
    command.descriptors = {{from.get(), 0}, {to.get(), 1}, {said.get(), 2}};
    if (!letter.refusal.empty() && patience_.say) patience_.say(letter.refusal);
    if (patience_.say)
      patience_.say(fmt::format("{} is asked ({}{}{})", options_.command, letter.kind,
                                letter.title.empty() ? "" : ": ", letter.title));
    KS_TRY(os::Process process, os::Process::start(command));
    KS_TRY(const os::ExitStatus status, wait(process, out));
    if (status.code != 0 || status.killed_by() != 0) {
      const auto text = os::read_file(errors, kLargestOutput);
      const std::string message = text ? last_line(*text) : "";
      return base::environment_error(
          options_.command,
          fmt::format("{}{}{}",
                      status.killed_by() != 0
                          ? fmt::format("was ended by signal {}", status.killed_by())
                          : fmt::format("ended with status {}", status.code),
                      message.empty() ? "" : ": ", message));
    }
    return os::read_file(out, kLargestOutput);
  }

  base::Result<os::ExitStatus> wait(os::Process& process, const fs::path& out) const {
    const auto began = Steady::now();
    while (true) {
      if (const auto status = process.wait(patience_.look_every)) return *status;
      std::error_code error;
      std::string why;
      if (patience_.give_up && patience_.give_up())
        why = "was stopped";
      else if (Steady::now() - began > options_.limit)
        why = fmt::format("had no answer within {} s",
                          std::chrono::duration_cast<std::chrono::seconds>(options_.limit).count());
      else if (fs::file_size(out, error) > kLargestOutput && !error)
        why = "wrote over 16 MiB";
      if (why.empty()) continue;
      process.kill();
      return base::environment_error(options_.command, why);
    }
  }

  ExecOptions options_;
  Patience patience_;
};

}  // namespace

std::unique_ptr<Correspondent> make_exec_correspondent(ExecOptions options, Patience patience) {
  return std::make_unique<ExecCorrespondent>(std::move(options), std::move(patience));
}

}  // namespace ksearch::engineer
