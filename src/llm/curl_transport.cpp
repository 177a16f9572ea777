#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "llm/curl_library.h"
#include "llm/transport.h"

namespace ksearch::llm {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t kLargestBody = 64u << 20;

/// What libcurl's callbacks work on.
struct Transfer {
  HttpReply reply;
  const std::function<bool()>* cancelled = nullptr;
  std::chrono::milliseconds silence{0};
  Steady::time_point heard = Steady::now();
  bool was_cancelled = false, was_silent = false, too_large = false;
};

std::size_t on_body(char* bytes, std::size_t, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  transfer.heard = Steady::now();
  if (transfer.reply.body.size() + count > kLargestBody) {
    transfer.too_large = true;
    return 0;
  }
  transfer.reply.body.append(bytes, count);
  return count;
}

std::size_t on_header(char* bytes, std::size_t, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  std::string_view line(bytes, count);
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  if (line.starts_with("HTTP/")) transfer.reply.headers.clear();  // after a proxy's own, or 100
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return count;
  std::string name(line.substr(0, colon));
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  line.remove_prefix(colon + 1);
  while (line.starts_with(' ')) line.remove_prefix(1);
  transfer.reply.headers[name] = line;
  return count;
}

int on_progress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto& transfer = *static_cast<Transfer*>(user);
  transfer.was_cancelled = *transfer.cancelled && (*transfer.cancelled)();
  transfer.was_silent = Steady::now() - transfer.heard > transfer.silence;
  return transfer.was_cancelled || transfer.was_silent ? 1 : 0;
}

Failure failure_of(const CurlLibrary& library, const Transfer& transfer, CURLcode code,
                   const char* detail) {
  using Kind = Failure::Kind;
  const double silence = std::chrono::duration<double>(transfer.silence).count();
  if (transfer.was_cancelled) return {Kind::cancelled, "stopped"};
  if (transfer.was_silent)
    return {Kind::timed_out, fmt::format("nothing was heard for {:.3g} s", silence)};
  if (transfer.too_large)
    return {Kind::malformed, fmt::format("the reply is larger than {} MiB", kLargestBody >> 20)};
  const std::string text = *detail ? detail : library.easy_strerror(code);
  if (code == CURLE_OPERATION_TIMEDOUT) return {Kind::timed_out, text};
  return {Kind::network, text};
}

class CurlTransport final : public Transport {
 public:
  HttpReply post(const HttpRequest& request, const HttpLimits& limits,
                 const std::function<bool()>& cancelled) override {
    Transfer transfer;
    const CurlLibrary* const library = CurlLibrary::find();
    if (!library) {
      transfer.reply.failure = {Failure::Kind::network,
                                "libcurl is not installed (Debian: apt install libcurl4)"};
      return std::move(transfer.reply);
    }
    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(library->easy_init(),
                                                                   library->easy_cleanup);
    curl_slist* list = nullptr;
    for (const std::string& header : request.headers)
      list = library->slist_append(list, header.c_str());
    const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(
        list, library->slist_free_all);
    transfer.cancelled = &cancelled;
    transfer.silence = limits.silence;
    char detail[CURL_ERROR_SIZE] = "";
    const auto set = [&](CURLoption option, auto value) {
      library->easy_setopt(curl.get(), option, value);
    };
    set(CURLOPT_URL, request.url.c_str());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    set(CURLOPT_HTTPHEADER, headers.get());
    set(CURLOPT_POSTFIELDS, request.body.c_str());
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits.connect.count()));
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(limits.whole.count()));
    set(CURLOPT_NOSIGNAL, 1L);  // threads
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    set(CURLOPT_ERRORBUFFER, detail);
    set(CURLOPT_WRITEFUNCTION, on_body);
    set(CURLOPT_WRITEDATA, &transfer);
    set(CURLOPT_HEADERFUNCTION, on_header);
    set(CURLOPT_HEADERDATA, &transfer);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, on_progress);
    set(CURLOPT_XFERINFODATA, &transfer);
    const CURLcode code = library->easy_perform(curl.get());
    long status = 0;
    library->easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
    transfer.reply.status = static_cast<int>(status);
    if (code != CURLE_OK) transfer.reply.failure = failure_of(*library, transfer, code, detail);
    return std::move(transfer.reply);
  }
};

}  // namespace

std::unique_ptr<Transport> make_curl_transport() { return std::make_unique<CurlTransport>(); }

}  // namespace ksearch::llm
