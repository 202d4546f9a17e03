// How the program ends; part of its interface.
#pragma once

namespace rtgpu {

enum class ExitStatus : int {
  yes = 0,          // done, and the answer is yes
  no = 1,           // done, and the answer is no
  usage = 2,        // bad usage or bad input
  environment = 3,  // the environment does not allow it
  defect = 70,      // a defect of rtgpu itself
};

}  // namespace rtgpu
