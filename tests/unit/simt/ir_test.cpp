// Reading, classing and instrumenting clang's intermediate language, on text as clang 17 to 19
// print it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ctime>

#include "simt/ir/instrument.h"
#include "simt/ir/operation.h"
#include "simt/ir/registers.h"
#include "simt/ir/spills.h"
#include "simt/ir/type.h"

namespace ksearch::simt::ir {
namespace {

// A kernel that calls exp of half, adds and stores; with a loop. Our header is inlined into it.
constexpr std::string_view kText = R"(source_filename = "kernel.cpp"
%"struct.metal::vec" = type { float, float }
define hidden void @resolve(ptr %0, i32 %1, i32 %2) !dbg !9 {
  ret void
}
define hidden void @_Z1kPf(ptr nocapture noundef %0, i32 noundef %1) local_unnamed_addr #6 !dbg !3 {
  %3 = alloca [4 x %"struct.metal::vec"], align 4
  %4 = fpext half 0xH3C00 to float, !dbg !6
  %5 = tail call noundef float @llvm.exp.f32(float %4), !dbg !6
  br label %6, !dbg !4

6:                                                ; preds = %6, %2
  %7 = phi i32 [ 0, %2 ], [ %12, %6 ], !dbg !4
  %8 = phi float [ 0.000000e+00, %2 ], [ %11, %6 ]
  %9 = getelementptr inbounds float, ptr %0, i32 %7, !dbg !4
  %10 = load float, ptr %9, align 4, !dbg !4
  %11 = fadd float %8, %10, !dbg !5
  %12 = add nuw nsw i32 %7, 1, !dbg !4
  %13 = icmp ult i32 %12, %1, !dbg !4
  br i1 %13, label %6, label %14, !dbg !4, !llvm.loop !10

14:                                               ; preds = %6
  %15 = fadd float %11, %5
  store float %15, ptr %0, align 4, !dbg !5
  ret void
}
!1 = !DIFile(filename: "kernel.metal", directory: "")
!2 = !DIFile(filename: "./ks_math.h", directory: "/x")
!3 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 1)
!4 = !DILocation(line: 4, column: 3, scope: !3)
!5 = !DILocation(line: 5, column: 3, scope: !3)
!6 = !DILocation(line: 60, column: 1, scope: !7, inlinedAt: !8)
!7 = distinct !DISubprogram(name: "exp<_Float16>", scope: !2, file: !2, line: 59)
!8 = distinct !DILocation(line: 3, column: 9, scope: !3)
!9 = distinct !DISubprogram(name: "resolve", scope: !2, file: !2, line: 1)
!10 = distinct !{!10}
)";

TEST(Ir, FunctionsBlocksAndLines) {
  const Module module(kText);
  ASSERT_EQ(module.functions().size(), 2u);
  const Function& function = module.functions()[1];
  EXPECT_EQ(function.name, "@_Z1kPf");
  ASSERT_EQ(function.blocks.size(), 3u);
  EXPECT_EQ(function.blocks[1].label, "6");
  ASSERT_EQ(function.blocks[1].instructions.size(), 8u);
  EXPECT_EQ(function.blocks[1].instructions[4].opcode, "fadd");
  EXPECT_EQ(function.blocks[1].instructions[4].result, "%11");
  const Origin exp = origin(module, function.blocks[0].instructions[2]);
  EXPECT_EQ(exp.file, "kernel.metal");
  EXPECT_EQ(exp.line, 3);
  EXPECT_EQ(exp.inner, "ks_math.h");
  EXPECT_EQ(exp.entry, "exp<_Float16>");
}

TEST(Ir, MovedCodeHasTheLineOfItsFirstUse) {
  const Module module(kText);
  const Instruction& sum = module.functions()[1].blocks[2].instructions[0];
  EXPECT_EQ(origin(module, sum).line, 5);
}

std::string kind(std::string_view line,
                 const Origin& from = {"kernel.metal", 1, "kernel.metal", ""}) {
  const std::string text = "define void @f() {\n  " + std::string(line) + "\n}\n";
  const Module module(text);
  const auto done = operation(module.functions()[0].blocks[0].instructions[0], from);
  return done ? done->kind + (done->count == 1 ? "" : "*" + std::to_string(done->count)) : "";
}

