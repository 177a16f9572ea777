// A session with all that it borrows: what `cli` and end-to-end tests hold, whatever the target.
#pragma once

#include <memory>
#include <string>

#include "evaluate/session.h"
#include "task/task.h"

namespace ksearch::evaluate {

class OpenedSession : public Evaluator {
 public:
  kernel::EvaluateReply evaluate(const EvaluateRequest& request,
                                 const Progress& progress) override {
    return session_->evaluate(request, progress);
  }
  base::Result<Certificate> certify(const kernel::Program& program, const kernel::Select& select,
                                    const Progress& progress) {
    return session_->certify(program, select, progress);
  }
  const Session& session() const { return *session_; }
  const task::Task& task() const { return task_; }
  const kernel::HardwareProfile& device() const { return session_->device(); }
  /// What programs are written in here; naive program and catalog are of it.
  kernel::Dialect dialect() const { return dialect_; }
  /// Times on a GPU are this machine's own, not modelled.
  bool measures_gpu() const { return measures_gpu_; }
  /// "namespaces (bubblewrap)", ...
  const std::string& sandbox() const { return sandbox_; }
  const std::string& compiler() const { return compiler_; }

 protected:
  OpenedSession() = default;
  task::Task task_;
  kernel::Dialect dialect_ = kernel::Dialect::cpp;
  bool measures_gpu_ = false;
  std::string sandbox_, compiler_;
  std::unique_ptr<Session> session_;
};

}  // namespace ksearch::evaluate
