// What became of a kernel's text, beside the text in the build cache: its library and, where it is
// traced, what was found out about it. Reading the text anew takes longer than all else of a cached
// check.
#pragma once

#include <filesystem>
#include <optional>

#include "simt/object.h"

namespace ksearch::simt {

class ObjectCache {
 public:
  /// `text`: the kernel as LLVM's text.
  explicit ObjectCache(const toolchain::Built& text);

  /// Nothing where it is not known, not whole, or its library is gone. Of a kernel that is watched
  /// the program is empty.
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
