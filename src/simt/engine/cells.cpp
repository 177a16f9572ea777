#include "simt/engine/cells.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace ksearch::simt {
namespace {

std::size_t cells_in_page(int shift) { return Cells::kPage >> shift; }

}  // namespace

CellPool::CellPool(std::size_t most_bytes) : pages_(most_bytes) {}

Cell* CellPool::take(int shift) {
  const std::size_t bytes = cells_in_page(shift) * sizeof(Cell);
  const std::lock_guard lock(mutex_);
  auto& free = free_[shift];
  if (!free.empty()) {
    Cell* cells = free.back();
    free.pop_back();
    std::memset(static_cast<void*>(cells), 0, bytes);
    return cells;
  }
  if (used_ + bytes > pages_.size()) return nullptr;
  auto* cells = reinterpret_cast<Cell*>(pages_.data() + used_);
  used_ += bytes;
  return cells;
}

void CellPool::give_back(Cell* cells, int shift) {
  const std::lock_guard lock(mutex_);
  free_[shift].push_back(cells);
}

Cells::Cells(std::size_t bytes, CellPool& pool, const Cells* base)
    : directory_((bytes / kPage + 2) * sizeof(Page)), pool_(&pool), base_(base) {}

Cells::~Cells() {
  for (const std::uint32_t i : opened_)
    if (Page& page = directory()[i]; page.cells) pool_->give_back(page.cells, page.shift);
}

bool Cells::open(Page& page, std::size_t offset, std::size_t bytes) {
  if (page.unwatched) return false;
  if (!page.cells && base_) {
    const Page& before = base_->directory()[offset / kPage];
    page.unwatched = before.unwatched;
    if (before.unwatched) return false;
    if (before.cells) {
      page = {pool_->take(before.shift), before.shift, false};
      if (page.cells) {
        std::copy_n(before.cells, cells_in_page(before.shift), page.cells);
        opened_.push_back(static_cast<std::uint32_t>(offset / kPage));
      }
    }
  }
  const int shift = std::min<int>(kCoarsest, std::countr_zero(offset | bytes));
  if (!page.cells) {
    page.shift = static_cast<std::uint8_t>(shift);
    page.cells = pool_->take(shift);
    if (page.cells) opened_.push_back(static_cast<std::uint32_t>(offset / kPage));
  }
  if (page.cells && (page.shift <= shift || refine(page, shift))) return true;
  if (page.cells) pool_->give_back(page.cells, page.shift);
  page = {nullptr, 0, true};
  any_unwatched_ = true;
  return false;
}

bool Cells::refine(Page& page, int shift) {
  if (page.shift <= shift) return true;
  Cell* finer = pool_->take(shift);
  if (!finer) return false;
  for (std::size_t i = 0; i < cells_in_page(shift); ++i)
    finer[i] = page.cells[i >> (page.shift - shift)];
  pool_->give_back(page.cells, page.shift);
  page.cells = finer;
  page.shift = static_cast<std::uint8_t>(shift);
  return true;
}

Cell* Cells::find(std::size_t offset) const {
  const Page& page = directory()[offset / kPage];
  if (page.cells) return page.cells + (offset % kPage >> page.shift);
  return base_ ? base_->find(offset) : nullptr;
}

void Cells::clear(std::size_t offset, std::size_t bytes) {
  each(offset, bytes, [](std::size_t, std::size_t, Cell& cell) { cell = Cell{}; });
}

std::size_t Cells::unwatched(std::size_t offset, std::size_t bytes) const {
  std::size_t sum = 0;
  const std::size_t end = offset + bytes;
  for (std::size_t i = offset / kPage; i * kPage < end; ++i)
    if (directory()[i].unwatched)
      sum += std::min(end, (i + 1) * kPage) - std::max(offset, i * kPage);
  return sum;
}

}  // namespace ksearch::simt
