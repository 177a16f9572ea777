#include "simt/msl/lints.h"

#include <fmt/format.h>

#include <utility>

#include "simt/msl/rewrite.h"

namespace ksearch::simt::msl {
namespace {

class Linter {
 public:
  Linter(const Source& source, const Scopes& scopes, const std::string& file)
      : source_(source), scopes_(scopes), file_(file) {}

  std::vector<std::string> run() {
    for (std::size_t i = 0; i < source_.tokens.size(); ++i) {
      const Token& token = source_.tokens[i];
      if (token.file != file_) continue;
      if (token.is("double")) say(token, "Metal has no double: Apple's compiler refuses it");
      if (token.is("goto")) say(token, "Metal has no goto: Apple's compiler refuses it");
      if (token.is("threadgroup_barrier")) barrier(i);
    }
    for (const Function& function : scopes_.functions) parameters(function);
    return std::move(said_);
  }

 private:
  void say(const Token& token, std::string_view what) {
    said_.push_back(fmt::format("{}: {}", token.place(), what));
  }

  void barrier(std::size_t i) {
    const std::size_t after = source_.after_closing(i + 1);
    if (source_.text(i + 2, after - 1) == "mem_flags :: mem_none")
      say(source_.tokens[i],
          "this barrier orders no memory (mem_none): what is written before it may not be seen "
          "after it");
  }

  /// A pointer or a reference names its address space in Metal.
  void parameters(const Function& function) {
    const std::size_t open = function.name_at + 1;
    if (source_.tokens[open].file != file_ || !source_.tokens[open].is("(")) return;
    const std::size_t close = source_.after_closing(open) - 1;
    bool space = false, told = false;
    for (std::size_t i = open + 1; i < close; ++i) {
      const Token& token = source_.tokens[i];
      if (token.is("device") || token.is("constant") || token.is("thread") ||
          token.is("threadgroup"))
        space = true;
      if (token.is(",")) space = told = false;
      if ((token.is("*") || token.is("&")) && !space && !std::exchange(told, true))
        say(token, fmt::format("a parameter of {} has no address space (device, constant, "
                               "threadgroup, thread): Apple's compiler refuses it",
                               function.name));
      if (token.is("=")) return;  // default values hold anything
    }
  }

  const Source& source_;
  const Scopes& scopes_;
  const std::string& file_;
  std::vector<std::string> said_;
};

}  // namespace

std::vector<std::string> lint(const Case& all, std::string_view preprocessed) {
  Source source = source::tokenize(preprocessed);
  read_attributes(source);
  const Scopes scopes = source::find_scopes(source);
  std::vector<std::string> said = Linter(source, scopes, all.file).run();
  constexpr std::uint64_t kFewThreads = 32;
  for (const Launch& launch : all.launches) {
    if (!all.body || !launch.threads) continue;
    const auto& grid = *launch.threads;
    const std::uint64_t threads = std::uint64_t{grid[0]} * grid[1] * grid[2];
    if (threads < kFewThreads)
      said.push_back(
          fmt::format("{}: the grid has {} threads in all; MLX counts it in threads, not "
                      "in groups",
                      all.file, threads));
  }
  return said;
}

}  // namespace ksearch::simt::msl
