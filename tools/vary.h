// The values that a parameter takes one after another: --vary key=a:b:step.
#pragma once

#include "rtgpu/error.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rtgpu {

struct Variation {
  std::string key;
  std::vector<std::string> values;  // as Preset::set() takes them
};

// "key=a:b:step": a, a + step, ... up to b, which are numbers with at most 6 decimals or times with their unit, and
// exact. Or "key=v,v,...": these values, whatever they are. If it is neither, or gives too many values, nullopt and an
// error.
std::optional<Variation> parse_variation(std::string_view option, std::string_view text, Errors& errors);

}  // namespace rtgpu
