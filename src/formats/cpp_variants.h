// Which copies of a program's sources an export needs, and the macros of each.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "formats/cpp_function.h"
#include "formats/export_cpp.h"

namespace ksearch::formats {

class CppVariants {
 public:
  /// What workloads of the same element types need.
  struct OfTypes {
    std::map<std::string, kernel::DType> types;
    std::vector<CppVariant> variants;
    std::vector<kernel::TunableChoice> choices;
  };

  /// Both are borrowed. `device_macros` gets the macros of the target that the copies' values use.
  CppVariants(const CppExportRequest& request, std::set<std::string>& device_macros)
      : request_(request), device_macros_(device_macros) {}

  base::Result<void> add(const kernel::Workload& workload);
  const std::vector<OfTypes>& groups() const { return groups_; }
  /// Every copy once: types share one where their macros are the same.
  const std::vector<CppVariant>& all() const { return all_; }

 private:
  kernel::BoundDefines with_device_macros(kernel::BoundDefines defines);
  const kernel::Expr* only_device(const std::string& macro) const;
  std::string name_of(const kernel::BoundDefines& defines);

  const CppExportRequest& request_;
  std::set<std::string>& device_macros_;
  std::vector<OfTypes> groups_;
  std::vector<CppVariant> all_;
};

}  // namespace ksearch::formats
