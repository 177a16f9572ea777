#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

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

struct KernelFunction {
  std::string qualified;  ///< name from outside
  std::string host_name;
  std::string parameters;  ///< initialisers of ks::Parameter
  bool is_template = false;
};

struct TableEntry {
  std::string host_name, instance;
  const KernelFunction* function = nullptr;
};

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

class Collector {
 public:
  Collector(Source& source, const Scopes& scopes, const std::set<std::string>& wanted)
      : source_(source), scopes_(scopes), wanted_(wanted) {}

  base::Result<std::string> run() {
    for (const Function& function : scopes_.functions) KS_RETURN_IF_ERROR(take_function(function));
    for (std::size_t i = 0; i + 1 < source_.tokens.size(); ++i)
      if (source_.tokens[i].is("template") && source_.tokens[i + 1].kind == Token::Kind::attribute)
        KS_RETURN_IF_ERROR(take_instance(i));
    for (const auto& [name, function] : functions_)
      if (!function.is_template)
        entries_.push_back({function.host_name, "&" + function.qualified, &function});
    return table();
  }

 private:
  const Attribute* find(const Token& token, std::string_view name) const {
    if (token.kind == Token::Kind::attribute)
      for (const Attribute& attribute : source_.attributes[token.attributes])
        if (attribute.name == name) return &attribute;
    return nullptr;
  }

  static std::string unquoted(std::string text) {
    std::string result;
    bool inside = false;
    for (const char c : text)
      if (c == '"')
        inside = !inside;
      else if (inside)
        result += c;
    return result;
  }

  base::Result<void> take_function(const Function& function) {
    bool is_kernel = false;
    KernelFunction kernel{function.space + function.name, function.name, {}, false};
    for (std::size_t i = function.head; i < function.name_at; ++i) {
      Token& token = source_.tokens[i];
      if (token.is("template")) kernel.is_template = true;
      if (token.is("vertex") || token.is("fragment"))
        return base::usage_error(token.place(), "only compute kernels are run");
      if (token.is("kernel")) {
        is_kernel = true;
        source_.erase(i, i + 1);
      }
      if (find(token, "kernel")) is_kernel = true;
      if (const Attribute* host_name = find(token, "host_name"))
        kernel.host_name = unquoted(host_name->argument);
    }
    if (!is_kernel) return {};
    // Those that nobody asked for are not compiled then. Before the type, where `kernel` may stand.
    std::size_t type = function.head;
    if (source_.tokens[type].is("template")) type = source_.after_angle(type + 1);
    if (!source_.tokens[type].is("inline")) source_.tokens[type].before += "inline ";
    KS_TRY(kernel.parameters, read_parameters(function));
    functions_[function.name] = std::move(kernel);
    return {};
  }

  base::Result<std::string> read_parameters(const Function& function) {
    const std::size_t open = function.name_at + 1;
    const std::size_t close = source_.after_closing(open) - 1;
    std::string all;
    if (close == open + 1) return all;
    std::set<std::string> taken;
    for (std::size_t i = open; i < close; ++i)
      if (const Attribute* buffer = find(source_.tokens[i], "buffer"))
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

  /// template [[host_name("x")]] [[kernel]] decltype(f<A>) f<A>;   or   ... void f<A>(parameters);
  base::Result<void> take_instance(std::size_t at) {
    const Attribute* host_name = nullptr;
    std::size_t semicolon = at + 1;
    for (; !source_.tokens[semicolon].is(";"); ++semicolon) {
      if (source_.tokens[semicolon].kind == Token::Kind::end)
        return base::usage_error(source_.tokens[at].place(), "this instantiation has no end");
      if (const Attribute* found = find(source_.tokens[semicolon], "host_name")) host_name = found;
    }
    if (!host_name) return {};
    std::size_t end = semicolon;
    std::size_t name = at;
    // The last NAME< that is no argument of another: depth 0 of parentheses and angles.
    for (std::size_t i = at + 1; i < semicolon; ++i) {
      const Token& token = source_.tokens[i];
      if (token.is("(")) {
        if (name != at) end = i;
        const std::size_t after = source_.after_closing(i);
        if (name != at) break;
        i = after - 1;
      } else if (token.is("<")) {
        if (source_.tokens[i - 1].is_identifier()) name = i - 1;
        const std::size_t after = source_.after_angle(i);
        if (after > i) i = after - 1;
      }
    }
    // ... void f(parameters);   with the arguments left to be deduced.
    const bool deduced = name == at;
    for (std::size_t i = at + 1; deduced && i < semicolon && name == at; ++i)
      if (source_.tokens[i].is("(") && source_.tokens[i - 1].is_identifier()) name = i - 1;
    const auto function = functions_.find(source_.tokens[name].spelling);
    if (name == at || function == functions_.end())
      return base::usage_error(source_.tokens[at].place(),
                               "this instantiation names no kernel template");
    const std::string& space = scopes_.space_of[at];
    std::string instance = "&" + space + plain_text(name, deduced ? name + 1 : end);
    if (deduced)
      instance = fmt::format("static_cast<void (*){}>({})",
                             plain_text(name + 1, source_.after_closing(name + 1)), instance);
    TableEntry entry{unquoted(host_name->argument), std::move(instance), &function->second};
    entries_.push_back(std::move(entry));
    source_.erase(at, semicolon + 1);
    return {};
  }

  /// The tokens as C++: without address spaces.
  std::string plain_text(std::size_t from, std::size_t to) const {
    std::string all;
    for (std::size_t i = from; i < to; ++i) {
      const Token& token = source_.tokens[i];
      if (token.kind == Token::Kind::directive || token.kind == Token::Kind::attribute) continue;
      if (token.is("device") || token.is("threadgroup") || token.is("thread")) continue;
      all += (all.empty() ? "" : " ") + (token.is("constant") ? "const" : token.spelling);
    }
    return all;
  }

  base::Result<std::string> table() const {
    std::string arrays, rows;
    std::set<std::string> missing = wanted_;
    int number = 0;
    for (const TableEntry& entry : entries_) {
      if (!wanted_.contains(entry.host_name)) continue;
      missing.erase(entry.host_name);
      arrays += fmt::format("static const ks::Parameter ks_parameters_{}[] = {{{}{{}}}};\n", number,
                            entry.function->parameters);
      rows += fmt::format(
          "  {{\"{0}\", &ks::Run<{1}>::run, ks_parameters_{2}, "
          "sizeof(ks_parameters_{2}) / sizeof(ks::Parameter) - 1}},\n",
          entry.host_name, entry.instance, number);
      ++number;
    }
    if (!missing.empty()) {
      std::vector<std::string> known;
      for (const TableEntry& entry : entries_)
        if (known.size() < 12) known.push_back(entry.host_name);
      return base::usage_error("kernel " + *missing.begin(), "the source has none of this name",
                               known.empty() ? "it has no kernel at all"
                                             : fmt::format("it has {}", fmt::join(known, ", ")));
    }
    return arrays + "static const ks::Kernel ks_kernels[] = {\n" + rows +
           "};\nKS_ATTACH(ks_kernels)\n";
  }

  Source& source_;
  const Scopes& scopes_;
  const std::set<std::string>& wanted_;
  std::map<std::string, KernelFunction> functions_;
  std::vector<TableEntry> entries_;
};

}  // namespace

base::Result<std::string> collect_kernels(Source& source, const Scopes& scopes,
                                          const std::set<std::string>& wanted) {
  return Collector(source, scopes, wanted).run();
}

}  // namespace ksearch::simt::msl
