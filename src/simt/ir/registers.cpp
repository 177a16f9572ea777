#include "simt/ir/registers.h"

#include <algorithm>
#include <array>

#include "simt/ir/device_headers.h"
#include "simt/ir/operation.h"
#include "simt/ir/type.h"

namespace ksearch::simt::ir {
namespace {

// What the hardware keeps for itself: masks of divergent branches, the position of the thread.
constexpr int kReserved = 6;

struct Value {
  const Instruction* made = nullptr;
  int width = 0;           ///< in registers of 16 bits
  bool divergent = false;  ///< differs between the threads of a SIMD-group
};

class Liveness {
 public:
  Liveness(const Module& module, const Function& function) : module_(module), function_(function) {
    for (const Block& block : function.blocks)
      for (const Instruction& instruction : block.instructions)
        if (!instruction.result.empty()) {
          index_[instruction.result] = values_.size();
          const bool is_path = origin(module, instruction).inner == "ks_sync.h";
          values_.push_back({&instruction, is_path ? 0 : width(instruction), false});
        }
    for (const Block& block : function.blocks)
      blocks_.emplace(block.label, &block - function.blocks.data());
    find_divergence();
  }

  int most_alive() {
    solve();
    int most = 0;
    for (std::size_t b = 0; b < function_.blocks.size(); ++b) most = std::max(most, walk(b, true));
    return most;
  }

 private:
  /// The values it reads. Those of a phi are read at the end of the blocks they come from.
  template <class F>
  void each_operand(const Instruction& instruction, F&& f) const {
    for (const std::string_view word : instruction.words) {
      // A phi's are in brackets: "[ %1, %2 ]".
      if (word.front() == '[' && instruction.opcode == "phi") {
        const auto inner = words(word.substr(1, word.size() - 2));
        if (!inner.empty()) find(inner.front(), f);
      } else {
        find(word, f);
      }
    }
  }
  template <class F>
  void find(std::string_view word, F&& f) const {
    if (word.front() != '%') return;
    if (const auto found = index_.find(word); found != index_.end()) f(found->second);
  }

  static int width(const Instruction& instruction) {
    const std::string_view opcode = instruction.opcode;
    if (opcode == "alloca" || opcode == "icmp" || opcode == "fcmp") return 0;
    // An address is a base that all threads share and an offset of 32 bits.
    if (opcode == "getelementptr") return 2;
    if (opcode == "sext" || opcode == "zext" || opcode == "trunc" || opcode == "bitcast" ||
        opcode.starts_with("fp") || opcode.ends_with("tofp")) {
      const Type type = parse_type(target_text(instruction));
      const int bits = type.bits * type.count;
      return bits == 1 ? 0 : (std::min(bits, opcode.ends_with("ext") ? 32 : bits) + 15) / 16;
    }
    const Type type = parse_type(type_text(instruction));
    const int bits = type.bits * type.count;
    return bits == 1 ? 0 : (bits + 15) / 16;
  }

  void find_divergence() {
    for (bool changed = true; changed;) {
      changed = false;
      for (Value& value : values_)
        if (!value.divergent && diverges(value)) changed = value.divergent = true;
    }
  }

  bool diverges(const Value& value) const {
    const Instruction& made = *value.made;
    if (made.opcode == "alloca") return false;
    const std::string_view inner = origin(module_, made).inner;
    // The arguments of the kernel: buffers are the same for all, attributes may differ.
    if (inner == "ks_kernel.h") return type_text(made) != "ptr";
    if (made.opcode == "call" && is_machinery(inner)) return true;
    bool any = false, own = false;
    each_operand(made, [&](std::size_t i) {
      any = any || values_[i].divergent;
      own = own || values_[i].made->opcode == "alloca";
    });
    return any || (made.opcode == "load" && (own || is_machinery(inner)));
  }

  int counted(std::size_t i) const { return values_[i].divergent ? values_[i].width : 0; }

  std::vector<std::size_t> successors(const Block& block) const {
    std::vector<std::size_t> result;
    if (block.instructions.empty()) return result;
    const auto& all = block.instructions.back().words;
    for (std::size_t k = 0; k + 1 < all.size(); ++k)
      if (all[k] == "label")
        if (const auto found = blocks_.find(all[k + 1].substr(1)); found != blocks_.end())
          result.push_back(static_cast<std::size_t>(found->second));
    // Labels of a switch's list are one word.
    for (const std::string_view word : all)
      if (word.front() == '[')
        for (const std::string_view label : words(word.substr(1, word.size() - 2)))
          if (label.front() == '%')
            if (const auto found = blocks_.find(label.substr(1)); found != blocks_.end())
              result.push_back(static_cast<std::size_t>(found->second));
    return result;
  }

