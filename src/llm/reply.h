// What a language model, an agent or a person answered, read strictly: a program, an edit script or
// a world model. What models really write is accepted and noted; what is ambiguous, cut off or
// incomplete is refused with a message that can be sent back. Code is never guessed nor mended.
//
//   RawReply ──> read_program | read_edits | read_world_model ──> value with notes, or BadReply
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "kernel/program.h"
#include "tree/edit.h"
#include "tree/world_model.h"

namespace ksearch::llm {

struct RawReply {
  /// Why the answer ended there, where the provider says it.
  enum class Stop { unknown, stop, max_tokens };
  std::string text;
  Stop stop = Stop::unknown;
};

/// The kind of fault: what has to be mended.
enum class Fault {
  empty_reply,
  truncated,       ///< the reply ends before its answer does
  ambiguous,       ///< two readings: nested fences, two plans, one file twice
  unsafe_path,     ///< absolute, or with ".."
  placeholder,     ///< "... rest unchanged ...": not the full file
  missing_name,    ///< a block of code that no path belongs to
  missing_files,   ///< no file at all
  missing_plan,    ///< files without a launch plan
  malformed_plan,  ///< a launch plan that is no JSON
  missing_json,    ///< no JSON object in the reply
  malformed_json,
  wrong_shape,   ///< JSON without what was asked for
  invalid_tree,  ///< a world model without a tree that can be read
};
std::string_view name(Fault fault);

struct BadReply {
  Fault fault = Fault::empty_reply;
  std::string message;  ///< to the model and the user: what is wrong, where, what to write instead
  std::vector<kernel::Source> files = {};  ///< that could be read all the same
};
template <class T>
using Read = std::expected<T, BadReply>;

struct ProgramReply {
  std::vector<kernel::Source> files;
  base::Json plan;  ///< as it stands: whether it is a legal plan is parse_plan's business
  /// Set: no program, because the author has no more to try.
  std::optional<std::string> exhausted;
  std::vector<std::string> notes;  ///< one for each thing that was forgiven or left aside
};
/// `expected`: file names the author was asked for. Where it is one name and the reply has one
/// block of code without a name, that is its name.
Read<ProgramReply> read_program(const RawReply& reply,
                                const std::vector<std::string>& expected = {});

struct EditsReply {
  tree::EditScript script;
  std::string why;  ///< of a script without operations
  std::vector<std::string> notes;
};
Read<EditsReply> read_edits(const RawReply& reply);

struct WorldModelReply {
  tree::LoadedWorldModel model;
  std::vector<std::string> notes;
};
Read<WorldModelReply> read_world_model(const RawReply& reply);

}  // namespace ksearch::llm
