#include "target/failure.h"

#include <gtest/gtest.h>

#include "unit/target/cpu_fixture.h"

namespace ksearch::target {
namespace {
using base::Json;

std::string explained(const Json& message) { return text(explain_message(message, {})); }

TEST(Failure, NamesTheRefusedCall) {
#ifdef __x86_64__
  EXPECT_EQ(explained({{"refused", 41u}, {"first", 2u}}),
            "Rejected: by sandbox: it called socket (opens a network connection)");
  EXPECT_EQ(explained({{"refused", 257u}, {"first", 0u}, {"path", "/etc/passwd"}}),
            "Rejected: by sandbox: it called openat (opens a file): /etc/passwd");
  EXPECT_EQ(
      explained({{"refused", 1u}, {"first", 1u}}),
      "Rejected: by sandbox: it called write (prints: a kernel has no output but its tensors)");
#endif
}

TEST(Failure, AFaultBesideABufferIsOutOfBounds) {
  Arena set;
  const Buffer out = set.add("out", 64);
  set.close();
  const FaultContext context{&set, nullptr, 0};
  // In the second set.
  const Json message = {{"signal", 11u},
                        {"address", 1u},
                        {"region", 0u},
                        {"offset", set.bytes() + out.offset + 64},
                        {"write", true}};
  EXPECT_EQ(text(explain_message(message, context)),
            "Unsafe: writes past the end of out (64 bytes long), 0 bytes off");
}

TEST(Failure, HostileMessagesSpeakOnlyAgainstTheirProgram) {
  for (const Json& message : {Json(), Json(3), Json::array(), Json::object(),
                              Json{{"failed", "lock"}}, Json{{"failed", 3}}, Json{{"signal", "x"}},
                              Json{{"refused", -5}}, Json{{"region", 7u}, {"signal", 11u}},
                              Json{{"signal", 11u}, {"region", "0"}, {"offset", -1}}}) {
    const kernel::Verdict verdict = explain_message(message, {});
    EXPECT_TRUE(std::holds_alternative<kernel::Rejected>(verdict) ||
                std::holds_alternative<kernel::Crashed>(verdict))
        << message.dump();
  }
}

TEST(Failure, StatusZeroIsNoSuccess) {
  EXPECT_EQ(text(explain_end({WorkerEnd::Why::left, {}}, 1s)),
            "Crashed: left with status 0 in the middle of a call");
  os::ExitStatus killed;
  killed.code = 128 + 9;  // a wrapper's way of telling
  EXPECT_EQ(text(explain_end({WorkerEnd::Why::left, killed}, 1s)),
            "Crashed: killed (signal 9), as the system does when memory runs out");
}

}  // namespace
}  // namespace ksearch::target
