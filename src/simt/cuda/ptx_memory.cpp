// PTX on memory, and where lanes meet: ld, st, atom, red, cp.async, ldmatrix; mma, shfl, vote, bar.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "simt/cuda/ptx.h"

namespace ksearch::simt::cuda {
namespace {

bool in_shared(const PtxInstruction& one) {
  return std::any_of(one.name.begin(), one.name.end(),
                     [](const std::string& piece) { return piece.starts_with("shared"); });
}

std::string ptx_address(const PtxOperand& operand, bool shared) {
  return fmt::format("ks::ptx::{}({}, {})", shared ? "shared" : "generic", operand.text,
                     operand.offset.empty() ? "0" : operand.offset);
}

base::Result<std::string> emit_copy(const PtxInstruction& one) {
  const auto& operands = one.operands;
  const bool async = one.name.size() > 2 && one.name[1] == "async";
  if (!async || one.has("bulk") || one.has("mbarrier"))
    return std::unexpected(ptx_fault(one, "is not supported by check"));
  if (one.name[2] == "commit_group") return "ks::ptx::commit_copies();";
  if (one.name[2] == "wait_all") return "ks::ptx::wait_for_copies(-1);";
  if (one.name[2] == "wait_group" && operands.size() == 1)
    return fmt::format("ks::ptx::wait_for_copies(int({}));", operands[0].text);
  const std::size_t given = operands.size() - (one.has("L2::cache_hint") ? 1 : 0);
  if (given < 3 || given > 4) return std::unexpected(ptx_fault(one, "is not understood"));
  return fmt::format("ks::ptx::copy_async({}, {}, ks::ptx::u32({}), ks::ptx::u32({}));",
                     ptx_address(operands[0], true), ptx_address(operands[1], false),
                     operands[2].text, operands[given - 1].text);
}

base::Result<std::string> emit_load_store(const PtxInstruction& one, const std::string& type) {
  const bool load = one.name[0] != "st";
  if (one.operands.size() < 2 || type.empty())
    return std::unexpected(ptx_fault(one, "is not understood"));
  const PtxOperand& where = one.operands[load ? 1 : 0];
  const PtxOperand& what = one.operands[load ? 0 : 1];
  const bool ordered = one.has("relaxed") || one.has("acquire") || one.has("release");
  const bool whole = type.size() == 3 && what.kind != PtxOperand::Kind::list;
  std::string all;
  std::string from = ptx_refs(what);
  if (what.kind == PtxOperand::Kind::number ||
      (what.kind == PtxOperand::Kind::list &&
       std::any_of(what.parts.begin(), what.parts.end(),
                   [](const PtxOperand& part) { return part.kind == PtxOperand::Kind::number; }))) {
    // Literals have no address.
    std::vector<PtxOperand> parts =
        what.kind == PtxOperand::Kind::list ? what.parts : std::vector{what};
    PtxOperand list{PtxOperand::Kind::list, {}, {}, {}};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      all += fmt::format("ks::ptx::{} ks_l{} = {}; ", type, i, ptx_as(type, parts[i]));
      list.parts.push_back({PtxOperand::Kind::variable, fmt::format("ks_l{}", i), {}, {}});
    }
    from = ptx_refs(list);
  }
  if (one.has("release")) all += "ks::ptx::fence(); ";
  const std::string suffix = ordered && whole ? "_atomic" : "";
  if (load)
    all += fmt::format("ks::ptx::load{}<ks::ptx::{}>({}, {});", suffix, type, from,
                       ptx_address(where, in_shared(one)));
  else
    all += fmt::format("ks::ptx::store{}<ks::ptx::{}>({}, {});", suffix, type,
                       ptx_address(where, in_shared(one)), from);
  return "{ " + all + " }";
}

base::Result<std::string> emit_atomic(const PtxInstruction& one, const std::string& type) {
  const bool reads = one.name[0] == "atom";
  static const std::set<std::string_view> kOperations = {"add", "min", "max", "exch", "and",
                                                         "or",  "xor", "inc", "dec",  "cas"};
  const auto op = std::find_if(one.name.begin(), one.name.end(), [](const std::string& piece) {
    return kOperations.contains(piece);
  });
  const std::size_t first = reads ? 1 : 0;
  if (op == one.name.end() || type.empty() || one.operands.size() < first + 2)
    return std::unexpected(ptx_fault(one, "is not supported by check"));
  if (one.operands[first + 1].kind == PtxOperand::Kind::list)
    return std::unexpected(ptx_fault(one, "of a vector is not supported by check"));
  const std::string plain = type == "b32" && (*op == "add") ? "u32" : type;
  std::vector<std::string> values;
  for (std::size_t i = first + 1; i < one.operands.size(); ++i)
    values.push_back(ptx_as(plain, one.operands[i]));
  const std::string value =
      fmt::format("ks::ptx::atom_{}<ks::ptx::{}>({}, {})", *op, plain,
                  ptx_address(one.operands[first], in_shared(one)), fmt::join(values, ", "));
  const bool releases = one.has("release") || one.has("acq_rel");
  return (releases ? "ks::ptx::fence(); " : "") +
         (reads ? ptx_set(one.operands[0], value) : value + ";");
}

base::Result<std::string> emit_matrix(const PtxInstruction& one) {
  const bool load = one.name[0] == "ldmatrix";
  if (one.operands.size() != 2 || !one.has("m8n8") || !one.has("b16"))
    return std::unexpected(ptx_fault(one, "is not supported by check"));
  const char* transposed = one.has("trans") ? "true" : "false";
  if (load)
    return fmt::format("ks::ptx::meet_load_matrix<{}>({}, {});", transposed,
                       ptx_refs(one.operands[0]), ptx_address(one.operands[1], true));
  return fmt::format("ks::ptx::meet_store_matrix<{}>({}, {});", transposed,
                     ptx_address(one.operands[0], true), ptx_refs(one.operands[1]));
}

base::Result<std::string> emit_mma(const PtxInstruction& one) {
  static const std::map<std::string_view, int> kShapes = {
      {"m16n8k4", 4}, {"m16n8k8", 8}, {"m16n8k16", 16}, {"m16n8k32", 32}};
  int k = 0;
  for (const std::string& piece : one.name)
    if (const auto shape = kShapes.find(piece); shape != kShapes.end()) k = shape->second;
  const std::string d = ptx_type(one, 0), a = ptx_type(one, 1), b = ptx_type(one, 2),
                    c = ptx_type(one, 3);
  const int bits = a == "tf32" ? 32 : a == "s8" || a == "u8" ? 8 : 16;
  const bool known = (a == "f16" && b == "f16" && (d == "f32" || d == "f16")) ||
                     (a == "bf16" && b == "bf16" && d == "f32") ||
                     (a == "tf32" && b == "tf32" && d == "f32") ||
                     ((a == "s8" || a == "u8") && (b == "s8" || b == "u8") && d == "s32");
  const bool fits = k * bits == 128 || k * bits == 256;
  if (k == 0 || !known || !fits || one.operands.size() != 4 || one.has("sp") || !one.has("row") ||
      one.has("block_scale"))
    return std::unexpected(ptx_fault(one, "is not supported by check"));
  // Zeros in the place of C are written out by some.
  std::string all, accumulator = ptx_refs(one.operands[3]);
  PtxOperand list = one.operands[3];
  for (std::size_t i = 0; i < list.parts.size(); ++i)
    if (list.parts[i].kind == PtxOperand::Kind::number) {
      const std::string type = c == "f16" ? "b32" : c;
      all += fmt::format("ks::ptx::{} ks_c{} = {}; ", type, i, ptx_as(type, list.parts[i]));
      list.parts[i].text = fmt::format("ks_c{}", i);
    }
  return fmt::format(
      "{{ {}ks::ptx::meet_mma<{}, ks::ptx::{}, ks::ptx::{}, ks::ptx::{}, ks::ptx::{}>({}, {}, {}, "
      "{}); }}",
      all, k, d, a, b, c, ptx_refs(one.operands[0]), ptx_refs(one.operands[1]),
      ptx_refs(one.operands[2]), ptx_refs(list));
}

base::Result<std::string> emit_shuffle(const PtxInstruction& one) {
  static const std::map<std::string_view, int> kModes = {
      {"up", 0}, {"down", 1}, {"bfly", 2}, {"idx", 3}};
  const bool pair = one.has("pair");
  const std::size_t first = pair ? 2 : 1;
  const auto mode = one.name.size() > 2 ? kModes.find(one.name[2]) : kModes.end();
  if (!one.has("sync") || mode == kModes.end() || one.operands.size() != first + 4)
    return std::unexpected(ptx_fault(one, "is not supported by check"));
  std::vector<std::string> values;
  for (std::size_t i = first; i < one.operands.size(); ++i)
    values.push_back(ptx_as("b32", one.operands[i]));
  if (!pair)
    return ptx_set(one.operands[0],
                   fmt::format("ks::ptx::shfl({}, {})", mode->second, fmt::join(values, ", ")));
  return fmt::format("{{ bool ks_p = false; {} {} }}",
                     ptx_set(one.operands[0], fmt::format("ks::ptx::shfl({}, {}, &ks_p)",
                                                          mode->second, fmt::join(values, ", "))),
                     ptx_set(one.operands[1], "ks_p"));
}

base::Result<std::string> emit_barrier(const PtxInstruction& one) {
  if (one.name[0] == "barrier" && one.has("cluster"))
    return std::unexpected(ptx_fault(one, "is not supported by check"));
  const auto& operands = one.operands;
  if (one.has("warp") && operands.size() == 1)
    return fmt::format("ks::ptx::meet_warp({});", ptx_as("u32", operands[0]));
  if (one.has("red")) return std::unexpected(ptx_fault(one, "is not supported by check"));
  std::vector<std::string> values;
  for (const PtxOperand& operand : operands) values.push_back(ptx_as("u32", operand));
  if (values.empty() || values.size() > 2)
    return std::unexpected(ptx_fault(one, "is not understood"));
  if (one.has("arrive") && values.size() == 2)
    return fmt::format("ks::ptx::arrive({});", fmt::join(values, ", "));
  return fmt::format("ks::ptx::meet_barrier({});", fmt::join(values, ", "));
}

}  // namespace