TEST(Ir, KindsOfInstructions) {
  EXPECT_EQ(kind("%1 = fadd float %2, %3"), "float.add");
  EXPECT_EQ(kind("%1 = fsub nnan half %2, %3"), "half.add");
  EXPECT_EQ(kind("%1 = fmul bfloat %2, %3"), "bfloat.mul");
  EXPECT_EQ(kind("%1 = fdiv float 1.000000e+00, %3"), "float.div");
  EXPECT_EQ(kind("%1 = fneg float %2"), "");
  EXPECT_EQ(kind("%1 = fadd <2 x float> %2, %3"), "float.add*2");
  EXPECT_EQ(kind("%1 = add nuw nsw i32 %2, 1"), "int.add");
  EXPECT_EQ(kind("%1 = mul i64 %2, %3"), "long.mul");
  EXPECT_EQ(kind("%1 = or disjoint i16 %2, 1"), "short.bit");
  EXPECT_EQ(kind("%1 = icmp samesign ult i32 %2, %3"), "int.compare");
  EXPECT_EQ(kind("%1 = select i1 %2, float %3, float %4"), "float.select");
  EXPECT_EQ(kind("%1 = sitofp i32 %2 to float"), "convert.int_float");
  EXPECT_EQ(kind("%1 = fptrunc float %2 to bfloat"), "convert.float_bfloat");
  EXPECT_EQ(kind("%1 = zext nneg i32 %2 to i64"), "");
  EXPECT_EQ(kind("%1 = getelementptr inbounds float, ptr %2, i64 %3"), "");
  EXPECT_EQ(kind("br i1 %1, label %2, label %3"), "branch");
  EXPECT_EQ(kind("br label %3"), "");
}

TEST(Ir, KindsOfCalls) {
  EXPECT_EQ(kind("%1 = tail call float @llvm.fma.f32(float %2, float %3, float %4)"), "float.fma");
  EXPECT_EQ(kind("%1 = tail call noundef float @llvm.exp2.f32(float %2)"), "float.exp2");
  EXPECT_EQ(kind("%1 = call float @tanhf(float %2) #4"), "float.tanh");
  EXPECT_EQ(kind("%1 = call range(i32 0, 33) i32 @llvm.ctpop.i32(i32 %2)"), "int.bit");
  EXPECT_EQ(kind("%1 = call i32 @llvm.smax.i32(i32 %2, i32 0)"), "int.compare");
  EXPECT_EQ(kind("%1 = call float @llvm.fabs.f32(float %2)"), "");
  EXPECT_EQ(kind("call void @llvm.lifetime.start.p0(i64 4, ptr nonnull %7)"), "");
}

TEST(Ir, OurHeadersCountAsTheBuiltin) {
  const auto in = [](std::string_view file, std::string_view entry) {
    return Origin{"kernel.metal", 1, file, entry};
  };
  const Origin exp = in("ks_math.h", "exp<_Float16>"), rsqrt = in("ks_math.h", "rsqrt<float>");
  EXPECT_EQ(kind("%1 = fpext half %2 to float", exp), "");
  EXPECT_EQ(kind("%1 = call float @llvm.exp.f32(float %2)", exp), "half.exp");
  EXPECT_EQ(kind("%1 = call float @llvm.sqrt.f32(float %2)", rsqrt), "float.rsqrt");
  EXPECT_EQ(kind("%1 = fdiv float 1.000000e+00, %2", rsqrt), "");
  EXPECT_EQ(kind("%1 = add i32 %2, 1", in("ks_sync.h", "at<(lambda)>")), "");
  EXPECT_EQ(kind("call void %66(ptr %9, ptr @f)", in("ks_simd.h", "simd_shuffle_xor<float>")),
            "simd.shuffle");
  EXPECT_EQ(kind("call void %66(ptr %9, ptr @f)", in("ks_simd.h", "quad_sum<float>")),
            "quad.reduce");
  EXPECT_EQ(
      kind("call void %66(ptr %9, ptr @f)", in("ks_simd.h", "simd_prefix_inclusive_sum<int>")),
      "simd.scan");
  EXPECT_EQ(kind("call void %66(ptr %9, ptr @f)", in("ks_simd.h", "simd_any")), "simd.vote");
  EXPECT_EQ(kind("call void %6(i32 1, i32 2)", in("ks_sync.h", "threadgroup_barrier")),
            "barrier.group");
  EXPECT_EQ(kind("call void %6(i32 0, i32 2)", in("ks_sync.h", "simdgroup_barrier")),
            "barrier.simdgroup");
  EXPECT_EQ(
      kind("call void %66(ptr %9, ptr @f)",
           in("ks_simd.h", "simdgroup_multiply_accumulate<float, _Float16, _Float16, float>")),
      "matrix.half");
  EXPECT_EQ(kind("%1 = call i32 @_ZN2ks13atomic_updateIjE(ptr %2, i32 1)",
                 in("ks_atomic.h", "atomic_fetch_add_explicit<unsigned int, unsigned int>")),
            "atomic");
}

