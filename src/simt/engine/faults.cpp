// The part of Machine that catches what a kernel does besides computing: faults, system calls that
// the lock refuses, loops without end. Signal handlers leave the kernel only where it is in its own
// code; anywhere else they may hold a lock of the C library, so the process says what happened and
// ends.
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>

#include "os/refused_call.h"
#include "simt/engine/cpu_tick.h"
#include "simt/engine/machine.h"
#include "simt/engine/program_counter.h"

namespace ksearch::simt {
namespace {

constexpr int kTickSeconds = 1;
constexpr int kPatientTicks = 3;  // that long outside of the kernel's own code

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
  start_cpu_tick(SIGPROF, kTickSeconds);
}

void Machine::on_fault(int signal, siginfo_t* info, void* context) {
  Machine* m = t_machine;
  const void* pc = signal == SIGSYS ? refused_call(info, context).pc : program_counter(context);
  const bool own_code = m && m->running_ && m->watch_.shared().object.holds(pc);
  // Hooks run on the lane's stack, so it may end in one.
  const bool stack_end = m && m->running_ && (signal == SIGSEGV || signal == SIGBUS) &&
                         m->watch_.stacks().holds(info->si_addr);
  if (!own_code && !stack_end) end_of_process(signal, info, context);
  m->fault_pc_ = pc;
  if (signal == SIGSYS) {
    const RefusedCall call = refused_call(info, context);
    m->refused_ = call.number;
    m->refused_argument_ = call.first_argument;
    m->stop_ = Stop::system_call;
  } else {
    m->fault_at_ = info->si_addr;
    m->stop_ = Stop::fault;
  }
  siglongjmp(m->escape_, 1);
}

void Machine::on_tick(int signal, siginfo_t* info, void* context) {
  Machine* m = t_machine;
  if (!m) return;
  const bool idle = m->steps_ == m->steps_at_tick_;
  m->steps_at_tick_ = m->steps_;
  // Before there is a kernel that runs: initialisers of the object.
  m->idle_ticks_ = idle ? m->idle_ticks_ + 1 : 0;
  if (m->idle_ticks_ < m->options_.patience) return;
  if (m->running_ && m->in_hook_) {
    m->stop_ = Stop::expired;  // it looks when it is done
    return;
  }
  const void* pc = program_counter(context);
  if (m->running_ && m->watch_.shared().object.holds(pc)) {
    m->stop_ = Stop::expired;
    m->fault_pc_ = pc;
    siglongjmp(m->escape_, 1);
  }
  if (m->idle_ticks_ >= m->options_.patience + kPatientTicks) end_of_process(signal, info, context);
}

void Machine::tell_stop() {
  const void* pc = fault_pc_;
  switch (stop_) {
    case Stop::none:
    case Stop::order:
      break;
    case Stop::fault:
      watch_.wild_access(fault_at_, pc);
      break;
    case Stop::system_call: {
      RawFinding f = watch_.finding(kind::kSystemCall, {pc});
      f.detail = os::describe_refused_call(refused_, refused_argument_, {});
      watch_.findings().add(std::move(f));
      break;
    }
    case Stop::expired: {
      RawFinding f = watch_.finding(kind::kLivelock, {pc});
      f.detail = fmt::format(
          "the thread ran for {} s of CPU time without reaching its end or a place where it waits",
          options_.patience);
      watch_.findings().add(std::move(f));
      break;
    }
  }
}

}  // namespace ksearch::simt
