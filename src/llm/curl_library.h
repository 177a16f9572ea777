// The functions of libcurl that are used, found when first asked for. libcurl brings 25 libraries
// with it: linked, they made every start of ksearch and of its workers 10 ms longer.
#pragma once

#include <curl/curl.h>

namespace ksearch::llm {

struct CurlLibrary {
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_easy_init) easy_init = nullptr;
  decltype(&curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&curl_easy_setopt) easy_setopt = nullptr;
  decltype(&curl_easy_perform) easy_perform = nullptr;
  decltype(&curl_easy_getinfo) easy_getinfo = nullptr;
  decltype(&curl_easy_strerror) easy_strerror = nullptr;
  decltype(&curl_getdate) getdate = nullptr;
  decltype(&curl_slist_append) slist_append = nullptr;
  decltype(&curl_slist_free_all) slist_free_all = nullptr;

  /// Null where the system has none.
  static const CurlLibrary* find();
};

}  // namespace ksearch::llm