  void solve() {
    in_.assign(function_.blocks.size(), std::vector<bool>(values_.size()));
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t b = function_.blocks.size(); b-- > 0;) {
        const std::vector<bool> before = in_[b];
        walk(b, false);
        changed = changed || in_[b] != before;
      }
    }
  }

  /// Backwards through a block; the most that are alive at once, if asked for.
  int walk(std::size_t b, bool measure) {
    const Block& block = function_.blocks[b];
    std::vector<bool> alive(values_.size());
    for (const std::size_t next : successors(block)) {
      for (std::size_t i = 0; i < alive.size(); ++i)
        if (in_[next][i]) alive[i] = true;
      for (const Instruction& phi : function_.blocks[next].instructions) {
        if (phi.opcode != "phi") break;
        add_incoming(phi, block, alive);
      }
    }
    int now = 0, most = 0;
    if (measure)
      for (std::size_t i = 0; i < alive.size(); ++i) now += alive[i] ? counted(i) : 0;
    most = now;
    for (std::size_t k = block.instructions.size(); k-- > 0;) {
      const Instruction& instruction = block.instructions[k];
      if (!instruction.result.empty()) {
        const std::size_t i = index_.at(instruction.result);
        if (measure && alive[i]) now -= counted(i);
        alive[i] = false;
      }
      if (instruction.opcode == "phi") continue;
      each_operand(instruction, [&](std::size_t i) {
        if (measure && !alive[i]) now += counted(i);
        alive[i] = true;
      });
      most = std::max(most, now);
    }
    in_[b] = std::move(alive);
    return most;
  }

  void add_incoming(const Instruction& phi, const Block& from, std::vector<bool>& alive) const {
    for (const std::string_view word : phi.words) {
      if (word.front() != '[') continue;
      const auto pair = words(word.substr(1, word.size() - 2));
      if (pair.size() != 2 || pair[1].size() < 2) continue;
      // The first block's label is not printed.
      const bool is_first = !blocks_.contains(pair[1].substr(1));
      if (is_first ? from.label.empty() : pair[1].substr(1) == from.label)
        find(pair[0], [&](std::size_t i) { alive[i] = true; });
    }
  }

  const Module& module_;
  const Function& function_;
  std::unordered_map<std::string_view, std::size_t> index_;
  std::unordered_map<std::string_view, std::ptrdiff_t> blocks_;
  std::vector<Value> values_;
  std::vector<std::vector<bool>> in_;
};

/// Arrays of the author's that are no registers. What is posted to other lanes is no such thing:
/// its address is stored.
int private_bytes(const Module& module, const Function& function) {
  std::unordered_map<std::string_view, std::string_view> arrays;
  for (const Block& block : function.blocks)
    for (const Instruction& instruction : block.instructions)
      if (instruction.opcode == "alloca") {
        const auto& all = instruction.words;
        if (!all.empty() && all[0].find("ks::") == std::string_view::npos)
          arrays[instruction.result] = all[0];
      }
  for (const Block& block : function.blocks)
    for (const Instruction& instruction : block.instructions) {
      if (instruction.opcode != "store") continue;
      const auto& all = instruction.words;
      if (all.size() > 1 && all[0] == "ptr") arrays.erase(all[1]);
    }
  int sum = 0;
  for (const auto& [array, type] : arrays) sum += bytes_of(module, type);
  return sum;
}

}  // namespace

RegisterUse register_use(const Module& module, const Function& function) {
  return {Liveness(module, function).most_alive() + kReserved, private_bytes(module, function)};
}

int thread_limit(int half_registers) {
  // Mesa's table for these GPUs; 104 x 2 bytes x 1024 threads is the register file.
  constexpr std::array<std::pair<int, int>, 10> kLimits = {{{104, 1024},
                                                            {112, 896},
                                                            {128, 832},
                                                            {136, 768},
                                                            {144, 704},
                                                            {160, 640},
                                                            {184, 576},
                                                            {208, 512},
                                                            {232, 448},
                                                            {256, 384}}};
  for (const auto& [registers, threads] : kLimits)
    if (half_registers <= registers) return threads;
  return kLimits.back().second;
}

}  // namespace ksearch::simt::ir
