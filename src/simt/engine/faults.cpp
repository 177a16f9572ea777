// The part of Machine that catches what a kernel does besides computing: faults, system calls that
// the lock refuses, loops without end. Signal handlers leave the kernel only where it is in its own
// code; anywhere else they may hold a lock of the C library, so the process says what happened and
// ends.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "os/refused_call.h"
#include "simt/engine/cpu_tick.h"
#include "simt/engine/machine.h"
#include "simt/engine/program_counter.h"

namespace ksearch::simt {
namespace {

constexpr std::chrono::milliseconds kTick{100};
constexpr int kTicksASecond = 10;
constexpr int kPatientTicks = 30;  // that long outside of the kernel's own code

/// One JSON line on the stack, without the C library.
class LastLine {
 public:
  LastLine& text(const char* s) {
    while (*s && size_ < sizeof(buffer_)) buffer_[size_++] = *s++;
    return *this;
  }
  LastLine& number(std::uint64_t n) {
    char digits[20];
    int count = 0;
    do digits[count++] = static_cast<char>('0' + n % 10);
    while (n /= 10);
    while (count && size_ < sizeof(buffer_)) buffer_[size_++] = digits[--count];
    return *this;
  }
  [[noreturn]] void send() {
    [[maybe_unused]] const ssize_t n = ::write(STDOUT_FILENO, buffer_, size_);
    ::_exit(1);
  }

 private:
  char buffer_[256];
  std::size_t size_ = 0;
};

[[noreturn]] void end_of_process(int signal, const siginfo_t* info, const void* context) {
  LastLine line;
  line.text("\n");
  if (signal == SIGSYS) {
    const RefusedCall call = refused_call(info, context);
    line.text("{\"refused\":")
        .number(static_cast<std::uint64_t>(call.number))
        .text(",\"first\":")
        .number(call.first_argument)
        .text("}\n")
        .send();
  }
  line.text("{\"where\":\"the kernel\",\"usage\":true,\"todo\":\"\",\"failed\":\"");
  if (signal == SIGPROF)
    line.text("it ran without end outside of its own code");
  else
    line.text("it crashed outside of its own code, signal ")
        .number(static_cast<std::uint64_t>(signal));
  line.text("\"}\n").send();
}

}  // namespace

void Machine::install_handlers() {
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  action.sa_sigaction = on_fault;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
    ::sigaction(signal, &action, nullptr);
  action.sa_sigaction = on_tick;
  ::sigaction(SIGPROF, &action, nullptr);
}

void Machine::enter_thread() {
  t_machine = this;
  const stack_t stack{
      .ss_sp = signal_stack_.data(), .ss_flags = 0, .ss_size = signal_stack_.size()};
  ::sigaltstack(&stack, nullptr);
  install_handlers();
  start_cpu_tick(SIGPROF, kTick);
}

void Machine::on_fault(int signal, siginfo_t* info, void* context) {
  Machine* m = t_machine;
  CodePosition position = code_position(context);
  if (signal == SIGSYS) position.pc = refused_call(info, context).pc;
  const bool own_code = m && m->running_ && m->watch_.shared().object.holds(position.pc);
  // Hooks run on the lane's stack, so it may end in one.
  const bool stack_end = m && m->running_ && (signal == SIGSEGV || signal == SIGBUS) &&
                         m->watch_.stacks().holds(info->si_addr);
  if (!own_code && !stack_end) end_of_process(signal, info, context);
  if (signal == SIGSYS) {
    const RefusedCall call = refused_call(info, context);
    m->refused_ = call.number;
    m->refused_argument_ = call.first_argument;
    m->stop_ = Stop::system_call;
  } else {
    m->fault_at_ = info->si_addr;
    m->stop_ = Stop::fault;
  }
  m->stop_at(position);
}

/// Leaves the kernel.
void Machine::stop_at(const CodePosition& position) {
  fault_pc_ = position.pc;
  note_callers(position);
  siglongjmp(escape_, 1);
}

/// Every word on the lane's stack that is an address in the object: return addresses are among
/// them, and nothing else in the frames of small functions of ours.
[[gnu::no_sanitize_address]] void Machine::note_callers(const CodePosition& position) {
  callers_ = {};
  std::size_t count = 0;
  const auto note = [&](const void* address) {
    if (count < callers_.size() && watch_.shared().object.holds(address))
      callers_[count++] = address;
  };
  note(position.link);
  const auto offset = static_cast<std::size_t>(position.stack - memory_.begin);
  if (offset >= memory_.lanes * LaneMemory::kStack) return;
  const std::size_t number = offset / LaneMemory::kStack;
  const std::byte* const guard_end =
      memory_.begin + number * LaneMemory::kStack + ::sysconf(_SC_PAGESIZE);
  const std::byte* const end = memory_.begin + (number + 1) * LaneMemory::kStack;
  for (const std::byte* at = std::max(position.stack, guard_end); at < end; at += sizeof(void*)) {
    const void* word = nullptr;
    __builtin_memcpy(&word, at, sizeof(word));
    note(word);
  }
}

void Machine::on_tick(int signal, siginfo_t* info, void* context) {
  Machine* m = t_machine;
  if (!m) return;
  const bool idle = m->steps_ == m->steps_at_tick_;
  m->steps_at_tick_ = m->steps_;
  // Before there is a kernel that runs: initialisers of the object.
  m->idle_ticks_ = idle ? m->idle_ticks_ + 1 : 0;
  const int patient_ticks = m->options_.patience * kTicksASecond;
  if (m->idle_ticks_ < patient_ticks) return;
  if (m->running_) {
    m->stop_ = Stop::expired;  // a hook looks when it is done
    if (m->in_hook_) return;
    const CodePosition position = code_position(context);
    if (m->watch_.shared().object.holds(position.pc)) m->stop_at(position);
  }
  if (m->idle_ticks_ >= patient_ticks + kPatientTicks) end_of_process(signal, info, context);
}

void Machine::tell_stop() {
  const void* pc = fault_pc_;
  std::vector<std::uint64_t> callers;
  for (const void* caller : callers_)
    if (caller) callers.push_back(watch_.place(caller));
  switch (stop_) {
    case Stop::none:
    case Stop::order:
      break;
    case Stop::fault:
      watch_.wild_access(fault_at_, pc, std::move(callers));
      break;
    case Stop::system_call: {
      RawFinding f = watch_.finding(kind::kSystemCall, {pc});
      f.callers = std::move(callers);
      f.detail = os::describe_refused_call(refused_, refused_argument_, {});
      watch_.findings().add(std::move(f));
      break;
    }
    case Stop::expired: {
      RawFinding f = watch_.finding(kind::kLivelock, {pc});
      f.callers = std::move(callers);
      f.detail = fmt::format(
          "the thread ran for {} s of CPU time without reaching its end or a place where it waits",
          options_.patience);
      watch_.findings().add(std::move(f));
      break;
    }
  }
}

}  // namespace ksearch::simt
