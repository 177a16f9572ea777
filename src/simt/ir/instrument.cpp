#include "simt/ir/instrument.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>

#include "simt/ir/device_headers.h"
#include "simt/ir/operation.h"
#include "simt/ir/registers.h"
#include "simt/ir/root.h"
#include "simt/ir/type.h"

namespace ksearch::simt::ir {
namespace {

constexpr std::uint32_t kStore = 1u << 16;  // beside the bytes: see ks_library.h

/// What is called of ks_library.h.
constexpr std::string_view kCalled = R"(
declare ptr @ks_trace_counters(ptr)
declare void @ks_trace_access(ptr, i32, i32)
declare void @ks_trace_range(ptr, i32, i64, i32)
)";

/// Numbers for things in the order in which they come.
template <class T>
class Numbering {
 public:
  explicit Numbering(std::vector<T>& all) : all_(all) {}
  std::uint32_t operator()(const T& thing) {
    const auto [entry, fresh] =
        numbers_.try_emplace(thing, static_cast<std::uint32_t>(all_.size()));
    if (fresh) all_.push_back(thing);
    return entry->second;
  }

 private:
  std::vector<T>& all_;
  std::map<T, std::uint32_t> numbers_;
};

class Instrumenter {
 public:
  explicit Instrumenter(std::string_view text)
      : module_(text), kind_(result_.kinds), line_(result_.lines) {}

  Instrumented run() {
    for (const Function& function : module_.functions())
      if (is_kernel_code(function)) add_function(function);
    result_.text = with_insertions();
    result_.text += kCalled;
    result_.text += fmt::format("@ks.idle = internal global [{} x i32] zeroinitializer\n",
                                result_.blocks.size());
    result_.text += metadata_;
    return std::move(result_);
  }

 private:
  /// Whether anything in it is the author's. What our functions do for other lanes is not, even on
  /// a type of the author's.
  bool is_kernel_code(const Function& function) const {
    if (is_machinery(module_.frame(function.subprogram).file)) return false;
    for (const Block& block : function.blocks)
      for (const Instruction& instruction : block.instructions)
        if (!origin(module_, instruction).file.empty()) return true;
    return false;
  }

  void add_function(const Function& function) {
    Definitions definitions;
    std::unordered_map<std::string_view, int> uses;
    for (const Block& block : function.blocks)
      for (const Instruction& instruction : block.instructions) {
        if (!instruction.result.empty()) definitions[instruction.result] = &instruction;
        for (const std::string_view word : instruction.words)
          if (word.front() == '%') ++uses[word];
      }
    std::string location;
    if (function.subprogram >= 0) {
      const int number = module_.free_number() + extra_++;
      metadata_ +=
          fmt::format("!{} = !DILocation(line: 0, scope: !{})\n", number, function.subprogram);
      location = fmt::format(", !dbg !{}", number);
    }
    if (!function.blocks.empty())
      insert(
          function.blocks.front().start,
          fmt::format("  %ks.counters = call ptr @ks_trace_counters(ptr @ks.idle){}\n", location));
    const RegisterUse use = register_use(module_, function);
    for (std::size_t b = 0; b < function.blocks.size(); ++b)
      add_block(function.blocks[b], use.spills.empty() ? BlockSpills{} : use.spills[b], definitions,
                uses, location);
    result_.half_registers = std::max(result_.half_registers, use.half_registers);
    result_.private_bytes = std::max(result_.private_bytes, use.private_bytes);
  }

  void add_block(const Block& block, BlockSpills spills, const Definitions& definitions,
                 const std::unordered_map<std::string_view, int>& uses,
                 const std::string& location) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> operations;
    std::vector<ChainStep> steps;
    std::list<std::string> step_kinds;  // whose addresses the steps keep
    for (const Instruction& instruction : block.instructions) {
      const Origin from = origin(module_, instruction);
      ChainStep& step = steps.emplace_back(&instruction);
      const auto add = [&](const std::string& kind, int count) {
        operations[{kind_(kind), line_({std::string(from.file), from.line})}] +=
            static_cast<std::uint32_t>(count);
      };
      if (const auto done = operation(instruction, from)) {
        add(done->kind, done->count);
        step.kind = step_kinds.emplace_back(done->kind);
        if (fuses(instruction, definitions, uses))
          add(done->kind.substr(0, done->kind.find('.')) + ".fusable", done->count);
      }
      const std::size_t sites = result_.sites.size();
      if (instruction.opcode == "load" || instruction.opcode == "store")
        add_access(instruction, from, definitions, location, add);
      if (instruction.opcode == "load" && result_.sites.size() > sites)
        step.site = static_cast<std::int64_t>(sites);
      if (instruction.opcode == "call") add_ranges(instruction, from, definitions, location);
    }
    if (operations.empty() && !spills.any()) return;
    std::vector<BlockOperation> list;
    for (const auto& [key, count] : operations) list.push_back({key.first, key.second, count});
    const std::size_t n = result_.blocks.size();
    result_.blocks.push_back(std::move(list));
    result_.chains.push_back(chain_of(steps));
    result_.spills.push_back(spills);
    insert(block.body, fmt::format("  %ks.at.{0} = getelementptr i32, ptr %ks.counters, i64 {0}\n"
                                   "  %ks.old.{0} = load i32, ptr %ks.at.{0}, align 4\n"
                                   "  %ks.new.{0} = add i32 %ks.old.{0}, 1\n"
                                   "  store i32 %ks.new.{0}, ptr %ks.at.{0}, align 4\n",
                                   n));
  }