base::Result<std::string> emit_ptx_memory(const PtxInstruction& one) {
  const std::string& base = one.name[0];
  std::string type = ptx_type(one);
  if (base == "cp") return emit_copy(one);
  if (base == "ld" || base == "ldu" || base == "st") return emit_load_store(one, type);
  if (base == "atom" || base == "red") return emit_atomic(one, type);
  if (base == "ldmatrix" || base == "stmatrix") return emit_matrix(one);
  if (base == "membar" || base == "fence") {
    if (one.has("proxy") || one.has("mbarrier_init"))
      return std::unexpected(ptx_fault(one, "is not supported by check"));
    return one.has("cta") ? ";" : "ks::ptx::fence();";
  }
  if (base == "cvta" && one.operands.size() == 2) {
    const bool to = one.has("to");
    if (!in_shared(one)) return ptx_set(one.operands[0], ptx_as("u64", one.operands[1]));
    return ptx_set(one.operands[0], fmt::format("ks::ptx::{}({})", to ? "to_shared" : "from_shared",
                                                ptx_as("u64", one.operands[1])));
  }
  if (base == "isspacep" && one.operands.size() == 2 && in_shared(one))
    return ptx_set(one.operands[0],
                   fmt::format("ks::ptx::is_shared({})", ptx_as("u64", one.operands[1])));
  return std::string();
}

