#include "kernel/bind.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace ksearch::kernel {
namespace {

constexpr std::size_t kMaxBoundLaunches = 65536;
constexpr std::int64_t kMaxElements = std::int64_t{1} << 36;
constexpr std::int64_t kMaxGroups = std::int64_t{1} << 40;

/// Evaluates the parts of one program in one scope.
class Binder {
 public:
  Binder(const Program& program, const Definition& definition, Scope scope)
      : program_(program), definition_(definition), scope_(std::move(scope)) {}

  base::Result<BoundProgram> bind() {
    KS_RETURN_IF_ERROR(bind_scratch());
    for (std::size_t i = 0; i < program_.launches.size();) {
      const std::size_t end = end_of_loop(program_.launches, i);
      KS_RETURN_IF_ERROR(bind_launches(i, end));
      i = end;
    }
    if (bound_.launches.empty())
      return base::usage_error("launches", "no launch's condition holds on this workload");
    return std::move(bound_);
  }

 private:
  base::Result<DType> type_of(const Expr& e, const Scope& scope) {
    KS_TRY(const Value value, e.eval(scope));
    if (const DType* t = std::get_if<DType>(&value)) return *t;
    return base::usage_error(e.text(), "is no element type");
  }

  base::Result<void> bind_scratch() {
    for (const Scratch& s : program_.scratch) {
      BoundScratch b{s.name, DType::float32, 1, s.init};
      KS_TRY(b.dtype, type_of(s.dtype, scope_));
      for (const Expr& size : s.shape) {
        KS_TRY(const std::int64_t n, size.eval_integer(scope_));
        if (n < 1 || n > kMaxElements / b.elements)
          return base::usage_error(fmt::format("scratch.{}", s.name),
                                   fmt::format("{} = {} is out of range", size.text(), n));
        b.elements *= n;
      }
      bound_.scratch.push_back(std::move(b));
    }
    return {};
  }

  /// Launches [first, last): one, or the body of a loop.
  base::Result<void> bind_launches(std::size_t first, std::size_t last) {
    const std::optional<LaunchLoop>& loop = program_.launches[first].loop;
    if (!loop) return bind_at(first, scope_);
    const auto from = loop->from.eval_integer(scope_), to = loop->to.eval_integer(scope_);
    if (!from) return at(first, from.error());
    if (!to) return at(first, to.error());
    for (std::int64_t i = *from; i < *to; ++i) {
      Scope inner(&scope_);
      inner.set(loop->variable, i);
      for (std::size_t l = first; l < last; ++l) KS_RETURN_IF_ERROR(bind_at(l, inner));
    }
    return {};
  }

  base::Result<void> bind_at(std::size_t i, const Scope& scope) {
    if (auto done = bind_one(program_.launches[i], scope); !done) return at(i, done.error());
    return {};
  }

  std::unexpected<base::Error> at(std::size_t i, base::Error e) const {
    e.where = fmt::format("launches[{}] ({}): {}", i, program_.launches[i].kernel, e.where);
    return std::unexpected(std::move(e));
  }

  base::Result<void> bind_one(const Launch& launch, const Scope& scope) {
    if (launch.when) {
      KS_TRY(const bool holds, launch.when->eval_boolean(scope));
      if (!holds) return {};
    }
    if (bound_.launches.size() == kMaxBoundLaunches)
      return base::usage_error("for", "more than 65536 launches");
    BoundLaunch b;
    b.kernel = launch.kernel;
    KS_TRY(b.defines, bind_defines(program_.defines, scope));
    KS_TRY(BoundDefines own, bind_defines(launch.defines, scope));
    std::move(own.begin(), own.end(), std::back_inserter(b.defines));
    KS_TRY(b.instantiate, bind_defines(launch.instantiate, scope));
    KS_TRY(b.constants, bind_defines(launch.constants, scope));
    KS_RETURN_IF_ERROR(bind_sizes(launch.groups, scope, b.groups));
    KS_RETURN_IF_ERROR(bind_sizes(launch.group_size, scope, b.group_size));
    if (!launch.threads.empty()) {
      b.threads = {1, 1, 1};
      KS_RETURN_IF_ERROR(bind_sizes(launch.threads, scope, b.threads));
      for (std::size_t i = 0; i < 3; ++i) b.groups[i] = (b.threads[i] - 1) / b.group_size[i] + 1;
    }
    for (const Expr& bytes : launch.group_memory) {
      KS_TRY(const std::int64_t n, bytes.eval_integer(scope));
      if (n < 0 || n > (std::int64_t{1} << 32))
        return base::usage_error("group_memory", fmt::format("{} = {} bytes", bytes.text(), n));
      b.group_memory.push_back(n);
    }
    for (const Arg& arg : launch.args) {
      KS_TRY(BoundArg bound, bind_arg(arg, scope));
      b.args.push_back(std::move(bound));
    }
    bound_.launches.push_back(std::move(b));
    return {};
  }

