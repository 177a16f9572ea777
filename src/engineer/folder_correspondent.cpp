// Letters and answers as files of a folder.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "engineer/correspondent.h"

namespace ksearch::engineer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestFile = 16u << 20;

class FolderCorrespondent final : public Correspondent {
 public:
  FolderCorrespondent(fs::path folder, Patience patience)
      : folder_(std::move(folder)), patience_(std::move(patience)) {}

  std::string name() const override { return "dir:" + folder_.string(); }

  LetterReply ask(const Letter& letter) override {
    const std::string stem = letter_name(letter);
    const fs::path question = folder_ / fmt::format("{}-{}.md", stem, letter.kind);
    std::error_code error;
    if (!fs::exists(question, error)) {
      const std::string text = fmt::format(
          "{}\n<!-- ksearch waits for the answer in {}-answer.md (or .txt), beside this file. "
          "Write it under another name and rename it, or write it in one go. -->\n",
          letter.text, stem);
      if (auto written = os::write_file(question, text); !written)
        return {Lost{written.error().text()}};
    }
    return wait(letter, stem);
  }

 private:
  struct Look {
    std::string answer;  ///< empty: none that can be taken
    std::string fault;   ///< of the file that is there, or empty
    bool operator==(const Look&) const = default;
  };

  /// An answer counts once two looks in a row found the same bytes in it. What is wrong with its
  /// file is said as soon as two looks agree on it: whoever writes it can still mend it.
  LetterReply wait(const Letter& letter, const std::string& stem) {
    if (!letter.refusal.empty() && patience_.say) patience_.say(letter.refusal);
    std::optional<Look> before;
    std::string said;
    const std::string waiting =
        fmt::format("waiting for {} ({}{}{})", path_of(stem).string(), letter.kind,
                    letter.title.empty() ? "" : ": ", letter.title);
    while (true) {
      Look now = look(stem);
      const bool settled = before == now;
      if (settled && !now.answer.empty()) return {llm::RawReply{std::move(now.answer)}};
      if (patience_.give_up && patience_.give_up())
        return {Lost{fmt::format("stopped while waiting for {}", path_of(stem).string())}};
      const bool nothing = now.answer.empty() && now.fault.empty();
      if (const std::string& what = nothing ? waiting : now.fault;
          (nothing ? said.empty() : settled) && said != what && patience_.say) {
        patience_.say(what);
        said = what;
      }
      before = std::move(now);
      std::this_thread::sleep_for(patience_.look_every);
    }
  }

  fs::path path_of(const std::string& stem) const { return folder_ / (stem + "-answer.md"); }

  Look look(const std::string& stem) const {
    for (const char* ending : {"-answer.md", "-answer.txt"}) {
      const fs::path path = folder_ / (stem + ending);
      std::error_code error;
      if (!fs::exists(path, error)) continue;
      auto text = os::read_file(path, kLargestFile);
      if (!text) return {{}, text.error().text() + "; still waiting for an answer in it"};
      if (text->find_first_not_of(" \t\r\n") == std::string::npos)
        return {{}, path.string() + " is empty: still waiting for an answer in it"};
      return {std::move(*text), {}};
    }
    return {};
  }

  fs::path folder_;
  Patience patience_;
};

}  // namespace

std::unique_ptr<Correspondent> make_folder_correspondent(fs::path folder, Patience patience) {
  return std::make_unique<FolderCorrespondent>(std::move(folder), std::move(patience));
}

base::Result<void> check_new_folder(const fs::path& folder) {
  KS_RETURN_IF_ERROR(os::make_folder(folder));
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    const bool letter = name.size() > 5 && name.find_first_not_of("0123456789") >= 4 &&
                        (name.ends_with(".md") || name.ends_with("-answer.txt"));
    if (letter)
      return base::usage_error(folder.string(), fmt::format("holds {}, of another run", name),
                               "name an empty folder, or resume that run");
  }
  if (error) return base::usage_error(folder.string(), "cannot be read: " + error.message());
  return {};
}

}  // namespace ksearch::engineer