base::Result<std::string> emit_ptx_lanes(const PtxInstruction& one) {
  const std::string& base = one.name[0];
  const auto& operands = one.operands;
  if (base == "mma") return emit_mma(one);
  if (base == "shfl") return emit_shuffle(one);
  if (base == "bar" || base == "barrier") return emit_barrier(one);
  if (base == "activemask" && operands.size() == 1)
    return ptx_set(operands[0], "ks::ptx::meet_active()");
  if (base == "vote" && one.has("sync") && operands.size() == 3 && one.name.size() > 2)
    return ptx_set(operands[0],
                   fmt::format("ks::ptx::meet_{}({}, {})", one.name[2], ptx_as("u32", operands[2]),
                               ptx_as("pred", operands[1])));
  if (base == "redux" && one.has("sync") && operands.size() == 3 && one.name.size() > 2) {
    const std::string type = ptx_type(one) == "b32" ? "u32" : ptx_type(one);
    if (type != "u32" && type != "s32")
      return std::unexpected(ptx_fault(one, "is not supported by check"));
    return ptx_set(operands[0], fmt::format("ks::ptx::meet_reduce_{}({}, {})", one.name[2],
                                            ptx_as(type, operands[1]), ptx_as("u32", operands[2])));
  }
  if (base == "match" && one.has("any") && operands.size() == 3)
    return ptx_set(operands[0],
                   fmt::format("ks::ptx::meet_match_any({}, {})",
                               ptx_as(ptx_type(one), operands[1]), ptx_as("u32", operands[2])));
  return std::string();
}

}  // namespace ksearch::simt::cuda
