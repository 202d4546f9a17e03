// The generators of random tasksets by name, with parameters that are set by name too.
#pragma once

#include "rtgpu/error.h"
#include "rtgpu/result.h"
#include "taskset/generators/gcaps_table3.h"
#include "taskset/generators/randfixedsum.h"
#include "taskset/generators/uunifast.h"
#include "taskset/taskset.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rtgpu {

// A parameter as it is shown: "utilisation_per_cpu", "0.4:0.6", "of each core, ...".
struct ParameterText {
  std::string_view key;
  std::string value;
  std::string_view meaning;
};

// A generator and its parameters. A value; use from several threads is safe while none of them sets.
class Preset {
 public:
  // "gcaps-table3", "uunifast", "uunifast-discard", "randfixedsum".
  static std::span<const std::string_view> names();
  // The generator of that name with its defaults.
  static std::optional<Preset> named(std::string_view name);

  // All parameters with their present values.
  std::vector<ParameterText> parameters() const;

  // Sets one parameter: a value, or of a range "low:high" or one value for both ends. Times have their unit. What is
  // wrong otherwise: an unknown key, with a suggestion and all keys; a value that is none or out of its range.
  std::optional<Error> set(std::string_view key, std::string_view value);

  // What contradicts each other in the parameters.
  Errors check() const;

  // The taskset `index` of the run with that seed; its origin names both and the parameters that were set. The same
  // arguments give the same taskset on every machine. Errors (unsupported): see uunifast.h.
  Result<Taskset> generate(std::uint64_t run_seed, std::int64_t index) const;

 private:
  explicit Preset(const std::variant<GcapsTable3, UUniFast, RandFixedSum>& generator) : generator_(generator) {}

  std::variant<GcapsTable3, UUniFast, RandFixedSum> generator_;
  std::vector<std::string> changed_;  // "key=value", as set
};

}  // namespace rtgpu
