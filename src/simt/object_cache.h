// What was found out about a traced kernel's text, beside the text in the build cache: reading it
// anew takes longer than all else of a cached check.
#pragma once

#include <filesystem>
#include <optional>

#include "simt/object.h"

namespace ksearch::simt {

class TracedCache {
 public:
  /// `text`: the kernel as LLVM's text.
  explicit TracedCache(const toolchain::Built& text);

  /// Nothing where it is not known, not whole, or its library is gone.
  std::optional<TracedObject> find() const;
  /// A cache: that it cannot be written is no fault.
  void keep(const TracedObject& traced) const;

 private:
  std::filesystem::path file_;
};

/// All but the text; `traced_from_json` throws where the form is not right.
base::Json to_json(const TracedObject& traced);
TracedObject traced_from_json(const base::Json& json);

}  // namespace ksearch::simt
