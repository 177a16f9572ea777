// Loads candidate objects and runs their kernels. Nothing it says is believed: the parent takes the
// time, compares the outputs, and stops this process while it looks (process_worker.h).
//
//   parent -> worker                                   worker -> parent
//                                                      hello
//   {"op":"load","objects":[{path,kernels}],           {"locked":true} then {"loaded":true}
//    "threads":n,"pin":[..],"trusted":b}
//   {"op":"prepare","bytes":..,"guards":[..],          {"prepared":true}
//    "own":{..},"stride":..,"sets":..,"launches":..}
//   {"op":"arm","token":"..","order":[..],"poison":b}  {"ready":"token"}
//   go                                                 {"done":"token"} then {"calls":[ns, ..]}
//
// Where something fails it says {"failed": kind, "why": text} and leaves.
#include "target/cpu/worker_main.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <exception>
#include <memory>
#include <new>
#include <string>

#include "base/json.h"
#include "os/lock.h"
#include "target/cpu/faults.h"
#include "target/cpu/plan_runner.h"
#include "target/cpu/thread_pool.h"
#include "target/line_socket.h"
#include "target/worker_descriptors.h"

namespace ksearch::target {
namespace {
using base::Json;

double now_ns() {
  return static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count());
}

class CpuWorkerMain {
 public:
  explicit CpuWorkerMain(LineSocket& socket) : socket_(socket) {}

  int serve() {
    std::string line;
    while (socket_.read_line(line)) {
      const auto message = base::parse_json(line, "control");
      if (!message) return fail("protocol", message.error().text());
      const std::string op = message->value("op", "");
      const int status = op == "load"      ? load(*message)
                         : op == "prepare" ? prepare(*message)
                         : op == "arm"     ? batch(*message)
                                           : fail("protocol", "unknown operation");
      if (status != 0) return status;
    }
    return 0;
  }

 private:
  int fail(const char* kind, const std::string& why) {
    socket_.send_line(base::to_line({{"failed", kind}, {"why", why}}));
    return 1;
  }

  int load(const Json& message) {
    const bool trusted = message.at("trusted");
    ask_for_matrix_unit();
    install_fault_handlers(kControlDescriptor);
    pool_ = std::make_unique<ThreadPool>(message.at("threads").get<int>(),
                                         message.at("pin").get<std::vector<int>>(), prepare_thread);
    if (!trusted)
      if (const std::string why = os::lock_for_loading(kControlDescriptor); !why.empty())
        return fail("lock", why);
    socket_.send_line(R"({"locked":true})");
    for (const Json& object : message.at("objects")) {
      const std::string path = object.at("path");
      void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (!handle) return fail("load", ::dlerror());
      std::vector<EntryPoint> kernels;
      for (const Json& kernel : object.at("kernels")) {
        void* entry = ::dlsym(handle, kernel.get<std::string>().c_str());
        if (!entry) return fail("load", ::dlerror());
        kernels.push_back(reinterpret_cast<EntryPoint>(entry));
      }
      entries_.push_back(std::move(kernels));
    }
    if (!trusted)
      if (const std::string why = os::lock_for_running(kControlDescriptor); !why.empty())
        return fail("lock", why);
    socket_.send_line(R"({"loaded":true})");
    return 0;
  }

  /// Maps `json.bytes` bytes, shared with the parent or our own, with its guard pages shut.
  std::string map(const Json& json, bool shared, Mapping& mapping) {
    if (mapping.start) ::munmap(mapping.start, mapping.bytes);
    mapping = {};
    const std::size_t bytes = json.at("bytes");
    if (bytes == 0) return {};
    void* at =
        shared ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, kMemoryDescriptor, 0)
               : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return "memory";
    mapping = {static_cast<std::byte*>(at), bytes};
#ifdef MADV_HUGEPAGE
    // As an allocator in a framework would give it; tensors come in small pages for everybody.
    if (!shared) ::madvise(at, bytes, MADV_HUGEPAGE);
#endif
    for (const Json& guard : json.at("guards"))
      if (::mprotect(mapping.start + guard.at(0).get<std::size_t>(), guard.at(1).get<std::size_t>(),
                     PROT_NONE) != 0)
        return "guards";
#ifdef MADV_POPULATE_WRITE
    // A first touch costs as much as reading 4 KiB from memory: not inside a timed call.
    for (const Json& range : json.at("touch"))
      ::madvise(mapping.start + range.at(0).get<std::size_t>(), range.at(1).get<std::size_t>(),
                MADV_POPULATE_WRITE);
#endif
    return {};
  }

  int prepare(const Json& message) {
    for (FaultRegion& region : g_fault_regions) region.start = nullptr;
    for (const bool shared : {true, false}) {
      Mapping& mapping = shared ? shared_ : own_;
      if (const std::string why = map(message.at(shared ? "shared" : "own"), shared, mapping);
          !why.empty())
        return fail("memory", why);
      FaultRegion& region = g_fault_regions[shared ? 0 : 1];
      region.bytes = mapping.bytes;
      region.start = mapping.start;
    }
    if (const std::string why = PlanRunner::read(message, entries_, runner_); !why.empty())
      return fail("protocol", why);
    socket_.send_line(R"({"prepared":true})");
    return 0;
  }

  int batch(const Json& message) {
    const auto order = message.at("order").get<std::vector<int>>();
    const bool poison = message.at("poison");
    const std::string token = message.at("token");
    const std::string done = R"({"done":")" + token + "\"}";
    std::vector<double> calls(order.size());
    pool_->ready();
    socket_.send_line(R"({"ready":")" + token + "\"}");
    if (!socket_.await_go()) return fail("protocol", "no go");
    double last = now_ns();
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (poison) runner_.poison(*pool_, own_);
      runner_.call(*pool_, shared_, own_, order[i]);
      const double now = now_ns();
      calls[i] = now - last;
      last = now;
    }
    pool_->rest();
    socket_.send_line(done);
    socket_.send_line(base::to_line({{"calls", calls}}));
    return 0;
  }

  LineSocket& socket_;
  std::unique_ptr<ThreadPool> pool_;
  std::vector<std::vector<EntryPoint>> entries_;
  PlanRunner runner_;
  Mapping shared_, own_;
};

}  // namespace

int run_cpu_worker() {
  LineSocket socket(kControlDescriptor);
  socket.send_line("hello");
  CpuWorkerMain worker(socket);
  int status = 0;
  // The one place where candidate code's exceptions arrive.
  try {
    status = worker.serve();
  } catch (const std::bad_alloc&) {
    socket.send_line(R"({"failed":"memory","why":"std::bad_alloc"})");
    status = 1;
  } catch (const std::exception& e) {
    socket.send_line(
        base::to_line({{"failed", "exception"}, {"why", std::string(e.what()).substr(0, 200)}}));
    status = 1;
  } catch (...) {
    socket.send_line(R"({"failed":"exception","why":"something that is no std::exception"})");
    status = 1;
  }
  ::_exit(status);  // no destructors of candidate objects
}

}  // namespace ksearch::target
