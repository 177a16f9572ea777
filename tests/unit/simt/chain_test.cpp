// The longest chain of a block, by hand: 11.3 cycles for a float32 operation that waits for
// another.
#include "simt/ir/chain.h"

#include <gtest/gtest.h>

namespace ksearch::simt::ir {
namespace {

/// Steps for each line of a block, with the operation that stands after its "; ".
class Chain : public ::testing::Test {
 protected:
  BlockChain chain(const std::string& body) {
    text_ = "define void @k(ptr %0, float %1) {\n" + body + "  ret void\n}\n";
    module_ = std::make_unique<Module>(text_);
    std::vector<ChainStep> steps;
    std::int64_t sites = 0;
    for (const Instruction& instruction : module_->functions().at(0).blocks.at(0).instructions) {
      ChainStep& step = steps.emplace_back(&instruction);
      const std::string_view opcode = instruction.opcode;
      if (opcode == "fadd" || opcode == "fmul")
        step.kind =
            instruction.text.find(" half ") != std::string_view::npos ? "half.add" : "float.add";
      if (opcode == "load") step.site = sites++;
    }
    return chain_of(steps);
  }
  std::string text_;
  std::unique_ptr<Module> module_;
};

TEST_F(Chain, DependentOperationsWaitForEachOther) {
  const BlockChain c =
      chain("  %a = fadd float %1, %1\n  %b = fadd float %a, %1\n  %c = fadd float %b, %1\n");
  EXPECT_NEAR(c.cycles, 3 * 11.3, 1e-9);
  EXPECT_EQ(c.alone, 3);
}

TEST_F(Chain, IndependentOnesStandBesideEachOther) {
  const BlockChain c = chain(
      "  %a = fadd float %1, %1\n  %b = fmul float %1, %1\n  %c = fadd float %1, 2.0\n"
      "  %d = fmul float %1, 3.0\n");
  EXPECT_NEAR(c.cycles, 11.3, 1e-9);
  EXPECT_EQ(c.alone, 0);
}

TEST_F(Chain, HalfPrecisionWaitsLess) {
  const BlockChain c = chain("  %a = fadd half 0xH0000, 0xH0000\n  %b = fadd half %a, 0xH0000\n");
  EXPECT_NEAR(c.cycles, 2 * 3.94, 1e-9);
  EXPECT_EQ(c.alone_half, 2);
}

TEST_F(Chain, LoadsThatNeedEachOtherAreWaitedForInTurn) {
  const BlockChain together =
      chain("  %a = load float, ptr %0\n  %b = load float, ptr %0\n  %c = fadd float %a, %b\n");
  ASSERT_EQ(together.waits.size(), 1u);
  EXPECT_EQ(together.waits[0].size(), 2u);
  const BlockChain in_turn = chain("  %p = load ptr, ptr %0\n  %b = load float, ptr %p\n");
  EXPECT_EQ(in_turn.waits.size(), 2u);
}

TEST_F(Chain, AnEmptyBlockCostsNothing) {
  const BlockChain c = chain("");
  EXPECT_EQ(c.cycles, 0);
  EXPECT_TRUE(c.waits.empty());
}

}  // namespace
}  // namespace ksearch::simt::ir
