// What a coder answers: files in fenced blocks named by their path, and one JSON block with the
// launch plan.
#include <fmt/format.h>

#include <algorithm>

#include "llm/json_objects.h"
#include "llm/placeholder.h"
#include "llm/reply.h"

namespace ksearch::llm {
namespace {

class ProgramReader {
 public:
  ProgramReader(const RawReply& reply, const std::vector<std::string>& expected)
      : reply_(reply), expected_(expected), split_(split_reply(reply.text)) {}

  Read<ProgramReply> read() {
    if (auto nothing = unusable(reply_, split_)) return std::unexpected(std::move(*nothing));
    out_.notes = split_.notes;
    if (auto faulty = check_blocks(); !faulty) return std::unexpected(std::move(faulty.error()));
    if (auto files = take_files(); !files) return std::unexpected(std::move(files.error()));
    if (auto plan = take_plan(); !plan) {
      plan.error().files = std::move(out_.files);
      return std::unexpected(std::move(plan.error()));
    }
    return std::move(out_);
  }

 private:
  using Done = std::expected<void, BadReply>;

  /// Faults of the whole reply, before anything is taken from it.
  Done check_blocks() {
    for (const Block& block : split_.blocks) {
      if (block.opening_inside > 0)
        return bad(Fault::ambiguous,
                   fmt::format("line {} opens a fenced block inside the one that began at line {}. "
                               "Close that block first; if the file itself holds fences, fence it "
                               "with four backticks.",
                               block.opening_inside, block.line));
      if (!block.closed)
        return bad(
            Fault::truncated,
            fmt::format(
                "the reply was truncated{}: the block that begins at line {} has no "
                "closing fence. Send every file in full, shorter if need be.",
                reply_.stop == RawReply::Stop::max_tokens ? " (the token limit was reached)" : "",
                block.line));
    }
    for (const Block& block : split_.blocks)
      if (!block.path.empty() && !is_safe_path(block.path))
        return bad(Fault::unsafe_path,
                   fmt::format("the path {} (line {}) is not allowed: a path is relative and has "
                               "no \"..\". Nothing of the reply was used.",
                               block.path, block.line));
    return {};
  }

  Done take_files() {
    std::vector<const Block*> unnamed;
    for (const Block& block : split_.blocks) {
      if (is_json_block(block)) continue;
      if (!block.other_path.empty())
        return bad(Fault::ambiguous,
                   fmt::format("the block at line {} is named {} and {}. Give each file one name, "
                               "in the line of its fence.",
                               block.line, block.path, block.other_path));
      if (block.path.empty()) {
        unnamed.push_back(&block);
      } else if (auto taken = take_file(block.path, block); !taken) {
        return taken;
      }
    }
    return unnamed.empty() ? Done() : take_unnamed(unnamed);
  }

  Done take_unnamed(const std::vector<const Block*>& unnamed) {
    if (!out_.files.empty()) {
      for (const Block* block : unnamed)
        out_.notes.push_back(
            fmt::format("the block without a name at line {} was left aside", block->line));
      return {};
    }
    if (unnamed.size() == 1 && expected_.size() == 1) {
      out_.notes.push_back(fmt::format("the block without a name at line {} was taken as {}",
                                       unnamed.front()->line, expected_.front()));
      return take_file(expected_.front(), *unnamed.front());
    }
    return bad(Fault::missing_name,
               fmt::format("the block at line {} has no name. Name each file in the line of its "
                           "fence: ```cpp kernel.cpp",
                           unnamed.front()->line));
  }

  Done take_file(const std::string& path, const Block& block) {
    if (const auto hole = find_placeholder(block.text))
      return bad(Fault::placeholder,
                 fmt::format("{} is not the full file: its line {} says \"{}\", a placeholder for "
                             "code that is omitted. Send the complete file.",
                             path, hole->line, hole->text));
    if (block.text.find_first_not_of(" \t\n") == std::string::npos)
      return bad(Fault::missing_files, fmt::format("{} is empty. Send the complete file.", path));
    const auto same = std::ranges::find(out_.files, path, &kernel::Source::path);
    if (same == out_.files.end()) {
      out_.files.push_back({path, block.text});
      if (block.named_inside)
        out_.notes.push_back(fmt::format("{} is named by its first line only", path));
      return {};
    }
    if (same->text != block.text)
      return bad(Fault::ambiguous,
                 fmt::format("{} stands twice, with different texts. Send each file once.", path));
    out_.notes.push_back(fmt::format("{} stands twice, the same", path));
    return {};
  }

  Done take_plan() {
    std::vector<JsonObject> objects;
    for (const Block& block : split_.blocks)
      if (is_json_block(block)) objects.push_back(read_object(block));
    const JsonObject* plan = nullptr;
    const JsonObject* broken = nullptr;
    for (const JsonObject& object : objects) {
      if (!object.value) {
        broken = &object;
        continue;
      }
      if (!object.value->is_object()) continue;
      if (object.value->contains("exhausted") && out_.files.empty()) return take_exhausted(object);
      if (!object.value->contains("launches")) continue;
      if (plan && *plan->value != *object.value)
        return bad(
            Fault::ambiguous,
            fmt::format("there are two different launch plans, at lines {} and {}. Send one.",
                        plan->line, object.line));
      plan = &object;
    }
    if (out_.files.empty()) return no_files();
    if (!plan) return no_plan(broken);
    for (const JsonObject& object : objects)
      if (&object != plan && (!object.value || *object.value != *plan->value))
        out_.notes.push_back(fmt::format("the {} at line {} was left aside",
                                         object.value ? "JSON" : "broken JSON", object.line));
    out_.plan = *plan->value;
    for (const std::string& note : plan->notes)
      out_.notes.push_back(fmt::format("in the plan: {}", note));
    return {};
  }

  Done take_exhausted(const JsonObject& object) {
    const base::Json& why = (*object.value)["exhausted"];
    out_.exhausted = why.is_string() ? why.get<std::string>() : why.dump();
    return {};
  }

  Done no_files() const {
    if (reply_.stop == RawReply::Stop::max_tokens)
      return bad(Fault::truncated,
                 "the reply was truncated: the token limit was reached before any file began. "
                 "Send the files at once.");
    return bad(Fault::missing_files,
               "there is no file in the reply. Send every file of the program in full, each in a "
               "fenced block with its path in the line of the fence, then the launch plan in a "
               "block fenced as json.");
  }

  Done no_plan(const JsonObject* broken) const {
    if (broken)
      return bad(Fault::malformed_plan,
                 fmt::format("the launch plan at line {} is no JSON: {}. Send the files and the "
                             "plan again, the plan as strict JSON.",
                             broken->line, broken->error));
    if (reply_.stop == RawReply::Stop::max_tokens)
      return bad(Fault::truncated,
                 "the reply was truncated: the token limit was reached before the launch plan. "
                 "Send files and plan again, shorter.");
    return bad(Fault::missing_plan,
               "the launch plan is missing: one block fenced as json, an object with \"launches\". "
               "Send the files and the plan.");
  }

  const RawReply& reply_;
  const std::vector<std::string>& expected_;
  SplitReply split_;
  ProgramReply out_;
};

}  // namespace

Read<ProgramReply> read_program(const RawReply& reply, const std::vector<std::string>& expected) {
  return ProgramReader(reply, expected).read();
}

}  // namespace ksearch::llm
