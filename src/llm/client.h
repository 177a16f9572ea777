// A model behind an address: one question, one answer, whatever it takes. Repeats what fails in
// passing, lets the model go on where its answer was cut at the limit of tokens, does without what
// a server does not know, and tells of every call.
//
//   complete ──> per part: per try: CallWatch::begun, post, CallWatch::ended ──> Said | Failure
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "llm/prices.h"
#include "llm/transport.h"
#include "llm/wire.h"

namespace ksearch::llm {

/// Where a model is and how it is spoken to.
struct Endpoint {
  std::string base_url;
  const Wire* wire = nullptr;
  std::string key;  ///< never printed, never written; empty: none is sent
  std::string model;
  Quirks quirks;
  std::optional<Price> price;

  /// The same model at the same place with the same key: one client serves both.
  bool is_same(const Endpoint& other) const;
};

/// One call, after it ended.
struct Call {
  int part = 0;    ///< of the answer, from 0: the second and on where one was cut at the limit
  int number = 0;  ///< of the tries of that part, from 0
  double seconds = 0;
  std::string text;  ///< what came, also where it was cut
  Said::Stop stop = Said::Stop::unknown;
  std::optional<Failure> failure;
  Tokens tokens;
  bool estimated = false;  ///< of the tokens
  double cost_usd = 0;
};

class CallWatch {
 public:
  virtual ~CallWatch() = default;
  virtual void begun(int part, int number) = 0;
  virtual void ended(const Call& call) = 0;
};

struct ClientOptions {
  HttpLimits limits;
  int tries = 6;       ///< of one part, where failures pass
  int parts = 4;       ///< of one answer
  int max_output = 0;  ///< tokens of one part; 0: the model's most
  bool stream = true;
  std::chrono::milliseconds first_wait{1000};  ///< doubles each time, with jitter
  std::chrono::milliseconds longest_wait{60000};
  /// A server that asks for more patience than this is left alone.
  std::chrono::milliseconds patience{600000};
  std::uint64_t seed = 1;  ///< of the jitter: the run's; each model draws from its own
  std::function<bool()> cancelled = {};
  std::function<void(const std::string&)> say = {};  ///< why it waits
  /// Waits; for tests. Null: sleeps, in slices, until `cancelled`.
  std::function<void(std::chrono::milliseconds)> wait = {};
};

struct Inquiry {
  std::string text;
  std::size_t shared = 0;  ///< as Ask
  bool json = false;       ///< as Ask
};

class Client {
 public:
  /// `transport` is borrowed.
  Client(Endpoint endpoint, Transport* transport, ClientOptions options);

  /// `parts`: of the answer, that came before (a run that was stopped in the middle of one).
  /// Thread-safe.
  Got<Said> complete(const Inquiry& inquiry, std::vector<std::string> parts, CallWatch& watch);
  const Endpoint& endpoint() const { return endpoint_; }
  /// What the server did not take and was left out, for the user.
  std::vector<std::string> notes() const;

 private:
  Got<Said> part(const Inquiry& inquiry, const std::vector<std::string>& parts, CallWatch& watch);
  Call call(const Inquiry& inquiry, const std::vector<std::string>& parts);
  Quirks quirks() const;
  bool do_without(const std::string& parameter);
  std::chrono::milliseconds pause(int number, const Failure& failure);
  void wait(std::chrono::milliseconds time) const;
  std::string without_key(std::string text) const;

  Endpoint endpoint_;
  Transport* transport_;
  ClientOptions options_;
  mutable std::mutex mutex_;  // of everything below
  Quirks quirks_;
  std::vector<std::string> notes_;
  base::Random random_;
};

/// An answer in parts as one: what a part repeats of the end of the one before is left out.
std::string stitched(const std::vector<std::string>& parts);

}  // namespace ksearch::llm
