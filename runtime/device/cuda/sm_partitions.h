// Partitioning in space: SMs of a CUDA device that are set aside for some streams.
//
// By green contexts, where the driver has them: the hardware keeps a partition's streams on its SMs. The driver gives
// SMs away in whole units (8 on compute capability 9, for the sake of thread block clusters), so that a partition may
// have more than was asked for. All partitions come from one split, since only what comes from one may be put together,
// and since SMs of two splits may be the same. What no partition takes is the rest: one more green context, for the
// streams that are in no partition, which would otherwise run on everybody's SMs. The remainder of a split has no
// guarantee for large clusters.
//
// By persistent blocks, with older drivers: a partition is a number of SMs, and kernels keep to it by launching that
// many large blocks (PersistentBlocks in sliced_grid.h). Nothing forces a kernel that does not do so.
//
// Even with disjoint SMs kernels share the rest of the device: copy engines, caches, memory, queues for launches.
#pragma once

#include "rtgpu/result.h"
#include "runtime/device/cuda/driver.h"
#include "runtime/device/device.h"
#include "runtime/device/sliced_grid.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace rtgpu::cuda {

enum class PartitionKind : std::uint8_t {
  none,               // no partition was asked for
  green_contexts,     // the hardware keeps to them
  persistent_blocks,  // the kernels have to
};

struct SmSplitOptions {
  bool needs_rest = false;  // fails unless streams in no partition get an SM at least
  // With green contexts: smaller units (of 2 SMs on compute capability 9), whose SMs need not be neighbours, so that
  // kernels with large thread block clusters may not run on them.
  bool ignore_coscheduling = false;
};

// The partitions of a device and the streams on them, which end with it: the streams before the contexts, as the driver
// wants it. The device's primary context is current in whatever thread calls split(), create_stream(), close() or the
// destructor. Not synchronised. Set-up, not for the job path.
class SmPartitions {
 public:
  // A partition for each of `asked`, of at least so many SMs. Errors: limit, they do not fit, with sizes that would;
  // unsupported, the driver refuses, with its words; environment, a call of the driver fails for another reason.
  // Nothing is left behind then.
  static Result<SmPartitions> split(const Driver& driver, CUdevice device, std::span<const int> asked,
                                    const SmSplitOptions& options = {});

  SmPartitions(const SmPartitions&) = delete;
  SmPartitions& operator=(const SmPartitions&) = delete;
  SmPartitions(SmPartitions&& other) noexcept = default;
  SmPartitions& operator=(SmPartitions&& other) noexcept;
  ~SmPartitions();

  PartitionKind kind() const { return kind_; }
  // In the order of what was asked for; what was granted, as read back from the driver.
  std::vector<Partition> partitions() const;
  // SMs for streams in no partition; 0: there can be no such stream. All of the device's without partitions.
  int rest_sms() const { return rest_.sms; }

  // For kernels by persistent blocks, of whatever kind the partitions are; without a partition, those of the rest. The
  // shares are disjoint. With green contexts `first` says nothing about the numbers of the SMs. `partition` is one of
  // partitions(); count is 0 if there is no rest.
  SmShare share_of(std::optional<PartitionId> partition) const;

  // A stream that does not wait for the default stream. It ends with this: it is not the caller's to destroy. Errors:
  // value, no such partition; limit, there is no rest; environment, the driver refuses.
  Result<CUstream> create_stream(std::optional<PartitionId> partition, int priority);

  // Nothing is given back to the driver.
  void forget();
  // Destroys the streams and then the contexts; no work of theirs may be pending. Goes on after an error, and says what
  // went wrong. Nothing is left to do for the destructor then, which otherwise does the same and cannot say so.
  Errors close();

  // For reports, one line: "2 partitions by green contexts in units of 8 SMs: 8 (8 asked for), 16 (12 asked for); 108
  // left to the others".
  std::string summary() const;

 private:
  struct Part {
    CUgreenCtx context = nullptr;  // one of contexts_; none unless by green contexts
    int asked = 0;
    int sms = 0;
  };

  explicit SmPartitions(const Driver& driver) : driver_(driver) {}
  Errors divide_by_driver(CUdevice device, std::span<const int> asked, const SmSplitOptions& options);
  Errors divide_by_count(std::span<const int> asked, bool needs_rest);
  Errors add_part(CUdevice device, std::span<CUdevResource> groups, int asked);
  Errors add_rest(CUdevice device, CUdevResource remaining, bool is_needed);
  // Streams before contexts; tells of the name and the result of each call.
  template <class Tell>
  void destroy(const Tell& tell);
  Errors make_context(CUdevice device, std::span<CUdevResource> resources, Part& part);

  Driver driver_;
  PartitionKind kind_ = PartitionKind::none;
  int sms_ = 0;   // of the device
  int unit_ = 1;  // SMs
  std::vector<Part> parts_;
  Part rest_;
  std::vector<CUgreenCtx> contexts_;  // these and the streams are to be destroyed
  std::vector<CUstream> streams_;
};

}  // namespace rtgpu::cuda
