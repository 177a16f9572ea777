#include "simt/msl/rewrite.h"

namespace ksearch::simt::msl {

base::Result<Rewritten> rewrite(std::string_view preprocessed, const Wanted& wanted) {
  Source source = tokenize(preprocessed);
  read_attributes(source);
  KS_RETURN_IF_ERROR(bind_function_constants(source, wanted.constants));
  const Scopes scopes = find_scopes(source);
  KS_TRY(const std::string table, collect_kernels(source, scopes, wanted.kernels));
  KS_RETURN_IF_ERROR(place_group_storage(source, scopes));
  Rewritten result;
  result.meets = number_meetings(source, scopes) > 0;
  drop_duplicates(source);
  respell(source);
  result.source = write(source) + "\n#line 1 \"ks_table.h\"\n" + table;
  return result;
}

}  // namespace ksearch::simt::msl
