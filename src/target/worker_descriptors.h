// What a worker finds open: the contract between a target's parent and its worker.
#pragma once

namespace ksearch::target {

inline constexpr int kControlDescriptor = 3;  ///< stream socket: JSON lines both ways
inline constexpr int kMemoryDescriptor = 4;   ///< shared memory of the tensors

}  // namespace ksearch::target
