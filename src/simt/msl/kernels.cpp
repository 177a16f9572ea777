#include <fmt/format.h>
#include <fmt/ranges.h>

#include "simt/msl/declarator.h"
#include "simt/msl/rewrite.h"

namespace ksearch::simt::msl {
namespace {

struct KernelFunction {
  std::string qualified;  ///< name from outside
  std::string host_name;
  std::string parameters;  ///< initialisers of ks::Parameter
  bool is_template = false;
  std::size_t count = 0;  ///< of parameters
};

struct TableEntry {
  std::string host_name, instance;
  const KernelFunction* function = nullptr;
};

class Collector {
 public:
  Collector(Source& source, const Scopes& scopes, const std::set<std::string>& wanted)
      : source_(source), scopes_(scopes), wanted_(wanted) {}

  base::Result<std::string> run() {
    for (const Function& function : scopes_.functions) KS_RETURN_IF_ERROR(take_function(function));
    for (std::size_t i = 0; i + 1 < source_.tokens.size(); ++i)
      if (source_.tokens[i].is("template") && source_.tokens[i + 1].kind == Token::Kind::attribute)
        KS_RETURN_IF_ERROR(take_instance(i));
    for (const auto& [name, overloads] : functions_)
      for (const KernelFunction& function : overloads)
        if (!function.is_template)
          entries_.push_back({function.host_name, "&" + function.qualified, &function});
    return table();
  }

 private:
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
    KernelFunction kernel{.qualified = function.space + function.name,
                          .host_name = function.name,
                          .count = count_arguments(function.name_at + 1)};
    for (std::size_t i = function.head; i < function.name_at; ++i) {
      Token& token = source_.tokens[i];
      if (token.is("template")) kernel.is_template = true;
      if (token.is("vertex") || token.is("fragment"))
        return base::usage_error(token.place(), "only compute kernels are run");
      if (token.is("kernel")) {
        is_kernel = true;
        source_.erase(i, i + 1);
      }
      if (attribute_of(source_, token, "kernel")) is_kernel = true;
      if (const Attribute* host_name = attribute_of(source_, token, "host_name"))
        kernel.host_name = unquoted(host_name->argument);
    }
    if (!is_kernel) return {};
    // Those that nobody asked for are not compiled then. Before the type, where `kernel` may stand.
    std::size_t type = function.head;
    if (source_.tokens[type].is("template")) type = source_.after_angle(type + 1);
    if (!source_.tokens[type].is("inline")) source_.tokens[type].before += "inline ";
    KS_TRY(kernel.parameters, kernel_parameters(source_, function));
    functions_[function.name].push_back(std::move(kernel));
    return {};
  }

  /// Of the parenthesis at `open`.
  std::size_t count_arguments(std::size_t open) const {
    const std::size_t close = source_.after_closing(open) - 1;
    std::size_t count = 0;
    for (std::size_t i = open + 1; i < close; i = argument_end(source_, i, close) + 1) ++count;
    return count;
  }
  /// The template of this name; of several the one with as many parameters as the list at `list`.
  const KernelFunction* template_named(const std::string& name, std::size_t list) const {
    const auto found = functions_.find(name);
    if (found == functions_.end()) return nullptr;
    if (found->second.size() == 1) return &found->second.front();
    if (!source_.tokens[list].is("(")) return nullptr;
    for (const KernelFunction& function : found->second)
      if (function.count == count_arguments(list)) return &function;
    return nullptr;
  }

  /// template [[host_name("x")]] [[kernel]] decltype(f<A>) f<A>;   or   ... void f<A>(parameters);
  base::Result<void> take_instance(std::size_t at) {
    const Attribute* host_name = nullptr;
    std::size_t semicolon = at + 1;
    for (; !source_.tokens[semicolon].is(";"); ++semicolon) {
      if (source_.tokens[semicolon].kind == Token::Kind::end)
        return base::usage_error(source_.tokens[at].place(), "this instantiation has no end");
      if (const Attribute* found = attribute_of(source_, source_.tokens[semicolon], "host_name"))
        host_name = found;
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
    const std::size_t list = deduced ? name + 1 : end;
    const KernelFunction* function = template_named(source_.tokens[name].spelling, list);
    if (name == at || !function)
      return base::usage_error(source_.tokens[at].place(),
                               "this instantiation names no kernel template");
    const std::string& space = scopes_.space_of[at];
    std::string instance = "&" + space + plain_text(name, list);
    if (deduced || functions_[source_.tokens[name].spelling].size() > 1)
      instance = fmt::format("static_cast<void (*){}>({})",
                             plain_text(list, source_.after_closing(list)), instance);
    TableEntry entry{unquoted(host_name->argument), std::move(instance), function};
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
  std::map<std::string, std::vector<KernelFunction>> functions_;  ///< overloads by name
  std::vector<TableEntry> entries_;
};

}  // namespace

base::Result<std::string> collect_kernels(Source& source, const Scopes& scopes,
                                          const std::set<std::string>& wanted) {
  return Collector(source, scopes, wanted).run();
}

}  // namespace ksearch::simt::msl
