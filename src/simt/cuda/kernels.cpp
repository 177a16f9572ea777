#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "simt/cuda/rewrite.h"

namespace ksearch::simt::cuda {
namespace {

bool marked(const Source& source, const Function& function, std::string_view mark) {
  for (std::size_t i = function.head; i < function.name_at; ++i)
    if (source.tokens[i].is(mark)) return true;
  return false;
}

}  // namespace

base::Result<std::string> list_kernels(const Source& source, const Scopes& scopes,
                                       const std::set<std::string>& wanted) {
  std::map<std::string, const Function*> kernels;
  for (const Function& function : scopes.functions)
    if (marked(source, function, "__global__")) kernels[function.name] = &function;
  std::string rows;
  for (const std::string& kernel : wanted) {
    const auto found = kernels.find(plain_name(kernel));
    if (found == kernels.end())
      return base::usage_error("kernel " + kernel, "it is declared and has no body");
    const Function& function = *found->second;
    if (marked(source, function, "template") && kernel.find('<') == std::string::npos)
      return base::usage_error("kernel " + kernel, "it is a template",
                               "name an instantiation: --kernel '" + kernel + "<float, 256>'");
    const bool qualified = kernel.substr(0, kernel.find('<')).find("::") != std::string::npos;
    rows += fmt::format(
        "#line 1 \"--kernel\"\n  {{\"{0}\", &ks::Run<&{1}{0}>::run, "
        "ks::Run<&{1}{0}>::parameters.all, ks::Run<&{1}{0}>::count}},\n",
        kernel, qualified ? "" : function.space);
  }
  // What follows the rows is ours: a trace would count in it, before there is a thread to count
  // for.
  return "static const ks::Kernel ks_kernels[] = {\n" + rows +
         "};\n#line 1 \"ks_table.h\"\n"
         "KS_ATTACH_CUDA(ks_kernels, ks_symbols, ks_symbol_count)\n";
}

}  // namespace ksearch::simt::cuda
