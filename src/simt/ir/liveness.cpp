#include "simt/ir/liveness.h"

#include <algorithm>

#include "simt/ir/device_headers.h"
#include "simt/ir/operation.h"
#include "simt/ir/type.h"

namespace ksearch::simt::ir {
namespace {

struct Value {
  const Instruction* made = nullptr;  ///< null: an argument
  int width = 0;                      ///< in registers of 16 bits
  bool divergent = false;             ///< differs between the threads of a SIMD-group
};

class Liveness {
 public:
  Liveness(const Module& module, const Function& function) : module_(module), function_(function) {
    add_arguments(function.header);
    for (const Block& block : function.blocks)
      for (const Instruction& instruction : block.instructions)
        if (!instruction.result.empty()) add_value(instruction);
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
  /// Buffers are the same for all threads, attributes may differ.
  void add_arguments(std::string_view header) {
    const std::size_t open = header.find('(');
    Type type;
    bool by_value = false;
    for (const std::string_view word : words(header.substr(open, header.rfind(')') - open))) {
      if (type.kind == Type::Kind::none) type = parse_type(word);
      by_value = by_value || word.starts_with("byval");
      if (word.front() != '%' || word.find('"') != std::string_view::npos) continue;
      index_[word] = values_.size();
      const int bits = type.bits * type.count;
      values_.push_back({nullptr, (bits + 15) / 16, by_value || type.kind != Type::Kind::pointer});
      type = {};
      by_value = false;
    }
  }

  void add_value(const Instruction& instruction) {
    // A constant offset is part of the access, a wider integer of what uses it: no value of its
    // own.
    if (const std::string_view same = alias(instruction); !same.empty()) {
      if (const auto found = index_.find(same); found != index_.end())
        index_[instruction.result] = found->second;
      return;
    }
    const bool is_path = origin(module_, instruction).inner == "ks_sync.h";
    index_[instruction.result] = values_.size();
    values_.push_back({&instruction, is_path ? 0 : width(instruction), false});
  }

  static std::string_view alias(const Instruction& instruction) {
    const std::vector<std::string_view>& all = instruction.words;
    const auto is_name = [](std::string_view word) { return word.front() == '%'; };
    if (instruction.opcode == "sext" || instruction.opcode == "zext") {
      const auto name = std::find_if(all.begin(), all.end(), is_name);
      return name == all.end() ? std::string_view() : *name;
    }
    if (instruction.opcode != "getelementptr") return {};
    const auto base = std::find(all.begin(), all.end(), "ptr");
    if (all.end() - base < 2 || std::any_of(base + 2, all.end(), is_name)) return {};
    return base[1];
  }

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
    // An element of the vector; as many as the indices say, which stand last.
    const int count = opcode == "extractelement"  ? 1
                      : opcode == "shufflevector" ? parse_type(*(instruction.words.end() - 2)).count
                                                  : type.count;
    const int bits = type.bits * count;
    return bits == 1 ? 0 : (bits + 15) / 16;
  }

  void find_divergence() {
    for (bool changed = true; changed;) {
      changed = false;
      for (Value& value : values_)
        if (value.made && !value.divergent && diverges(value)) changed = value.divergent = true;
    }
  }

  bool diverges(const Value& value) const {
    const Instruction& made = *value.made;
    if (made.opcode == "alloca") return false;
    const std::string_view inner = origin(module_, made).inner;
    if (made.opcode == "call" && is_machinery(inner)) return true;
    bool any = false, own = false;
    each_operand(made, [&](std::size_t i) {
      any = any || values_[i].divergent;
      own = own || (values_[i].made && values_[i].made->opcode == "alloca");
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
      if (const auto made = index_.find(instruction.result);
          made != index_.end() && values_[made->second].made == &instruction) {
        if (measure && alive[made->second]) now -= counted(made->second);
        alive[made->second] = false;
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

}  // namespace

int most_alive(const Module& module, const Function& function) {
  return Liveness(module, function).most_alive();
}

}  // namespace ksearch::simt::ir
