// What a kernel's parameters are bound to: initialisers of ks::Parameter, in their order.
#include <fmt/format.h>

#include "simt/msl/rewrite.h"

namespace ksearch::simt::msl {
namespace {

/// Metal's names of thread attributes, and ours (ks::Attribute).
const std::map<std::string, std::string, std::less<>> kThreadAttributes = {
    {"thread_position_in_threadgroup", "position_in_group"},
    {"threadgroup_position_in_grid", "group_position"},
    {"thread_position_in_grid", "position_in_grid"},
    {"threads_per_threadgroup", "group_size"},
    {"dispatch_threads_per_threadgroup", "dispatch_group_size"},
    {"threadgroups_per_grid", "groups"},
    {"threads_per_grid", "grid_size"},
    {"grid_size", "grid_size"},
    {"grid_origin", "grid_origin"},
    {"thread_index_in_threadgroup", "index_in_group"},
    {"thread_index_in_simdgroup", "lane"},
    {"simdgroup_index_in_threadgroup", "simdgroup"},
    {"simdgroups_per_threadgroup", "simdgroups"},
    {"dispatch_simdgroups_per_threadgroup", "simdgroups"},
    {"threads_per_simdgroup", "simdgroup_size"},
    {"thread_execution_width", "simdgroup_size"},
    {"thread_index_in_quadgroup", "quad_lane"},
    {"quadgroup_index_in_threadgroup", "quad"},
    {"quadgroups_per_threadgroup", "quads"},
    {"dispatch_quadgroups_per_threadgroup", "quads"}};

/// The places of the commas that part [from, to), ended by `to`.
std::vector<std::size_t> parts(const Source& source, std::size_t from, std::size_t to) {
  std::vector<std::size_t> ends;
  for (std::size_t i = from; i < to; ++i) {
    const Token& token = source.tokens[i];
    if (token.is("(") || token.is("[") || token.is("{"))
      i = source.after_closing(i) - 1;
    else if (token.is("<") && source.after_angle(i) > i)
      i = source.after_angle(i) - 1;
    else if (token.is(","))
      ends.push_back(i);
  }
  ends.push_back(to);
  return ends;
}

class ParameterReader {
 public:
  explicit ParameterReader(const Source& source) : source_(source) {}

  base::Result<std::string> run(const Function& function) {
    const std::size_t open = function.name_at + 1;
    const std::size_t close = source_.after_closing(open) - 1;
    std::string all;
    if (close == open + 1) return all;
    std::set<std::string> taken;
    for (std::size_t i = open; i < close; ++i)
      if (const Attribute* buffer = attribute_of(source_, source_.tokens[i], "buffer"))
        if (const auto index = number_of(*buffer)) taken.insert(std::to_string(*index));
    int next = 0;
    std::size_t from = open + 1;
    for (const std::size_t to : parts(source_, open + 1, close)) {
      KS_TRY(const std::string one, read_parameter(from, to, taken, next));
      all += one + ", ";
      from = to + 1;
    }
    return all;
  }

 private:
  base::Result<std::string> read_parameter(std::size_t from, std::size_t to,
                                           std::set<std::string>& taken, int& next) {
    bool constant = false, memory = false;
    std::string kind, condition;
    for (std::size_t i = from; i < to; ++i) {
      const Token& token = source_.tokens[i];
      if (token.is("constant")) constant = true;
      if (token.is("*") || token.is("&") || token.is("[")) memory = true;  // an array is a pointer
      if (token.is_identifier() && (token.spelling.starts_with("texture") || token.is("sampler") ||
                                    token.spelling.starts_with("depth2d")))
        return base::usage_error(token.place(), token.spelling + " is not supported",
                                 "only buffers are");
      if (token.kind != Token::Kind::attribute) continue;
      for (const Attribute& attribute : source_.attributes[token.attributes]) {
        const auto thread = kThreadAttributes.find(attribute.name);
        if (attribute.name == "buffer")
          kind = "buffer, int(" + attribute.argument + ")";
        else if (attribute.name == "threadgroup")
          kind = "group_memory, int(" + attribute.argument + ")";
        else if (attribute.name == "function_constant")
          condition = attribute.argument;
        else if (thread != kThreadAttributes.end())
          kind = "attribute, int(ks::Attribute::" + thread->second + ")";
        else
          return base::usage_error(token.place(),
                                   fmt::format("[[{}]] is not supported", attribute.name));
      }
    }
    if (kind.empty()) {
      if (!memory)
        return base::usage_error(source_.tokens[from].place(),
                                 "a kernel's parameter is a buffer or has a thread attribute");
      while (taken.contains(std::to_string(next))) ++next;
      kind = fmt::format("buffer, {}", next);
      taken.insert(std::to_string(next));
    }
    std::string text = fmt::format("{{ks::ArgumentKind::{}, ks::Space::{}}}", kind,
                                   constant ? "constant" : "device");
    if (!condition.empty())
      text = fmt::format(
          "({}) ? ks::Parameter{} : ks::Parameter{{ks::ArgumentKind::absent, 0, "
          "ks::Space::device}}",
          condition, text);
    return text;
  }

  const Source& source_;
};

}  // namespace

const Attribute* attribute_of(const Source& source, const Token& token, std::string_view name) {
  if (token.kind == Token::Kind::attribute)
    for (const Attribute& attribute : source.attributes[token.attributes])
      if (attribute.name == name) return &attribute;
  return nullptr;
}

base::Result<std::string> kernel_parameters(const Source& source, const Function& function) {
  return ParameterReader(source).run(function);
}

}  // namespace ksearch::simt::msl
