#include <link.h>

#include <algorithm>

#include "simt/engine/loaded_object.h"

namespace ksearch::simt {

ObjectRange object_range(const void* base) {
  ObjectRange range{static_cast<const std::byte*>(base), static_cast<const std::byte*>(base)};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        auto& r = *static_cast<ObjectRange*>(out);
        if (reinterpret_cast<const std::byte*>(info->dlpi_addr) != r.begin) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i)
          if (info->dlpi_phdr[i].p_type == PT_LOAD)
            r.end =
                std::max(r.end, r.begin + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz);
        return 1;
      },
      &range);
  return range;
}

}  // namespace ksearch::simt
