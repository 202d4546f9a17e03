// A library that looks like the CUDA driver of a time before the entry points could be asked for.

extern "C" int cuDriverGetVersion(int* version) {
  *version = 11040;
  return 0;
}
