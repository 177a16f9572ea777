#include "llm/reply.h"

namespace ksearch::llm {

std::string_view name(Fault fault) {
  switch (fault) {
    case Fault::empty_reply:
      return "empty_reply";
    case Fault::truncated:
      return "truncated";
    case Fault::ambiguous:
      return "ambiguous";
    case Fault::unsafe_path:
      return "unsafe_path";
    case Fault::placeholder:
      return "placeholder";
    case Fault::missing_name:
      return "missing_name";
    case Fault::missing_files:
      return "missing_files";
    case Fault::missing_plan:
      return "missing_plan";
    case Fault::malformed_plan:
      return "malformed_plan";
    case Fault::missing_json:
      return "missing_json";
    case Fault::malformed_json:
      return "malformed_json";
    case Fault::wrong_shape:
      return "wrong_shape";
    case Fault::invalid_tree:
      return "invalid_tree";
  }
  return "unknown";
}

}  // namespace ksearch::llm
