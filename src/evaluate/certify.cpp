#include "evaluate/certify.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/hash.h"

namespace ksearch::evaluate {
namespace {

/// Hash of the first contents of every held-out workload: same seed, same inputs, same hash.
std::string inputs_hash(const Certification& c) {
  std::string all;
  for (const kernel::Workload& w : c.session.heldout)
    for (const kernel::TensorShape& t : c.truth->maker(w).tensors()) {
      if (t.access == kernel::Access::out) continue;
      std::vector<std::byte> bytes(t.bytes());
      c.truth->maker(w).fill({0, 0}, t.name, bytes);
      all += base::sha256({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    }
  return base::sha256(all);
}

base::Json basis(const Certification& c) {
  const SessionState& s = c.session;
  base::Json json = s.options.basis;
  json["task"] = s.task->definition.name;
  json["program"] = c.program.program.hash();
  json["select"] = kernel::to_json(c.select);
  base::Json sources = base::Json::object();
  for (const kernel::Source& source : c.program.program.sources)
    sources[source.path] = base::sha256(source.text);
  json["sources"] = std::move(sources);
  json["executable"] = c.program.executable.id;
  json["reference"] = {
      {"kind", std::string(c.truth->source())},
      {"hash",
       base::sha256(s.task->reference_cpp.empty() ? s.task->reference_py : s.task->reference_cpp)}};
  json["seeds"] = {{"session", s.options.seed}, {"certificate", c.seed}};
  json["inputs"] = inputs_hash(c);
  json["device"] = kernel::to_json(s.device);
  base::Json experts = base::Json::object();
  for (const ExpertRunner& e : s.experts)
    if (e.worker) experts[e.expert->name] = e.worker->about();
  json["experts"] = std::move(experts);
  return json;
}

}  // namespace

base::Error gone(const kernel::Lost& l) {
  return {base::ErrorKind::environment, "certificate", l.reason, {}};
}

base::Error failed_step(const Failure& f) {
  return {base::ErrorKind::environment, "certificate", text(f), {}};
}

base::Result<std::string> words(const Failure& failure) {
  if (const auto* l = std::get_if<kernel::Lost>(&failure)) return std::unexpected(gone(*l));
  return text(failure);
}

base::Result<Certificate> certify(SessionState& s, const kernel::Program& program,
                                  const kernel::Select& select, const Progress& progress) {
  Certification c{.session = s, .progress = progress};
  c.select = select;
  c.seed = base::Random(s.options.seed).fork("certificate").fork(program.hash()).next();
  c.random = base::Random(c.seed).fork("order");
  std::vector<kernel::Workload> all = s.tiny;
  all.insert(all.end(), s.heldout.begin(), s.heldout.end());
  all.insert(all.end(), s.feedback.begin(), s.feedback.end());
  std::string at;
  auto bound = bind_selected(program, select, s.task->definition, all, s.target->device(), at);
  Tried<void> built = {};
  if (bound) built = build(*bound, *s.target);
  const Failure* failure = !bound ? &bound.error() : !built ? &built.error() : nullptr;
  if (failure) {
    if (const auto* l = std::get_if<kernel::Lost>(failure))
      return base::environment_error("certificate", l->reason);
    c.add("held_out", false, fmt::format("{}{}", at.empty() ? "" : at + ": ", text(*failure)));
    return std::move(c.certificate);
  }
  c.program = std::move(*bound);
  progress("certify: fresh seeds");
  KS_TRY(c.truth,
         Truth::open(*s.task, *s.options.reference_target, s.options.start_script, c.seed));
  KS_TRY(const bool right, certify_right(c));
  if (right) KS_RETURN_IF_ERROR(certify_fast(c));
  c.certificate.basis = basis(c);
  c.certificate.passed =
      right && std::ranges::all_of(c.certificate.checks, &CertificateCheck::passed);
  return std::move(c.certificate);
}

}  // namespace ksearch::evaluate
