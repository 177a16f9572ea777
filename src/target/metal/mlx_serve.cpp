// What differs from a CPU worker: arrays are made between `arm` and `ready`, and outputs come back
// between `done` and `calls`, so that neither is in the time. Of a program there is only GPU code
// here, which cannot speak for this process.
//
//   parent -> worker                              worker -> parent
//                                                 hello
//   {"op":"load"}                                 {"locked":true} then {"loaded":true}
//   {"op":"prepare","work":{..},"tensors":        {"prepared":true}
//    [[name,offset,bytes],..],"stride","sets"}
//   {"op":"arm","token":"..","order":[..]}        {"ready":"token"}
//   go                                            {"done":"token"} then {"calls":[ns, ..]}
#include "target/metal/mlx_serve.h"

#include <sys/mman.h>

#include <chrono>
#include <exception>

#include "base/json.h"
#include "target/line_socket.h"
#include "target/metal/mlx_device.h"
#include "target/metal/mlx_message.h"
#include "target/worker_descriptors.h"

namespace ksearch::target {
namespace {
using base::Json;

class MlxWorkerMain {
 public:
  MlxWorkerMain(LineSocket& socket, const MlxDispatch* dispatch)
      : socket_(socket), dispatch_(dispatch) {}
  ~MlxWorkerMain() { unmap(); }
  MlxWorkerMain(const MlxWorkerMain&) = delete;

  int serve() {
    socket_.send_line("hello");
    std::string line;
    while (socket_.read_line(line)) {
      const auto message = base::parse_json(line, "control");
      if (!message) return fail("protocol", message.error().text());
      const std::string op = message->value("op", "");
      const int status = op == "load"      ? load()
                         : op == "prepare" ? prepare(*message)
                         : op == "arm"     ? batch(*message)
                                           : fail("protocol", "unknown operation");
      if (status != 0) return status;
    }
    return 0;
  }

  int fail(const char* kind, const std::string& why) {
    socket_.send_line(base::to_line({{"failed", kind}, {"why", why}}));
    return 1;
  }

 private:
  int fail(const base::Error& error) {
    // MLX's words: where Apple's compiler refuses a kernel, with its log, and where the kernel
    // needs so many registers that a group of its size does not fit.
    const auto says = [&](const char* words) {
      return error.what.find(words) != std::string::npos;
    };
    return fail(says("metal library")       ? "compile"
                : says("Thread group size") ? "unsupported"
                                            : "script",
                error.text());
  }

  void unmap() {
    runner_.reset();
    sets_.clear();
    if (memory_) ::munmap(memory_, bytes_);
    memory_ = nullptr;
  }

  /// Nothing: MLX is linked, and a program comes with its work.
  int load() {
    socket_.send_line(R"({"locked":true})");
    socket_.send_line(R"({"loaded":true})");
    return 0;
  }

  int prepare(const Json& message) {
    unmap();
    const std::size_t stride = message.at("stride"), sets = message.at("sets");
    bytes_ = stride * sets;
    void* at = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, kMemoryDescriptor, 0);
    if (at == MAP_FAILED) return fail("memory", "shared");
    memory_ = static_cast<std::byte*>(at);
    for (std::size_t set = 0; set < sets; ++set) {
      MlxSet& one = sets_.emplace_back();
      for (const Json& tensor : message.at("tensors"))
        one[tensor.at(0)] = {memory_ + set * stride + tensor.at(1).get<std::size_t>(),
                             tensor.at(2).get<std::size_t>()};
    }
    auto runner = make_mlx_runner(parse_mlx_work(message.at("work")), dispatch_);
    if (!runner) return fail(runner.error());
    runner_ = std::move(*runner);
    const MlxState state = mlx_state();
    socket_.send_line(base::to_line({{"prepared", true},
                                     {"versions", {{"mlx", state.version}}},
                                     {"device", state.has_metal ? state.device : "cpu"}}));
    return 0;
  }

  int batch(const Json& message) {
    const auto order = message.at("order").get<std::vector<int>>();
    const std::string token = message.at("token");
    if (const auto armed = runner_->arm(sets_, order); !armed) return fail(armed.error());
    socket_.send_line(base::to_line({{"ready", token}}));
    if (!socket_.await_go()) return fail("protocol", "no go");
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    const auto ran = runner_->go();
    const double ns = std::chrono::duration<double, std::nano>(Clock::now() - start).count();
    if (!ran) return fail(ran.error());
    socket_.send_line(base::to_line({{"done", token}}));
    if (const auto collected = runner_->collect(); !collected) return fail(collected.error());
    // One evaluation of all: what each took is not known.
    const std::vector<double> calls(order.size(), ns / static_cast<double>(order.size()));
    socket_.send_line(base::to_line({{"calls", calls}}));
    return 0;
  }

  LineSocket& socket_;
  const MlxDispatch* dispatch_;
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
  std::vector<MlxSet> sets_;
  std::unique_ptr<MlxRunner> runner_;
};

}  // namespace

int run_mlx_worker(const MlxDispatch* dispatch) {
  LineSocket socket(kControlDescriptor);
  MlxWorkerMain worker(socket, dispatch);
  try {
    return worker.serve();
  } catch (const std::exception& error) {
    return worker.fail("protocol", error.what());
  }
}

}  // namespace ksearch::target
