#include "formats/local_names.h"

#include "base/check.h"

namespace ksearch::formats {

LocalNames::LocalNames(const kernel::Definition& definition, const kernel::Program& program,
                       std::string (*nearest)(std::string_view name)) {
  for (const auto& t : definition.inputs) add(tensors_, t.name, nearest);
  for (const auto& t : definition.outputs) add(tensors_, t.name, nearest);
  for (const auto& p : definition.params) add(values_, p.name, nearest);
  for (const auto& axis : definition.axes) add(values_, axis.name, nearest);
  for (const auto& [type, dtypes] : definition.types) add(values_, type, nearest);
  for (const auto& d : definition.derived) add(values_, d.name, nearest);
  for (const auto& s : program.scratch) add(tensors_, s.name, nearest);
  for (const auto& [tunable, choices] : program.tunables) add(values_, tunable, nearest);
  for (const auto& [name, value] : program.let) add(values_, name, nearest);
}

void LocalNames::add(Names& names, const std::string& name,
                     std::string (*nearest)(std::string_view)) {
  std::string free = nearest(name);
  while (!used_.insert(free).second) free = nearest(free + "_");
  names.emplace(name, free);
}

const std::string& LocalNames::tensor(std::string_view name) const {
  const auto found = tensors_.find(name);
  KS_CHECK(found != tensors_.end(), "a tensor of the task or of scratch");
  return found->second;
}

const std::string& LocalNames::value(std::string_view name) const {
  const auto found = values_.find(name);
  KS_CHECK(found != values_.end(), "a name that the program's reader knew");
  return found->second;
}

}  // namespace ksearch::formats
