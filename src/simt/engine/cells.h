// Who used each piece of memory last: a cell a word, in pages that come as memory is touched. A
// page starts with words of four bytes and is cut finer where an access asks for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "simt/engine/memory.h"

namespace ksearch::simt {

/// The last write of a word and two reads after it, by threads that nothing orders if there are
/// two.
struct Cell {
  Stamp writer = 0, reader = 0, other_reader = 0;
  Site writer_site = 0, reader_site = 0, other_reader_site = 0;
  std::uint16_t raced = 0;  ///< a race on it was seen
};

/// Memory for cells, up to a limit. Thread-safe.
class CellPool {
 public:
  explicit CellPool(std::size_t most_bytes);
  /// Zeroed cells for a page of words of 1 << shift bytes, or null at the limit.
  Cell* take(int shift);
  void give_back(Cell* cells, int shift);

 private:
  std::mutex mutex_;
  Pages pages_;
  std::size_t used_ = 0;
  std::vector<Cell*> free_[3];
};

/// The cells of a stretch of memory. One thread at a time.
class Cells {
 public:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kCoarsest = 2;

  Cells() = default;
  /// With `base`, what is there is as in `base` until it is used here. `base` must not change
  /// meanwhile.
  Cells(std::size_t bytes, CellPool& pool, const Cells* base = nullptr);
  Cells(Cells&&) = default;
  Cells& operator=(Cells&&) = default;
  ~Cells();

  struct Run {
    Cell* first = nullptr;  ///< null: not watched, the pool is empty
    int shift = 0;          ///< of the bytes a cell stands for
  };
  /// The cells of exactly these bytes, which lie in one page.
  [[gnu::always_inline]] Run cover(std::size_t offset, std::size_t bytes) {
    Page& page = directory()[offset / kPage];
    const std::size_t uneven = (offset | bytes) & ((std::size_t{1} << page.shift) - 1);
    if (!page.cells || uneven != 0) [[unlikely]]
      if (!open(page, offset, bytes)) return {};
    return {page.cells + (offset % kPage >> page.shift), page.shift};
  }
  /// The same where they are there already; else null.
  [[gnu::always_inline]] Run made(std::size_t offset, std::size_t bytes) const {
    const Page& page = directory()[offset / kPage];
    const std::size_t in_page = offset % kPage;
    const std::size_t uneven = (offset | bytes) & ((std::size_t{1} << page.shift) - 1);
    if (!page.cells || uneven != 0 || in_page + bytes > kPage) return {};
    return {page.cells + (in_page >> page.shift), page.shift};
  }
  /// The cell of a byte, or null where none was made.
  Cell* find(std::size_t offset) const;
  /// f(first, bytes, cell) for each cell there is in the range, clipped to it.
  template <class F>
  void each(std::size_t offset, std::size_t bytes, F&& f) const;
  /// As if nobody had used the range.
  void clear(std::size_t offset, std::size_t bytes);
  /// Bytes in [offset, offset + bytes) of pages that were used but have no cells.
  std::size_t unwatched(std::size_t offset, std::size_t bytes) const;
  bool any_unwatched() const { return any_unwatched_; }

  /// Takes over what `others`, all based on this, hold. False where `clash(base, a, b)` holds for
  /// cells of two of them; then nothing is whole.
  template <class Clash>
  bool merge(std::vector<Cells*> others, Clash&& clash);

 private:
  struct Page {
    Cell* cells;  // zero pages are the start: no constructor
    std::uint8_t shift;
    bool unwatched;
  };
  Page* directory() const { return reinterpret_cast<Page*>(directory_.data()); }
  std::size_t pages() const { return directory_.size() / sizeof(Page); }
  bool open(Page& page, std::size_t offset, std::size_t bytes);
  bool refine(Page& page, int shift);

  Pages directory_;
  CellPool* pool_ = nullptr;
  const Cells* base_ = nullptr;
  std::vector<std::uint32_t> opened_;  ///< pages with cells, in the order they came
  bool any_unwatched_ = false;
};

template <class F>
void Cells::each(std::size_t offset, std::size_t bytes, F&& f) const {
  const std::size_t end = offset + bytes;
  for (std::size_t i = offset / kPage; i * kPage < end; ++i) {
    const Page& page = directory()[i];
    if (!page.cells) continue;
    const std::size_t word = std::size_t{1} << page.shift;
    for (std::size_t k = 0; k < kPage >> page.shift; ++k) {
      const std::size_t at = i * kPage + k * word;
      const std::size_t from = at < offset ? offset : at, to = at + word < end ? at + word : end;
      if (from < to) f(from, to - from, page.cells[k]);
    }
  }
}

template <class Clash>
bool Cells::merge(std::vector<Cells*> others, Clash&& clash) {
  for (Cells* other : others)
    for (const std::uint32_t i : other->opened_) {
      Page& from = other->directory()[i];
      Page& to = directory()[i];
      if (!from.cells) continue;
      if (!to.cells) {
        to = from;
        from = {};
        opened_.push_back(i);
        continue;
      }
      const int shift = from.shift < to.shift ? from.shift : to.shift;
      if (!refine(to, shift) || !other->refine(from, shift)) return false;
      for (std::size_t k = 0; k < kPage >> shift; ++k)
        if (!clash(to.cells[k], from.cells[k])) return false;
      pool_->give_back(from.cells, from.shift);
      from = {};
    }
  for (Cells* other : others) other->opened_.clear();
  return true;
}

}  // namespace ksearch::simt
