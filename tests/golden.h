// Golden files: texts that were looked at by a person and must not change unseen.
// KSEARCH_UPDATE_GOLDEN=1 in the environment writes them anew.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace ksearch::tests {

/// Compares with tests/golden/NAME.
inline void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path path =
      std::filesystem::path(KSEARCH_SOURCE_DIR) / "tests/golden" / name;
  if (std::getenv("KSEARCH_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::ifstream in(path);
  std::ostringstream wanted;
  wanted << in.rdbuf();
  EXPECT_EQ(text, wanted.str()) << path << " (KSEARCH_UPDATE_GOLDEN=1 writes it anew)";
}

}  // namespace ksearch::tests
