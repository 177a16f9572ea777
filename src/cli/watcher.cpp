#include "cli/watcher.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "cli/interrupt.h"
#include "cli/live_state.h"
#include "cli/live_view.h"
#include "cli/terminal.h"
#include "report/numbers.h"

namespace ksearch::cli {
namespace {

using Steady = std::chrono::steady_clock;

class LiveWatcher final : public Watcher {
 public:
  LiveWatcher(int terminal, const report::Style& style, std::string_view task)
      : style_(style), screen_(std::make_unique<Screen>(terminal)) {
    state_.run.task = std::string(task);
    // Signals are the main thread's.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { redraw(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~LiveWatcher() override { close(); }

  void on(const event::Event& event) override {
    const std::lock_guard lock(mutex_);
    state_.on(event);
    elapsed_ = event.at;
    heard_ = Steady::now();
    running_ = !std::holds_alternative<event::RunEnded>(event.what);
  }
  void progress(std::string_view what) override {
    const std::lock_guard lock(mutex_);
    state_.progress(what);
    running_ = false;  // the session opens, or closes: the run's clock stands still
  }
  bool wants_past() const override { return true; }
  void close() override {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
    screen_.reset();
  }

 private:
  void redraw() {
    constexpr auto kInterval = std::chrono::milliseconds(200);
    std::unique_lock lock(mutex_);
    while (!closed_) {
      LiveState state = state_;
      if (running_) state.elapsed = elapsed_ + (Steady::now() - heard_);
      state.stopping = InterruptWatch::interrupted();
      lock.unlock();
      screen_->draw(live_lines(style_, state, screen_->size()));
      lock.lock();
      wake_.wait_for(lock, kInterval, [this] { return closed_; });
    }
  }

  report::Style style_;
  std::unique_ptr<Screen> screen_;
  std::mutex mutex_;  // of everything below
  std::condition_variable wake_;
  LiveState state_;
  std::chrono::nanoseconds elapsed_{0};
  Steady::time_point heard_ = Steady::now();
  bool running_ = false;
  bool closed_ = false;
  std::thread thread_;
};

class LineWatcher final : public Watcher {
 public:
  LineWatcher(int fd, const report::Style& style) : fd_(fd), style_(style) {}

  void on(const event::Event& event) override {
    const std::lock_guard lock(mutex_);
    if (const auto* stage = std::get_if<event::StageProgress>(&event.what)) return on_stage(*stage);
    started_ = !std::holds_alternative<event::RunEnded>(event.what);
    const std::string text = event::summary(event);
    if (text.empty()) return;
    const double seconds = std::chrono::duration<double>(event.at).count();
    line(fmt::format("{:>6}  {}", report::seconds_text(seconds), text));
  }
  bool wants_past() const override { return false; }
  void progress(std::string_view what) override {
    // Stages of one kind ("timing a", "timing b") come often: a line when the kind changes.
    const std::lock_guard lock(mutex_);
    const std::string kind(what.substr(0, what.find(' ')));
    if (started_ || kind == last_kind_) return;
    last_kind_ = kind;
    line(fmt::format("{:>6}  {}", "", what));
  }
  void close() override {}

 private:
  /// A certificate takes minutes: that it goes on is said every so often.
  void on_stage(const event::StageProgress& stage) {
    constexpr auto kSilence = std::chrono::seconds(10);
    const auto now = Steady::now();
    if (!stage.what.starts_with("certify") || now - said_ < kSilence) return;
    said_ = now;
    line(fmt::format("{:>6}  {}", "", stage.what));
  }
  void line(std::string text) {
    text = report::printable(style_, text) + "\n";
    // A reader that is gone must not end the run.
    [[maybe_unused]] const ssize_t n = write(fd_, text.data(), text.size());
  }

  int fd_;
  report::Style style_;
  std::mutex mutex_;  // of everything below: models speak from threads of their own
  std::string last_kind_;
  bool started_ = false;
  Steady::time_point said_{};
};

}  // namespace

std::unique_ptr<Watcher> make_live_watcher(int terminal, const report::Style& style,
                                           std::string_view task) {
  return std::make_unique<LiveWatcher>(terminal, style, task);
}

std::unique_ptr<Watcher> make_line_watcher(int fd, const report::Style& style) {
  return std::make_unique<LineWatcher>(fd, style);
}

}  // namespace ksearch::cli
