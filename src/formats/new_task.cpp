#include "formats/new_task.h"

#include <fmt/format.h>

#include <system_error>

#include "formats/new_task_text.h"
#include "kernel/names.h"
#include "os/files.h"

namespace ksearch::formats {
namespace {

std::string replaced(std::string text, std::string_view mark, std::string_view by) {
  for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + by.size()))
    text.replace(at, mark.size(), by);
  return text;
}

}  // namespace

base::Result<std::vector<std::string>> new_task(std::string_view name,
                                                const std::filesystem::path& folder) {
  if (!kernel::is_name(name))
    return base::usage_error(fmt::format("task name \"{}\"", name),
                             "letters, digits and _ make a name, and it begins with no digit");
  if (kernel::is_reserved_word(name))
    return base::usage_error(fmt::format("task name \"{}\"", name),
                             "is a word of C++, and the exported function is called like the task",
                             "take another name");
  std::error_code error;
  if (std::filesystem::exists(folder, error) && !std::filesystem::is_empty(folder, error))
    return base::usage_error(folder.string(), "is there already",
                             "take another name, or another folder with --dir");
  std::vector<std::string> written;
  for (const auto& [path, text] : kNewTask) {
    const std::string file = replaced(path, "@NAME@", name);
    KS_RETURN_IF_ERROR(os::write_file(
        folder / file, replaced(replaced(text, "@NAME@", name), "@PATH@", folder.string())));
    written.push_back(file);
  }
  return written;
}

}  // namespace ksearch::formats