  base::Result<void> bind_sizes(const std::vector<Expr>& list, const Scope& scope,
                                std::array<std::int64_t, 3>& sizes) {
    std::int64_t product = 1;
    for (std::size_t i = 0; i < list.size(); ++i) {
      KS_TRY(sizes[i], list[i].eval_integer(scope));
      if (sizes[i] < 1 || sizes[i] > kMaxGroups / product)
        return base::usage_error(list[i].text(), fmt::format("is {}, out of range", sizes[i]));
      product *= sizes[i];
    }
    return {};
  }

  base::Result<BoundDefines> bind_defines(const Defines& defines, const Scope& scope) {
    BoundDefines bound;
    for (const auto& [name, e] : defines) {
      KS_TRY(const Value value, e.eval(scope));
      if (const DType* t = std::get_if<DType>(&value))
        bound.emplace_back(name, std::string(type_name(*t)));
      else if (const bool* flag = std::get_if<bool>(&value))
        bound.emplace_back(name, *flag ? "1" : "0");
      else
        bound.emplace_back(name, to_text(value));
    }
    return bound;
  }

  std::string_view type_name(DType t) const {
    if (program_.dialect == Dialect::cpp) return cpp_name(t);
    if (program_.dialect == Dialect::cuda && t == DType::float16) return "__half";
    if (program_.dialect == Dialect::cuda && t == DType::bfloat16) return "__nv_bfloat16";
    if (t == DType::float16) return "half";
    if (t == DType::bfloat16) return program_.dialect == Dialect::mlx ? "bfloat16_t" : "bfloat";
    return cpp_name(t);
  }

  base::Result<BoundArg> bind_arg(const Arg& arg, const Scope& scope) {
    if (const auto* s = std::get_if<ScalarArg>(&arg)) {
      KS_TRY(BoundScalar b, bind_scalar(*s, scope));
      return b;
    }
    if (const auto* s = std::get_if<StructArg>(&arg)) {
      BoundStruct b;
      for (const ScalarArg& field : s->fields) {
        KS_TRY(BoundScalar f, bind_scalar(field, scope));
        b.fields.push_back(std::move(f));
      }
      return b;
    }
    return bind_tensor(std::get<TensorArg>(arg), scope);
  }

  base::Result<BoundScalar> bind_scalar(const ScalarArg& s, const Scope& scope) {
    BoundScalar b{s.kind, std::int64_t{0}, s.name};
    if (s.kind == ScalarKind::f32) {
      KS_TRY(b.value, s.value.eval_number(scope));
      return b;
    }
    KS_TRY(const std::int64_t n, s.value.eval_integer(scope));
    const bool fits =
        s.kind == ScalarKind::i64 || (s.kind == ScalarKind::boolean && (n == 0 || n == 1)) ||
        (s.kind == ScalarKind::i32 && n >= std::numeric_limits<std::int32_t>::min() &&
         n <= std::numeric_limits<std::int32_t>::max()) ||
        (s.kind == ScalarKind::u32 && n >= 0 && n <= std::numeric_limits<std::uint32_t>::max());
    if (!fits) return base::usage_error(s.value.text(), fmt::format("{} does not fit its type", n));
    b.value = n;
    return b;
  }

  base::Result<BoundArg> bind_tensor(const TensorArg& arg, const Scope& scope) {
    BoundTensor b;
    b.init = arg.init;
    const TensorSpec* spec = definition_.tensor(arg.tensor);
    // An absent one too: the kernel's argument has a type although the pointer is null.
    if (spec) {
      KS_TRY(b.dtype, type_of(spec->dtype, scope));
    }
    const bool* present = scope.find_present(arg.tensor);
    if (spec && present && !*present) {
      if (arg.access == ArgAccess::optional) return b;
      return base::usage_error(arg.tensor, "is absent on this workload",
                               "guard the launch with when: has(...)");
    }
    b.tensor = arg.tensor;
    b.writes = arg.access == ArgAccess::write || arg.access == ArgAccess::inout ||
               arg.access == ArgAccess::atomic ||
               (arg.access == ArgAccess::natural && spec && spec->access != Access::in);
    for (const BoundScratch& s : bound_.scratch)
      if (s.name == arg.tensor) b.dtype = s.dtype;
    if (arg.offset) {
      KS_TRY(b.offset, arg.offset->eval_integer(scope));
      KS_TRY(const std::int64_t elements, elements_of(arg.tensor, spec, scope));
      if (b.offset < 0 || b.offset >= elements)
        return base::usage_error(
            arg.tensor, fmt::format("offset {} is outside its {} elements", b.offset, elements));
    }
    return b;
  }