  /// Whether an addition takes the result of a product that nothing else takes: Metal's compiler
  /// makes one operation of the two.
  static bool fuses(const Instruction& sum, const Definitions& definitions,
                    const std::unordered_map<std::string_view, int>& uses) {
    if (sum.opcode != "fadd" && sum.opcode != "fsub") return false;
    for (const std::string_view word : sum.words) {
      const auto product = definitions.find(word);
      if (product != definitions.end() && product->second->opcode == "fmul" && uses.at(word) == 1)
        return true;
    }
    return false;
  }

  template <class Add>
  void add_access(const Instruction& instruction, const Origin& from,
                  const Definitions& definitions, const std::string& location, const Add& add) {
    if (is_machinery(from.inner) && !moves_memory(from.inner)) return;
    const std::vector<std::string_view>& all = instruction.words;
    std::string_view pointer;
    for (std::size_t k = 0; k + 1 < all.size(); ++k)
      if (all[k] == "ptr") pointer = all[k + 1];
    const bool store = instruction.opcode == "store";
    const Root to = root(pointer, definitions);
    if (to == Root::own && !is_machinery(from.inner) && !from.file.empty())
      add(store ? "private.store" : "private.load", 1);
    if (to != Root::shared) return;
    const auto bytes = static_cast<std::uint32_t>(parse_type(type_text(instruction)).bytes());
    insert(line_start(instruction),
           fmt::format("  call void @ks_trace_access(ptr {}, i32 {}, i32 {}){}\n", pointer,
                       site(from, store), bytes | (store ? kStore : 0),
                       instruction.location >= 0 ? location_of(instruction) : location));
  }

  void add_ranges(const Instruction& instruction, const Origin& from,
                  const Definitions& definitions, const std::string& location) {
    const std::string_view called = callee(instruction);
    const bool moves = called.starts_with("@llvm.memcpy.") || called.starts_with("@llvm.memmove.");
    if ((!moves && !called.starts_with("@llvm.memset.")) || is_machinery(from.inner)) return;
    std::vector<std::string_view> pointers;
    std::string_view bytes;
    const std::vector<std::string_view>& all = instruction.words;
    const auto name = std::find(all.begin(), all.end(), called);
    for (auto k = static_cast<std::size_t>(name - all.begin()); k + 1 < all.size(); ++k) {
      if (all[k] == "ptr") {
        std::size_t at = k + 1;
        while (at < all.size() && all[at].front() != '%' && all[at].front() != '@') ++at;
        if (at < all.size()) pointers.push_back(all[at]);
      }
      if (all[k] == "i64" && bytes.empty()) bytes = all[k + 1];
    }
    for (std::size_t k = 0; k < pointers.size(); ++k)
      if (root(pointers[k], definitions) == Root::shared)
        insert(line_start(instruction),
               fmt::format("  call void @ks_trace_range(ptr {}, i32 {}, i64 {}, i32 {}){}\n",
                           pointers[k], site(from, k == 0), bytes, k == 0 ? 1 : 0,
                           instruction.location >= 0 ? location_of(instruction) : location));
  }

  std::uint32_t site(const Origin& from, bool store) {
    result_.sites.push_back({line_({std::string(from.file), from.line}), store});
    return static_cast<std::uint32_t>(result_.sites.size() - 1);
  }

  static std::string location_of(const Instruction& instruction) {
    return fmt::format(", !dbg !{}", instruction.location);
  }

  std::size_t line_start(const Instruction& instruction) const {
    const auto at = static_cast<std::size_t>(instruction.text.data() - module_.text().data());
    return module_.text().rfind('\n', at) + 1;
  }

  void insert(std::size_t at, std::string text) { insertions_.emplace_back(at, std::move(text)); }

  std::string with_insertions() {
    std::stable_sort(insertions_.begin(), insertions_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string out;
    std::size_t done = 0;
    for (const auto& [at, text] : insertions_) {
      out.append(module_.text().substr(done, at - done)).append(text);
      done = at;
    }
    out.append(module_.text().substr(done));
    return out;
  }

  Module module_;
  Instrumented result_;
  Numbering<std::string> kind_;
  Numbering<Place> line_;
  std::vector<std::pair<std::size_t, std::string>> insertions_;
  std::string metadata_;
  int extra_ = 0;
};

}  // namespace

base::Result<Instrumented> instrument(std::string_view text) {
  if (text.find("\ndefine ") == std::string_view::npos)
    return base::internal_error("trace", "the compiled kernel has no function");
  return Instrumenter(text).run();
}

}  // namespace ksearch::simt::ir