TEST(Ir, TypesHaveSizes) {
  EXPECT_EQ(parse_type("<4 x half>").bytes(), 8);
  EXPECT_EQ(parse_type("[3 x i32]").bytes(), 12);
  EXPECT_EQ(parse_type("{ float, i32 }").bytes(), 8);
  EXPECT_EQ(parse_type("ptr").bytes(), 8);
  EXPECT_EQ(parse_type("nnan").kind, Type::Kind::none);
}

TEST(Ir, InstrumentedTextCountsBlocksAndAccesses) {
  const auto result = instrument(kText);
  ASSERT_TRUE(result);
  ASSERT_EQ(result->blocks.size(), 3u);
  ASSERT_EQ(result->sites.size(), 2u);
  EXPECT_FALSE(result->sites[0].store);
  EXPECT_TRUE(result->sites[1].store);
  const std::string& text = result->text;
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(
      has("  %ks.counters = call ptr @ks_trace_counters(ptr @ks.idle), !dbg !11\n  %ks.at.0 = "));
  EXPECT_TRUE(has("%6 ]\n  %ks.at.1 = getelementptr i32, ptr %ks.counters, i64 1\n"));
  EXPECT_TRUE(has("call void @ks_trace_access(ptr %9, i32 0, i32 4), !dbg !4\n  %10 = load"));
  EXPECT_TRUE(has("call void @ks_trace_access(ptr %0, i32 1, i32 65540), !dbg !5\n  store"));
  EXPECT_TRUE(has("\ndeclare void @ks_trace_access(ptr, i32, i32)\n"));
  EXPECT_TRUE(has("!11 = !DILocation(line: 0, scope: !3)\n"));
}

TEST(Ir, WhatIsDoneForOtherLanesIsNotTheAuthors) {
  const auto result = instrument(R"(
define linkonce_odr void @resolve(ptr %0, float %1) !dbg !3 {
  %3 = fadd float %1, %1, !dbg !4
  store float %3, ptr %0, align 4, !dbg !4
  ret void
}
!1 = !DIFile(filename: "kernel.metal", directory: "")
!2 = !DIFile(filename: "ks_simd.h", directory: "")
!3 = distinct !DISubprogram(name: "resolve_reduce<Add, Pair>", scope: !2, file: !2, line: 9)
!4 = !DILocation(line: 2, scope: !5, inlinedAt: !6)
!5 = distinct !DISubprogram(name: "operator+", scope: !1, file: !1, line: 2)
!6 = distinct !DILocation(line: 12, scope: !3)
)");
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->blocks.empty());
  EXPECT_TRUE(result->sites.empty());
}

TEST(Ir, TextWithoutAFunctionIsAnError) { EXPECT_FALSE(instrument("; nothing\n")); }

TEST(Ir, RegistersAliveAtOnce) {
  const Module module(kText);
  const RegisterUse use = register_use(module, module.functions()[1]);
  EXPECT_EQ(use.private_bytes, 32);
  EXPECT_GE(use.half_registers, 6);
  EXPECT_LE(use.half_registers, 12);
}

// A GPU's registers are scalars: elements are parts of the vector, taken out or put elsewhere.
TEST(Ir, TakingAVectorApartCostsNothing) {
  const Module module(R"(define void @f(ptr %0, i32 %1) {
  %3 = getelementptr float, ptr %0, i32 %1
  %4 = load <4 x float>, ptr %3, align 16
  %5 = extractelement <4 x float> %4, i64 0
  %6 = shufflevector <4 x float> %4, <4 x float> poison, <2 x i32> <i32 1, i32 2>
  %7 = insertelement <2 x float> %6, float %5, i64 1
  %8 = bitcast <2 x float> %7 to i64
  store float %5, ptr %3, align 4
  store i64 %8, ptr %3, align 8
  ret void
}
)");
  // At %4: the two elements that are used, and %1, which is all of the address that differs; six
  // are reserved.
  EXPECT_EQ(register_use(module, module.functions()[0]).half_registers, 4 + 2 + 6);
}

