#include "simt/engine/loaded_object.h"

#include <dlfcn.h>

namespace ksearch::simt {

base::Result<LoadedObject> load_object(const std::string& path) {
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return base::internal_error(path, ::dlerror());
  LoadedObject object;
  object.attach = reinterpret_cast<void (*)(ks::Attachment*)>(::dlsym(handle, "ks_attach"));
  if (!object.attach) return base::internal_error(path, "it has no ks_attach");
  object.attach(&object.attachment);
  Dl_info info{};
  ::dladdr(reinterpret_cast<void*>(object.attach), &info);
  object.range = object_range(info.dli_fbase);
  return object;
}

}  // namespace ksearch::simt
