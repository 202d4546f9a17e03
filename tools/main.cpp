#include "tools/program.h"

#include <ios>

int main(int argc, char** argv) {
  // Nothing here mixes stdio with streams, and standard input is read much faster without the link between them.
  std::ios::sync_with_stdio(false);
  return rtgpu::run_program(argc, argv);
}