  base::Result<std::int64_t> elements_of(const std::string& name, const TensorSpec* spec,
                                         const Scope& scope) {
    for (const BoundScratch& s : bound_.scratch)
      if (s.name == name) return s.elements;
    std::int64_t n = 1;
    for (const Expr& size : spec->shape) {
      KS_TRY(const std::int64_t s, size.eval_integer(scope));
      n *= s;
    }
    return n;
  }

  const Program& program_;
  const Definition& definition_;
  Scope scope_;
  BoundProgram bound_;
};

/// Axes, types, parameters, device, tunables, then `let` in order.
base::Result<Scope> full_scope(const Program& program, const Definition& definition,
                               const Workload& workload, const HardwareProfile& device,
                               const TunableChoice& choice) {
  Scope scope = scope_of(definition, workload);
  add_device(device, scope);
  for (const auto& [name, values] : program.tunables) {
    const auto it = choice.find(name);
    if (it == choice.end() || std::count(values.begin(), values.end(), it->second) == 0)
      return base::usage_error(fmt::format("tunables.{}", name), "has no value among its choices");
    scope.set(name, it->second);
  }
  for (const auto& [name, e] : program.let) {
    auto value = e.eval(scope);
    if (!value) {
      value.error().where = fmt::format("let.{}: {}", name, value.error().where);
      return std::unexpected(value.error());
    }
    scope.set(name, *value);
  }
  return scope;
}

/// The first constraint that fails, or nothing.
base::Result<std::optional<std::string>> broken_constraint(const Program& program,
                                                           const Scope& scope) {
  for (const Expr& c : program.constraints) {
    KS_TRY(const bool met, c.eval_boolean(scope));
    if (!met) return c.text();
  }
  return std::nullopt;
}

}  // namespace

base::Result<std::vector<TunableChoice>> legal_choices(const Program& program,
                                                       const Definition& definition,
                                                       const Workload& workload,
                                                       const HardwareProfile& device) {
  std::size_t combinations = 1;
  for (const auto& [name, values] : program.tunables) {
    combinations *= values.size();
    if (combinations > 4096) return base::usage_error("tunables", "more than 4096 combinations");
  }
  std::vector<TunableChoice> legal;
  for (std::size_t i = 0; i < combinations; ++i) {
    // The last tunable varies fastest, so that the first of each is the default.
    TunableChoice choice;
    std::size_t rest = i;
    for (auto it = program.tunables.rbegin(); it != program.tunables.rend(); ++it) {
      choice[it->first] = it->second[rest % it->second.size()];
      rest /= it->second.size();
    }
    KS_TRY(const Scope scope, full_scope(program, definition, workload, device, choice));
    KS_TRY(const auto broken, broken_constraint(program, scope));
    if (!broken) legal.push_back(std::move(choice));
  }
  return legal;
}

base::Result<TunableChoice> choose(const Program& program, const Definition& definition,
                                   const Workload& workload, const HardwareProfile& device,
                                   const Select& select) {
  KS_TRY(const std::vector<TunableChoice> legal,
         legal_choices(program, definition, workload, device));
  if (legal.empty())
    return base::usage_error("constraints",
                             fmt::format("no choice of tunables meets them on {}", workload.name));
  Scope scope = scope_of(definition, workload);
  add_device(device, scope);
  for (const SelectRule& rule : select) {
    if (rule.when) {
      KS_TRY(const bool holds, rule.when->eval_boolean(scope));
      if (!holds) continue;
    }
    // A choice made on other shapes may break a constraint here: then the program's own order
    // decides.
    if (std::count(legal.begin(), legal.end(), rule.tunables) > 0) return rule.tunables;
    break;
  }
  return legal.front();
}

base::Result<BoundProgram> bind(const Program& program, const Definition& definition,
                                const Workload& workload, const HardwareProfile& device,
                                const TunableChoice& choice) {
  KS_TRY(Scope scope, full_scope(program, definition, workload, device, choice));
  KS_TRY(const auto broken, broken_constraint(program, scope));
  if (broken)
    return base::usage_error("constraints",
                             fmt::format("{} does not hold on {}", *broken, workload.name));
  return Binder(program, definition, std::move(scope)).bind();
}

}  // namespace ksearch::kernel
