// The kernels' shared library, loaded into the worker.
#pragma once

#include <string>

#include "base/result.h"
#include "simt/engine/shared.h"

namespace ksearch::simt {

struct LoadedObject {
  void (*attach)(ks::Attachment*) = nullptr;  ///< gives the calling thread's variables
  ks::Attachment attachment{};
  ObjectRange range;
};
base::Result<LoadedObject> load_object(const std::string& path);

/// Code and data of the library that was loaded at `base`; one file a system.
ObjectRange object_range(const void* base);

}  // namespace ksearch::simt
