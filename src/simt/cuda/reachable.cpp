// Keeps what the wanted kernels name, directly or not, and takes out the rest: host functions,
// other kernels, globals with types that are not here.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "simt/cuda/declarations.h"
#include "simt/cuda/rewrite.h"

namespace ksearch::simt::cuda {
namespace {
using Kind = Declaration::Kind;

class Keeper {
 public:
  Keeper(Source& source, const std::set<std::string>& wanted, std::vector<std::string>& warnings)
      : source_(source), wanted_(wanted), warnings_(warnings) {}

  base::Result<void> run() {
    gather(0, source_.tokens.size() - 1);
    for (std::size_t i = 0; i < all_.size(); ++i)
      for (const std::string& name : all_[i].names) by_name_[name].push_back(i);
    kept_.assign(all_.size(), false);
    KS_RETURN_IF_ERROR(keep_kernels());
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (all_[i].kind == Kind::using_space && known_space(all_[i])) keep(i);
    for (bool grown = true; grown;) {
      while (!work_.empty()) follow();
      grown = keep_operators();
    }
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (!kept_[i])
        drop(all_[i]);
      else if (all_[i].kind == Kind::record)
        drop_host_members(all_[i]);
    }
    return {};
  }

 private:
  void gather(std::size_t from, std::size_t to) {
    for (Declaration& one : declarations(source_, from, to)) {
      if (one.kind == Kind::space) {
        for (const std::string& name : one.names) spaces_.insert(name);
        gather(one.inside, one.inside_end);
        continue;
      }
      all_.push_back(std::move(one));
    }
  }

  bool known_space(const Declaration& one) const {
    static const std::set<std::string, std::less<>> kOurs = {"std", "cooperative_groups", "nvcuda",
                                                             "wmma", "cuda"};
    if (one.names.empty()) return false;
    // namespace cg = cooperative_groups;
    std::string last;
    for (std::size_t i = one.from; i < one.to; ++i)
      if (source_.tokens[i].is_identifier()) last = source_.tokens[i].spelling;
    return kOurs.contains(last) || spaces_.contains(last);
  }

  base::Result<void> keep_kernels() {
    std::vector<std::string> known;
    for (const Declaration& one : all_)
      if (one.kernel && !one.names.empty() && known.size() < 12 &&
          std::find(known.begin(), known.end(), one.names[0]) == known.end())
        known.push_back(one.names[0]);
    for (const std::string& kernel : wanted_) {
      const std::string name = plain_name(kernel);
      bool found = false;
      for (const std::size_t i : by_name_[name])
        if (all_[i].kernel) {
          keep(i);
          found = true;
        }
      if (!found)
        return base::usage_error("kernel " + kernel, "the source has none of this name",
                                 known.empty() ? "it has no __global__ function"
                                               : fmt::format("it has {}", fmt::join(known, ", ")));
      // Types that the instantiation names.
      std::string word;
      for (const char c : kernel.substr(std::min(kernel.find('<'), kernel.size())) + " ") {
        if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
          word += c;
          continue;
        }
        keep_named(word, false);
        word.clear();
      }
    }
    return {};
  }

  void keep(std::size_t i) {
    if (kept_[i]) return;
    kept_[i] = true;
    work_.push_back(i);
  }

  static bool on_host(const Declaration& one) {
    return one.kind == Kind::function && !one.device && !one.constant_expression;
  }

  void keep_named(const std::string& name, bool called) {
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) return;
    const bool on_device = std::any_of(found->second.begin(), found->second.end(),
                                       [&](std::size_t i) { return !on_host(all_[i]); });
    for (const std::size_t i : found->second) {
      // Code for the host is meant only where there is nothing else, and then told.
      if (on_host(all_[i]) && (on_device || !called)) continue;
      if (on_host(all_[i]) && !kept_[i])
        warnings_.push_back(fmt::format(
            "{}: {} is a host function, and code of a kernel calls it: CUDA refuses that",
            source_.tokens[all_[i].from].place(), name));
      keep(i);
    }
  }

  void follow() {
    const Declaration& one = all_[work_.back()];
    work_.pop_back();
    for (std::size_t i = one.from; i < one.to; ++i) {
      const Token& token = source_.tokens[i];
      if (!token.is_identifier()) continue;
      const bool member =
          i > one.from && (source_.tokens[i - 1].is(".") || source_.tokens[i - 1].is("->"));
      const Token& next = source_.tokens[i + 1];
      keep_named(token.spelling, !member && (next.is("(") || next.is("<")));
    }
  }

  /// Operators go with the types they take.
  bool keep_operators() {
    bool grown = false;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const Declaration& one = all_[i];
      if (kept_[i] || one.kind != Kind::function || !one.names.empty() || on_host(one)) continue;
      bool all_there = true;
      const std::size_t end = source_.after_closing(one.parameters);
      for (std::size_t t = one.parameters; t < end; ++t) {
        const auto named = by_name_.find(source_.tokens[t].spelling);
        if (named == by_name_.end()) continue;
        for (const std::size_t k : named->second)
          if (all_[k].kind == Kind::record && !kept_[k]) all_there = false;
      }
      if (!all_there) continue;
      keep(i);
      grown = true;
    }
    return grown;
  }

  /// Line markers stay, pragmas of what is gone do not.
  void drop(const Declaration& one) {
    source_.erase(one.from, one.to);
    for (std::size_t i = one.from; i < one.to; ++i)
      if (source_.tokens[i].spelling.starts_with("#pragma")) source_.tokens[i].written.clear();
  }

  void drop_host_members(const Declaration& record) {
    for (const Declaration& one : declarations(source_, record.inside, record.inside_end)) {
      if (one.kind == Kind::record) drop_host_members(one);
      if (on_host(one) && !one.defaulted) drop(one);
    }
  }

  Source& source_;
  const std::set<std::string>& wanted_;
  std::vector<std::string>& warnings_;
  std::vector<Declaration> all_;
  std::set<std::string> spaces_;
  std::map<std::string, std::vector<std::size_t>> by_name_;
  std::vector<bool> kept_;
  std::vector<std::size_t> work_;
};

}  // namespace

base::Result<void> keep_reachable(Source& source, const std::set<std::string>& wanted,
                                  std::vector<std::string>& warnings) {
  return Keeper(source, wanted, warnings).run();
}

}  // namespace ksearch::simt::cuda
