// Written from the manual pages; not yet run.
#include <mach-o/getsect.h>

#include "simt/engine/loaded_object.h"

namespace ksearch::simt {

ObjectRange object_range(const void* base) {
  unsigned long bytes = 0;
  getsegmentdata(static_cast<const mach_header_64*>(base), "__TEXT", &bytes);
  return {static_cast<const std::byte*>(base), static_cast<const std::byte*>(base) + bytes};
}

}  // namespace ksearch::simt
