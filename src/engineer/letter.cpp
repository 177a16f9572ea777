// What is known of a letter without whoever answers it.
#include <fmt/format.h>

#include <algorithm>

#include "engineer/correspondent.h"
#include "llm/prompt.h"

namespace ksearch::engineer {

std::string letter_name(const Letter& letter) {
  std::string name = fmt::format("{:04}", letter.request);
  if (letter.again > 0) name += static_cast<char>('a' + std::min(letter.again, 25));
  return name;
}

Usage estimated_usage(const Letter& letter, const LetterReply& reply) {
  Usage usage{llm::estimated_tokens(letter.text), 0, 0, 1, true};
  const auto* raw = std::get_if<llm::RawReply>(&reply.what);
  if (raw && raw->text.size() <= kLargestAnswer)
    usage.tokens_out = llm::estimated_tokens(raw->text);
  return usage;
}

}  // namespace ksearch::engineer
