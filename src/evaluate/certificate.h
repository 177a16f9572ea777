// The proof that goes with a winner: which checks it was put to, what each found, and what it rests
// on. A value; how the checks are done is `certify`'s.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "kernel/outcome.h"

namespace ksearch::evaluate {

struct CertificateCheck {
  std::string name;  ///< "held_out", "a_a_ratio", "poison", "ghost_replay", ...
  bool passed = false;
  std::string finding;  ///< one sentence with its figures
  base::Json details;   ///< per workload, or null
};

struct Certificate {
  bool passed = false;  ///< every check passed
  std::vector<CertificateCheck> checks;
  std::vector<kernel::WorkloadTiming> heldout;  ///< cold caches, as feedback workloads are timed
  std::vector<kernel::WorkloadTiming> feedback;
  std::string baseline;         ///< of the ratios below
  kernel::Ratio heldout_ratio;  ///< geometric means
  kernel::Ratio feedback_ratio;
  base::Json basis;  ///< seeds, hashes of sources, inputs and harness, toolchain, device,
                     ///< libraries, sandbox

  /// Right in every respect, and nothing but the machine's noise kept it from being certified fast.
  bool only_noise() const;
  /// The check that decides, where it did not pass: what is the program's own comes before noise.
  const CertificateCheck* failed_check() const;
  /// "passed", or "failed: held_out: ..." for the first check that failed.
  std::string summary() const;
};

/// `ksearch.certificate/1`.
base::Json to_json(const Certificate& certificate);
base::Result<Certificate> parse_certificate(const base::Json& json, std::string_view where);

}  // namespace ksearch::evaluate
