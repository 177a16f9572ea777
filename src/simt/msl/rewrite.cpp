#include "simt/msl/rewrite.h"

#include "simt/source/meetings.h"

namespace ksearch::simt::msl {

base::Result<Rewritten> rewrite(std::string_view preprocessed, const Wanted& wanted) {
  Source source = source::tokenize(preprocessed);
  read_attributes(source);
  KS_RETURN_IF_ERROR(bind_function_constants(source, wanted.constants));
  const Scopes scopes = source::find_scopes(source);
  KS_TRY(const std::string table, collect_kernels(source, scopes, wanted.kernels));
  KS_RETURN_IF_ERROR(place_group_storage(source, scopes));
  check_thread_limits(source, scopes);
  Rewritten result;
  result.meets = source::number_meetings(source, scopes, waits_for_lanes) > 0;
  check_casts(source, scopes);
  drop_duplicates(source);
  respell(source);
  result.source = source::write(source) + "\n#line 1 \"ks_table.h\"\n" + table;
  return result;
}

}  // namespace ksearch::simt::msl