TEST(Ir, AddressesThatDifferInAConstantAreOne) {
  const Module module(R"(define void @f(ptr %0, i32 %1, i32 %2) {
  %4 = getelementptr float, ptr %0, i32 %1
  %5 = getelementptr float, ptr %4, i32 %2
  %6 = getelementptr i8, ptr %4, i64 512
  %7 = getelementptr float, ptr %6, i32 %2
  %8 = getelementptr half, ptr %6, i32 %2
  store float 0.0, ptr %5, align 4
  store float 0.0, ptr %7, align 4
  store half 0.0, ptr %8, align 4
  store float 0.0, ptr %5, align 4
  ret void
}
)");
  // At %8, which counts in other steps: %5 and %8; before it %5 and what both are made of.
  EXPECT_EQ(register_use(module, module.functions()[0]).half_registers, 6 + 6);
}

// Four numbers are loaded and added, in pairs.
constexpr std::string_view kPairs = R"(define void @f(ptr %0, i32 %1) {
  %3 = getelementptr float, ptr %0, i32 %1
  %4 = getelementptr i8, ptr %3, i64 4
  %5 = getelementptr i8, ptr %3, i64 8
  %6 = getelementptr i8, ptr %3, i64 12
  %7 = load float, ptr %3, align 4
  %8 = load float, ptr %4, align 4
  %9 = load float, ptr %5, align 4
  %10 = load float, ptr %6, align 4
  %11 = fadd float %7, %8
  %12 = fadd float %9, %10
  %13 = fadd float %11, %12
  store float %13, ptr %3, align 4
  ret void
}
)";

TEST(Ir, WhatIsUsedLastIsSpilled) {
  const Module module(kPairs);
  const Function& function = module.functions()[0];
  const Liveness liveness(module, function);
  EXPECT_EQ(liveness.most_alive(), 10);
  const auto with = [&](int registers) {
    return spills(module, function, liveness, registers).front();
  };
  EXPECT_FALSE(with(10).any());
  // The offset is given up for %10, and loaded again for the last line: memory had it from before.
  EXPECT_EQ(with(8).loads, 2);
  EXPECT_EQ(with(8).stores, 0);
  // %7 or %8 has to go too, and comes back for %11.
  EXPECT_EQ(with(6).stores, 4);
  EXPECT_EQ(with(6).loads, 6);
}

// A loop adds up what it loads; four numbers from before it are used behind it alone.
TEST(Ir, WhatALoopDoesNotUseIsOutOfItsWay) {
  const Module module(R"(define void @f(ptr %0, i32 %1, i32 %2) {
  %4 = getelementptr float, ptr %0, i32 %1
  %5 = load <4 x float>, ptr %4, align 16
  br label %6

6:                                                ; preds = %6, %3
  %7 = phi float [ 0.000000e+00, %3 ], [ %11, %6 ]
  %8 = phi i32 [ %1, %3 ], [ %12, %6 ]
  %9 = getelementptr float, ptr %0, i32 %8
  %10 = load float, ptr %9, align 4
  %11 = fadd float %7, %10
  %12 = add i32 %8, 1
  %13 = icmp slt i32 %12, %2
  br i1 %13, label %6, label %14

14:                                               ; preds = %6
  store <4 x float> %5, ptr %4, align 16
  store float %11, ptr %4, align 4
  ret void
}
)");
  const Function& function = module.functions()[0];
  const Liveness liveness(module, function);
  const std::vector<BlockSpills> found = spills(module, function, liveness, 14);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_TRUE(found[0].any() || found[2].any());
  EXPECT_FALSE(found[1].any());
}

