// A Metal file of the conformance set: its kernels, and in comments how each is launched and what
// it must give. Lines that begin with "//# " are read:
//
//   launch NAME [name=LABEL] [groups=X,Y,Z] [size=X,Y,Z] [threads=X,Y,Z] [memory=BYTES,...]
//               [const=INDEX:VALUE,...]
//   buffer NAME=DTYPE:SHAPE[:KIND[:A[:B]]]    the next index; "buffer@3 ..." another
//   inout  NAME=...                           starts with contents and is written
//   scalar NAME=...                           of no dimension
//   bind   INDEX LABEL.NAME                   the buffer of a launch before
//   expect NAME[i] = FORMULA [within X]       X: relative, of max(1, |want|)
//   expect NAME = 1, 2, 3 [within X]
//   finds  KIND [BUFFER]                      a defect; its line ends with "//! KIND"
//   body   inputs=a,b outputs=y [template=T:float32,N:4] [atomic]   the file is such a body
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "conformance/simt/formula.h"
#include "simt/case.h"

namespace ksearch::tests {

struct Expectation {
  std::string buffer;           ///< in the case: "LABEL.NAME"
  std::optional<Formula> each;  ///< else `values`
  std::vector<long double> values;
  long double within = 0;
};

struct LaunchSheet {
  std::string label;
  std::map<std::string, std::string> names;  ///< NAME -> buffer in the case
  std::vector<Expectation> expectations;
  std::string finds, finds_buffer;
};

struct Sheet {
  simt::Case all;
  std::vector<LaunchSheet> launches;            ///< of the case, in order
  std::map<std::string, std::set<int>> marked;  ///< kind -> lines with "//! kind"
};

/// Throws std::runtime_error with the line where a directive is wrong.
Sheet read_sheet(const std::filesystem::path& path);

/// Elements of a buffer's bytes.
std::vector<long double> decode(kernel::DType type, std::string_view bytes);
/// `value` as the type holds it.
long double rounded(kernel::DType type, long double value);

}  // namespace ksearch::tests
