// One exported function: the launch plan of a program, for one combination of element types, as
// code.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/expr_cpp.h"
#include "formats/local_names.h"
#include "kernel/bind.h"

namespace ksearch::formats {

/// A copy of the sources: the macros it is compiled with, in the order of the plan.
struct CppVariant {
  std::string name;  ///< of its namespace: "v0"
  std::vector<std::pair<std::string, std::string>> defines;
};

struct CppFunctionInput {
  const kernel::Program* program = nullptr;
  const kernel::Definition* definition = nullptr;
  std::map<std::string, kernel::DType> types;
  std::string name;                            ///< "attention_f32"
  std::string status_prefix;                   ///< "ATTENTION"
  std::vector<kernel::TunableChoice> choices;  ///< tried in this order after what `select` names
  std::vector<CppVariant> variants;            ///< copies that this function may call
};

/// A name of the user's, changed where C or the code around has the word.
std::string cpp_word(std::string_view name);

/// Why no exported function can be called so ("is a word of C++"), or nothing.
std::string_view cpp_function_refuses(std::string_view name);

/// "float" in C; the half types are the uint16_t they are stored in.
std::string_view c_type(kernel::DType type);

class CppFunction {
 public:
  explicit CppFunction(const CppFunctionInput& input);

  /// "int attention_f32(...)" and "size_t attention_f32_workspace(...)", without ";".
  std::string declaration() const;
  std::string workspace_declaration() const;
  /// Everything in the source file, from the plan's struct to the two functions.
  std::string definition_text();
  /// Macros of the target that the code uses: "KS_SIMD_WIDTH", "KS_HAS_AVX512F".
  const std::set<std::string>& device_macros() const { return device_macros_; }

 private:
  std::string size_parameters() const;
  std::string plan_struct() const;
  std::string bind_text();
  std::string choose_text();
  std::string walk_text();
  std::string loop_text(std::span<const kernel::Launch> body);
  std::string launch_text(const kernel::Launch& launch, const std::string& indent);
  std::string call_text(const kernel::Launch& launch, const std::string& indent);
  std::string argument(const kernel::Arg& arg);
  std::string fills(const kernel::Launch& launch, const std::string& indent);
  /// A copy of the kernels that a launch may need, and where it does: always, if that is empty.
  struct Choice {
    std::size_t variant;
    std::string condition;
  };
  std::vector<Choice> choices(const kernel::Launch& launch);
  std::string lay_out_text();
  std::string entry_text();

  kernel::DType dtype_of(const kernel::Expr& e) const;
  std::string value_name(std::string_view name);
  std::string code(const kernel::Expr& e) { return to_cpp(e, names_); }
  const kernel::Scratch* scratch(std::string_view name) const;
  std::string pointer(const std::string& tensor, bool writes);

  /// All tensors of the definition in its order: inputs, then outputs.
  std::vector<const kernel::TensorSpec*> tensors() const;

  const CppFunctionInput in_;
  LocalNames local_;
  CodeNames names_;
  std::string loop_variable_;
  std::set<std::string> device_macros_;
};

/// The macro that stands for a `device.` name, noted in `used`; empty for `device.cores`.
std::string device_macro(std::string_view name, std::set<std::string>& used);

}  // namespace ksearch::formats
