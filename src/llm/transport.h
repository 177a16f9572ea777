// One HTTP request, sent and answered. The only place that knows sockets.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "llm/chat.h"
#include "llm/wire.h"

namespace ksearch::llm {

struct HttpRequest {
  std::string url;
  std::vector<std::string> headers;  ///< "name: value"; may hold a key: never printed
  std::string body;
};

struct HttpLimits {
  std::chrono::milliseconds connect{30000};
  std::chrono::milliseconds silence{300000};  ///< without one byte
  std::chrono::milliseconds whole{600000};
};

struct HttpReply {
  int status = 0;
  Headers headers;
  std::string body;                ///< all that came, also where it was cut
  std::optional<Failure> failure;  ///< set: the reply is not whole
};

class Transport {
 public:
  virtual ~Transport() = default;
  /// `cancelled` is looked at about every second and with every piece that comes. Thread-safe.
  virtual HttpReply post(const HttpRequest& request, const HttpLimits& limits,
                         const std::function<bool()>& cancelled) = 0;
};

/// libcurl: TLS by the system's certificates, proxies by the usual variables (https_proxy,
/// no_proxy), no redirection (a key is for one host).
std::unique_ptr<Transport> make_curl_transport();

}  // namespace ksearch::llm
