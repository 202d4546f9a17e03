// A library in a GPU segment: a matrix product by cuBLAS, in a periodic task beside a more urgent one. The library's
// handle and workspace are made at set-up, so that nothing is allocated on a job's path.
//
// The matrices hold small whole numbers: every sum of their products is a whole number below 2^24, which no order of
// additions rounds. The result has to be, to the last bit, that of the CPU.
#include "examples/cuda/example.h"
#include "runtime/runtime.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cublas_v2.h>
#include <iostream>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using namespace std::chrono_literals;
using cuda_example::DeviceArray;
using rtgpu::GpuStatus;
using rtgpu::Job;

constexpr int kSize = 512;
constexpr std::size_t kValues = std::size_t{kSize} * kSize;
constexpr std::size_t kWorkspace = std::size_t{32} << 20U;  // bytes: what cuBLAS recommends for recent devices

struct DestroyHandle {
  void operator()(cublasHandle_t handle) const { cublasDestroy(handle); }
};
using Handle = std::unique_ptr<std::remove_pointer_t<cublasHandle_t>, DestroyHandle>;

void expect(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(std::string(what) + ": " + cublasGetStatusString(status));
}

Handle make_handle() {
  cublasHandle_t handle = nullptr;
  expect(cublasCreate(&handle), "cuBLAS");
  return Handle(handle);
}

std::vector<float> numbers(std::uint64_t seed) {
  std::vector<float> values(kValues);
  for (float& value : values) {
    seed = seed * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
    value = static_cast<float>(static_cast<int>(seed >> 60U) - 8);  // -8 to 7
  }
  return values;
}

// c = a * b of square matrices in columns, as cuBLAS has them.
std::vector<float> product_of_cpu(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> c(kValues);
  for (std::size_t column = 0; column < kSize; ++column) {
    for (std::size_t inner = 0; inner < kSize; ++inner) {
      const float factor = b[column * kSize + inner];
      for (std::size_t row = 0; row < kSize; ++row) c[column * kSize + row] += a[inner * kSize + row] * factor;
    }
  }
  return c;
}

class Product {
 public:
  // Computes once, so that cuBLAS has chosen and loaded its kernels.
  Product() {
    cudaStream_t stream = nullptr;
    cuda_example::expect(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
    expect(launch(stream), "the first product");
    cuda_example::expect(cudaStreamSynchronize(stream), "the first product");
    cuda_example::expect(cudaStreamDestroy(stream), "a stream");
    cuda_example::expect(cudaMemset(c_.data(), 0, kValues * sizeof(float)), "clearing device memory");
  }

  // Setting the stream takes the workspace away, so that comes second.
  cublasStatus_t launch(cudaStream_t stream) {
    constexpr float kOne = 1;
    constexpr float kZero = 0;
    cublasStatus_t status = cublasSetStream(handle_.get(), stream);
    if (status == CUBLAS_STATUS_SUCCESS) status = cublasSetWorkspace(handle_.get(), workspace_.data(), kWorkspace);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
    return cublasSgemm(handle_.get(), CUBLAS_OP_N, CUBLAS_OP_N, kSize, kSize, kSize, &kOne, a_.data(), kSize, b_.data(),
                       kSize, &kZero, c_.data(), kSize);
  }

  bool check() const {
    return cuda_example::all_equal("product", c_.values(), product_of_cpu(a_.values(), b_.values()));
  }

 private:
  Handle handle_ = make_handle();
  DeviceArray<std::byte> workspace_ = DeviceArray<std::byte>(kWorkspace);
  DeviceArray<float> a_ = DeviceArray<float>(numbers(1));
  DeviceArray<float> b_ = DeviceArray<float>(numbers(2));
  DeviceArray<float> c_ = DeviceArray<float>(kValues);
};

bool run(const cuda_example::Arguments& arguments) {
  Product product;
  std::int64_t failed = 0;
  rtgpu::Runtime runtime(cuda_example::options(arguments, "mpcp"));
  runtime.add_task({.name = "product", .period = 10ms, .priority = 10, .watchdog = 1s}, [&](Job& job) {
    cublasStatus_t launched = CUBLAS_STATUS_SUCCESS;
    const GpuStatus status = job.gpu("sgemm", [&](rtgpu::Stream stream) { launched = product.launch(stream.cuda()); });
    if (status != GpuStatus::ok || launched != CUBLAS_STATUS_SUCCESS) ++failed;
  });
  // Stands for a kernel: the GPU computes nothing for half a millisecond.
  runtime.add_task({.name = "urgent", .period = 5ms, .priority = 20, .cpu = 1, .watchdog = 1s},
                   [](Job& job) { job.gpu("half a millisecond", [](rtgpu::Stream stream) { stream.run(500us); }); });
  runtime.run_for(rtgpu::Duration::seconds(arguments.seconds));
  std::cout << runtime.report() << '\n';
  if (failed != 0) std::cout << "product: " << failed << " GPU segments failed\n";
  return product.check() && failed == 0;
}

}  // namespace

int main(int argc, char** argv) {
  return cuda_example::run_example({argv, static_cast<std::size_t>(argc)}, run);
}
