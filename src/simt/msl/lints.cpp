#include "simt/msl/lints.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "simt/msl/body.h"
#include "simt/msl/rewrite.h"
#include "simt/msl/spaces.h"

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
      if (token.is("bfloat") || token.is("bfloat16_t")) narrowing(i);
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

  /// bfloat x = 1.5f * y;
  void narrowing(std::size_t i) {
    if (i + 2 >= source_.tokens.size() || !source_.tokens[i + 1].is_identifier() ||
        !source_.tokens[i + 2].is("="))
      return;
    for (std::size_t k = i + 3; k < source_.tokens.size() && !source_.tokens[k].is(";"); ++k) {
      const Token& token = source_.tokens[k];
      if (token.is("(") || token.is("{")) {
        k = source_.after_closing(k) - 1;  // a conversion, or somebody else's argument
        continue;
      }
      const bool is_float = token.kind == Token::Kind::number && !token.spelling.ends_with("bf") &&
                            !token.spelling.starts_with("0x") &&
                            token.spelling.find_first_of(".f") != std::string::npos;
      if (!is_float) continue;
      say(token, fmt::format("{} is a float: Apple's compiler does not make it a bfloat unless "
                             "told to, by bfloat(...) or the suffix bf",
                             token.spelling));
      return;
    }
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
      if (token.is("<") && source_.after_angle(i) > i && source_.after_angle(i) <= close) {
        i = source_.after_angle(i) - 1;  // array<uint2, 3>
        continue;
      }
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

/// Whether `word` stands in the text as a word of its own, outside comments.
bool stands_alone(const Source& source, std::string_view word) {
  for (const Token& token : source.tokens)
    if (token.is(word)) return true;
  return false;
}

std::string without_comments(std::string_view text) {
  std::string code;
  for (std::size_t i = 0; i < text.size();) {
    if (text.substr(i).starts_with("//")) {
      i = std::min(text.find('\n', i), text.size());
    } else if (text.substr(i).starts_with("/*")) {
      const std::size_t end = text.find("*/", i + 2);
      i = end == std::string_view::npos ? text.size() : end + 2;
    } else {
      code += text[i++];
    }
  }
  return code;
}

/// MLX looks for names as text: in longer words and comments too.
void name_traps(const Case& all, std::vector<std::string>& said) {
  const Source words = source::tokenize(without_comments(all.source));
  std::vector<std::string> names;
  for (const std::string_view attribute : attribute_names()) names.emplace_back(attribute);
  for (const BodyArgument& argument : body_arguments(all)) {
    if (argument.kind == BodyArgument::Kind::shape) names.push_back(argument.buffer + "_shape");
    if (argument.kind == BodyArgument::Kind::strides) names.push_back(argument.buffer + "_strides");
    if (argument.kind == BodyArgument::Kind::ndim) names.push_back(argument.buffer + "_ndim");
  }
  for (const std::string& name : names)
    if (all.source.find(name) != std::string::npos && !stands_alone(words, name))
      said.push_back(
          fmt::format("{}: {} stands only inside another word or a comment; MLX adds the "
                      "parameter all the same",
                      all.file, name));
}

/// A grid counted in groups where MLX counts threads.
void grid_traps(const Case& all, std::vector<std::string>& said) {
  const auto product = [](const std::array<std::uint32_t, 3>& a) {
    return std::uint64_t{a[0]} * a[1] * a[2];
  };
  for (const Launch& launch : all.launches) {
    const std::uint64_t group = product(launch.group_size);
    if (!launch.threads || group <= 1) continue;
    const std::uint64_t count = product(*launch.threads);
    for (const Buffer& buffer : all.buffers)
      if (buffer.role == Role::out &&
          count * group == static_cast<std::uint64_t>(buffer.elements()))
        said.push_back(fmt::format(
            "{}: the grid has {} threads and {} has {} elements, {} times as many, the size of a "
            "group; MLX counts it in threads, not in groups",
            all.file, count, buffer.name, buffer.elements(), group));
  }
}

}  // namespace

std::vector<std::string> lint(const Case& all, std::string_view preprocessed) {
  Source source = source::tokenize(preprocessed);
  read_attributes(source);
  const Scopes scopes = source::find_scopes(source);
  std::vector<std::string> said = Linter(source, scopes, all.file).run();
  for (std::string& space : check_spaces(source, scopes, all.file))
    if (std::find(said.begin(), said.end(), space) == said.end()) said.push_back(std::move(space));
  if (all.body) {
    name_traps(all, said);
    grid_traps(all, said);
  }
  constexpr std::uint64_t kFewThreads = 32;
  for (const Launch& launch : all.launches) {
    if (!all.body || !launch.threads) continue;
    const auto& grid = *launch.threads;
    const std::uint64_t threads = std::uint64_t{grid[0]} * grid[1] * grid[2];
    // As many elements as threads is a small grid, not a wrong one.
    const bool too_few = std::any_of(all.buffers.begin(), all.buffers.end(), [&](const Buffer& b) {
      return b.role != Role::in && static_cast<std::uint64_t>(b.elements()) > threads;
    });
    if (threads < kFewThreads && too_few)
      said.push_back(
          fmt::format("{}: the grid has {} threads in all; MLX counts it in threads, not "
                      "in groups",
                      all.file, threads));
  }
  return said;
}

}  // namespace ksearch::simt::msl