// Six numbers, all used in each round, beside an offset.
TEST(Ir, WhatALoopUsesIsLoadedInEachRound) {
  std::string text = "define void @f(ptr %0, i32 %1, i32 %2) {\n";
  text += "  %a = getelementptr float, ptr %0, i32 %1\n";
  for (int i = 0; i < 6; ++i)
    text += fmt::format(
        "  %p{0} = getelementptr i8, ptr %a, i64 {1}\n"
        "  %v{0} = load float, ptr %p{0}, align 4\n",
        i, 4 * i);
  text += "  br label %loop\nloop:\n  %i = phi i32 [ 0, %3 ], [ %n, %loop ]\n";
  text += "  %s0 = phi float [ 0.000000e+00, %3 ], [ %s6, %loop ]\n";
  for (int i = 0; i < 6; ++i) text += fmt::format("  %s{} = fadd float %s{}, %v{}\n", i + 1, i, i);
  text +=
      "  %n = add i32 %i, 1\n  %c = icmp slt i32 %n, 100\n"
      "  br i1 %c, label %loop, label %end\nend:\n"
      "  store float %s6, ptr %a, align 4\n  ret void\n}\n";
  const Module module(text);
  const Function& function = module.functions()[0];
  const Liveness liveness(module, function);
  const auto in_loop = [&](int registers) {
    return spills(module, function, liveness, registers).at(1);
  };
  EXPECT_FALSE(in_loop(14).any());  // the sum and six; the counter is the same in all threads
  EXPECT_EQ(in_loop(12).loads, 4);  // two take turns in one place, and are never stored again
  EXPECT_EQ(in_loop(12).stores, 0);
  EXPECT_EQ(in_loop(8).loads, 8);
}

/// A switch in a loop, behind which as many numbers are chosen: `numbers` that all cases change.
std::string switch_in_a_loop(int cases, int numbers) {
  std::string text = "define void @f(ptr %0, i32 %1) {\n  br label %loop\n\nloop:\n";
  for (int k = 0; k < numbers; ++k)
    text += fmt::format("  %a{0} = phi float [ 0.0, %2 ], [ %b{0}, %end ]\n", k);
  text += "  %at = getelementptr float, ptr %0, i32 %1\n  switch i32 %1, label %end [\n";
  // Each block is there for two values, and the end for two.
  for (int c = 0; c < 2 * cases; ++c) text += fmt::format("    i32 {}, label %case{}\n", c, c / 2);
  text += "    i32 -1, label %end\n  ]\n";
  for (int c = 0; c < cases; ++c)
    text += fmt::format("\ncase{0}:\n  %n{0} = load float, ptr %at, align 4\n  br label %end\n", c);
  text += "\nend:\n";
  for (int k = 0; k < numbers; ++k) {
    text += fmt::format("  %b{0} = phi float [ %a{0}, %loop ], [ %a{0}, %loop ]", k);
    for (int c = 0; c < cases; ++c)
      text += fmt::format(", [ %{}, %case{} ]",
                          c % numbers == k ? fmt::format("n{}", c) : fmt::format("a{}", k), c);
    text += "\n";
  }
  text += "  %go = icmp slt i32 %1, 9\n  br i1 %go, label %loop, label %out\n\nout:\n";
  for (int k = 0; k < numbers; ++k)
    text += fmt::format("  store float %b{}, ptr %at, align 4\n", k);
  return text + "  ret void\n}\n";
}

TEST(Ir, WhatComesByTwoCasesIsLoadedOnce) {
  const std::string text = switch_in_a_loop(4, 4);
  const Module module(text);
  const Function& function = module.functions()[0];
  const Liveness liveness(module, function);
  ASSERT_EQ(liveness.successors(1).size(), 5u);
  // To the end by itself: all numbers; the loop has two for each.
  EXPECT_EQ(liveness.taken(1, 0).size(), 8u);
}

TEST(Ir, ASwitchOfManyCasesIsLookedAtInNoTime) {
  const std::string text = switch_in_a_loop(300, 150);
  const Module module(text);
  const std::clock_t start = std::clock();
  const RegisterUse use = register_use(module, module.functions()[0]);
  // Of the processor's: 0.1 s; 20 s where each phi is read anew for each case.
  EXPECT_LT(std::clock() - start, 4 * CLOCKS_PER_SEC);
  EXPECT_GT(use.half_registers, 300);
}

TEST(Ir, MesasTableOfThreads) {
  EXPECT_EQ(thread_limit(104), 1024);
  EXPECT_EQ(thread_limit(105), 896);
  EXPECT_EQ(thread_limit(112), 896);
  EXPECT_EQ(thread_limit(200), 512);
  EXPECT_EQ(thread_limit(1000), 384);
}

}  // namespace
}  // namespace ksearch::simt::ir
