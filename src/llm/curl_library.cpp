#include "llm/curl_library.h"

#include <dlfcn.h>

namespace ksearch::llm {
namespace {

#ifdef __APPLE__
constexpr const char* kNames[] = {"libcurl.4.dylib", "libcurl.dylib"};
#else
constexpr const char* kNames[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
#endif

template <class F>
bool look_up(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(::dlsym(library, name));
  return function != nullptr;
}

bool load(CurlLibrary& curl) {
  void* library = nullptr;
  for (const char* name : kNames)
    if (!library) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  return library && look_up(library, "curl_global_init", curl.global_init) &&
         look_up(library, "curl_easy_init", curl.easy_init) &&
         look_up(library, "curl_easy_cleanup", curl.easy_cleanup) &&
         look_up(library, "curl_easy_setopt", curl.easy_setopt) &&
         look_up(library, "curl_easy_perform", curl.easy_perform) &&
         look_up(library, "curl_easy_getinfo", curl.easy_getinfo) &&
         look_up(library, "curl_easy_strerror", curl.easy_strerror) &&
         look_up(library, "curl_getdate", curl.getdate) &&
         look_up(library, "curl_slist_append", curl.slist_append) &&
         look_up(library, "curl_slist_free_all", curl.slist_free_all) &&
         curl.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

}  // namespace

const CurlLibrary* CurlLibrary::find() {
  static CurlLibrary curl;
  static const bool loaded = load(curl);
  return loaded ? &curl : nullptr;
}

}  // namespace ksearch::llm
