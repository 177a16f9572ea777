#include "engineer/past_letter.h"

#include <fmt/format.h>

namespace ksearch::engineer {

using Kind = llm::Failure::Kind;
using Stop = llm::Said::Stop;

void add_call(Usage& usage, const LoggedCall& call) {
  ++usage.calls;
  if (!call.ended) {  // whether it was paid for nobody knows
    usage.tokens_in += call.tokens_asked;
    usage.estimated = true;
    return;
  }
  usage.tokens_in += call.ended->tokens.in;
  usage.tokens_out += call.ended->tokens.out;
  usage.tokens_cached += call.ended->tokens.cached;
  usage.cost_usd += call.ended->cost_usd;
  usage.estimated = usage.estimated || call.ended->estimated;
}

namespace {
/// A part that counts: an answer, or what had come of one when the user stopped the run.
bool is_part(const LoggedCall& call) {
  if (!call.ended) return false;
  if (!call.ended->failure) return true;  // a program's may be empty
  return call.ended->failure->kind == Kind::cancelled && !call.ended->text.empty();
}
}  // namespace

Past past_of(const LoggedLetter& logged, const Letter& letter, const std::string& prompt) {
  Past past;
  for (const GivenUp& end : logged.given_up) {
    if (end.asked != letter.asked || end.prompt != prompt) continue;
    if (end.failure.kind != Kind::cancelled)
      past.failure = end.failure;
    else if (end.calls == logged.calls.size())
      past.stopped = end.failure;
  }
  for (const LoggedCall& call : logged.calls) {
    if (call.asked > letter.asked) break;
    ++past.calls;
    if (call.asked == letter.asked) add_call(past.usage, call);
    if (call.prompt != prompt || past.answer || !is_part(call)) continue;
    if (call.part != static_cast<int>(past.parts.size())) continue;  // of a time before
    past.parts.push_back(call.ended->text);
    if (!call.ended->failure && call.ended->stop != Stop::max_tokens)
      past.answer = llm::Said{llm::stitched(past.parts), call.ended->stop, call.ended->tokens};
  }
  return past;
}

decltype(LetterReply::what) letter_reply(const llm::Said& said) {
  if (said.stop == Stop::declined)
    return Refused{fmt::format("the model declined: {}", said.text.substr(0, 500))};
  llm::RawReply raw{said.text};
  if (said.stop == Stop::stop) raw.stop = llm::RawReply::Stop::stop;
  if (said.stop == Stop::max_tokens) raw.stop = llm::RawReply::Stop::max_tokens;
  return raw;
}

decltype(LetterReply::what) letter_reply(const llm::Failure& failure, const std::string& model) {
  const std::string why = model.empty() ? failure.message : model + ": " + failure.message;
  // The same question again is as long, and as empty.
  if (failure.kind == Kind::context_full || failure.kind == Kind::empty ||
      failure.kind == Kind::declined)
    return Refused{why};
  return Lost{why};
}

}  // namespace ksearch::engineer
