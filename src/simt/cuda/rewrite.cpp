#include "simt/cuda/rewrite.h"

#include "simt/source/meetings.h"

namespace ksearch::simt::cuda {

std::string plain_name(const std::string& kernel) {
  const std::string name = kernel.substr(0, kernel.find('<'));
  const std::size_t colon = name.rfind(':');
  std::string plain = colon == std::string::npos ? name : name.substr(colon + 1);
  while (plain.ends_with(' ')) plain.pop_back();
  return plain;
}

bool waits_for_lanes(const std::string& name) {
  static const std::set<std::string, std::less<>> kNames = {"__activemask",
                                                            "mma_sync",
                                                            "shfl",
                                                            "sync",
                                                            "shfl_up",
                                                            "shfl_down",
                                                            "shfl_xor",
                                                            "any",
                                                            "all",
                                                            "ballot",
                                                            "match_any",
                                                            "match_all",
                                                            "reduce",
                                                            "inclusive_scan",
                                                            "exclusive_scan",
                                                            "coalesced_threads",
                                                            "binary_partition",
                                                            "labeled_partition"};
  return kNames.contains(name) || name.starts_with("meet_") || name.starts_with("__sync") ||
         (name.starts_with("__") && name.ends_with("_sync"));
}

base::Result<void> erase_marks(Source& source) {
  static const std::set<std::string, std::less<>> kMarks = {
      "__device__", "__host__", "__global__", "__constant__", "__managed__", "__shared__"};
  for (std::size_t i = 0; i < source.tokens.size(); ++i) {
    const Token& token = source.tokens[i];
    if (token.is("__cluster_dims__"))
      return base::usage_error(token.place(), "clusters are not supported by check");
    if (token.is("<<") && source.tokens[i + 1].is("<") && source.tokens[i + 1].before.empty())
      return base::usage_error(token.place(),
                               "a kernel that starts a kernel is not supported by check");
    if (token.is_identifier() && kMarks.contains(token.spelling) && token.written == token.spelling)
      source.erase(i, i + 1);
  }
  return {};
}

base::Result<Rewritten> rewrite(std::string_view preprocessed,
                                const std::set<std::string>& wanted) {
  Rewritten result;
  Source source = source::tokenize(preprocessed);
  KS_RETURN_IF_ERROR(keep_reachable(source, wanted, result.warnings));
  // A pass that erases or writes much leaves text for the next one to read.
  source = source::tokenize(source::write(source));
  KS_RETURN_IF_ERROR(replace_assembly(source));
  source = source::tokenize(source::write(source));
  const Scopes scopes = source::find_scopes(source);
  KS_TRY(const std::string kernels, list_kernels(source, scopes, wanted));
  KS_RETURN_IF_ERROR(place_shared(source, scopes));
  KS_TRY(const std::string symbols, place_symbols(source, scopes));
  check_thread_limits(source, scopes);
  check_vectors(source, scopes);
  source::number_meetings(source, scopes, waits_for_lanes);
  KS_RETURN_IF_ERROR(erase_marks(source));
  result.source = source::write(source) + "\n#line 1 \"ks_table.h\"\n" + symbols + kernels;
  return result;
}

}  // namespace ksearch::simt::cuda
