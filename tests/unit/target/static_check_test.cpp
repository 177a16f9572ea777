#include "target/cpu/static_check.h"

#include <gtest/gtest.h>

#include "target/cpu/cpp_lexer.h"

namespace ksearch::target {
namespace {

std::string check(std::string source) {
  return check_sources({{"kernel.cpp", std::move(source)}, {"tile.h", ""}}).value_or("allowed");
}

TEST(StaticCheck, AllowsWhatKernelsNeed) {
  for (const char* source : {
           "#include <cmath>\n#include <vector>\n#  include /* x */ <immintrin.h> // y\n",
           "#include \"tile.h\"\n",
           "#pragma GCC optimize(\"fast-math\")\n#pragma GCC unroll 8\n#pragma once\n",
           "_Pragma(\"GCC ivdep\") int x;\n",
           "#define LOAD(p) _mm512_loadu_ps(p)\n#if defined(__AVX512F__)\n#else\n#endif\n",
           "const char* s = \"#include <unistd.h>\"; // #include <unistd.h>\n",
           "/* \n#include <unistd.h>\n asm */ int a;\n",
           "const char* s = R\"x(\n#include <unistd.h>\n)\" asm )x\";\n",
           "int n = 1'000'000; char c = '\\'';\n",
           "int exit = 3; template <class S> int z(S s, S* p) { return s.kill(3) + p->open(); }\n",
           "#line 7 \"reference.cpp\"\n",
       })
    EXPECT_EQ(check(source), "allowed") << source;
}

TEST(StaticCheck, RefusesWithFileLineAndReason) {
  EXPECT_EQ(
      check("#include <cmath>\n\n#include <unistd.h>\n"),
      "kernel.cpp:3: includes <unistd.h>, which is neither a source of the program nor a plain "
      "header: no files, threads, clocks or system calls");
}

TEST(StaticCheck, SeesThroughSpelling) {
  for (const char* source : {
           "#include \"/etc/passwd\"\n",
           "#include \"/proc/self/environ\"\n",
           "#include \"../tile.h\"\n",
           "#include \"sub/../tile.h\"\n",
           "#include <tile.h>\n",
           "%: include <unistd.h>\n",
           "%:include \"/etc/passwd\"\n",
           "#inc\\\nlude <unistd.h>\n",
           "#include <unis\\\ntd.h>\n",
           "#include \\\n<unistd.h>\n",
           "#include \\   \n <unistd.h>\n",
           "/* */ # /* */ include /* */ <unistd.h>\n",
           "#define F <unistd.h>\n#include F\n",
           "#define F \"/etc/passwd\"\n#include F\n",
           "#include_next <unistd.h>\n",
           "#import \"/etc/passwd\"\n",
           "#if __has_include(\"/etc/passwd\")\n#endif\n",
           "#ifdef __has_include\n#endif\n",
           "?\?=include <unistd.h>\n",
           "// ?\?/\n#include <unistd.h>\n",
           "asm(\".incbin \\\"/etc/passwd\\\"\");\n",
           "__asm__ volatile(\"syscall\");\n",
           "a\\\nsm(\"nop\");\n",
           "__attribute__((section(\".text,\\\"ax\\\"#\"))) int a;\n",
           "[[gnu::__section__(\"x\")]] int a;\n",
           "#define A asm\n",
           "#pragma GCC dependency \"/etc/passwd\"\n",
           "#pragma GCC system_header\n",
           "_Pragma(\"GCC dependency \\\"/etc/passwd\\\"\")\n",
           "#define P _Pragma(X)\n",
           "#line 1 \"/etc/passwd\"\n",
           "# 1 \"/etc/passwd\"\n",
           "import <vector>;\n",
           "const char* s = R\"(a)\\\n\"; \n#include <unistd.h>\nconst char* t = \")\";\n#include "
           "<unistd.h>\n",
           "int n = 1'0; char q = '\"';\n#include <unistd.h>\n",
           "const char* s = u8R\"y(\")y\";\n#include <unistd.h>\n",
           "extern \"C\" long syscall(long, ...);\n",
           "int a; // comment \\\nhidden\n#include <unistd.h>\n",
       })
    EXPECT_NE(check(source), "allowed") << source;
}

TEST(StaticCheck, EveryTruncationOfASourceIsHandled) {
  const std::string source =
      "#include <cmath>\n%:define A R\"x(\n)x\" '\\'' \"\\\"\" 1'0e+5 /* c */ // "
      "d\\\n\n_Pragma(\"GCC ivdep\")\n"
      "#pragma GCC unroll 4\n#line 3 \"a\"\nint import_ = 3;\n";
  for (std::size_t n = 0; n <= source.size(); ++n) check(source.substr(0, n));
}

TEST(CppLexer, CountsLinesThroughSplicesAndRawStrings) {
  CppLexer lexer("a\\\nb\nR\"(\n\n)\" c");
  CppToken token = lexer.next();
  EXPECT_EQ(token.spelling, "ab");
  EXPECT_EQ(token.line, 1);
  lexer.next();
  EXPECT_EQ(lexer.next().line, 3);
  EXPECT_EQ(lexer.next().line, 5);
}

}  // namespace
}  // namespace ksearch::target
