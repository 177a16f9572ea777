// What an executable of the CPU target is made of: a small file in its folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "target/cpu/entry_points.h"

namespace ksearch::target {

struct Manifest {
  struct Object {
    std::string file;  ///< the shared object, in the build cache
    ObjectPlan plan;
  };
  std::vector<Object> objects;
};

base::Json to_json(const Manifest& manifest);
base::Result<Manifest> parse_manifest(const base::Json& json, std::string_view where);
base::Result<void> write_manifest(const std::filesystem::path& folder, const Manifest& manifest);
base::Result<Manifest> read_manifest(const std::filesystem::path& folder);

}  // namespace ksearch::target
