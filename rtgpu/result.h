// A value, or the errors that prevented it.
#pragma once

#include "rtgpu/error.h"

#include <utility>
#include <variant>

namespace rtgpu {

// Holds either a T or at least one Error. Reading the value of a failed result is a programming error
// (std::bad_variant_access).
template <class T>
class [[nodiscard]] Result {
 public:
  // NOLINTBEGIN(google-explicit-constructor): `return value;` and `return error;` are the point of the class.
  Result(T value) : state_(std::move(value)) {}
  Result(Errors errors) : state_(std::move(errors)) {}
  Result(Error error) : state_(Errors{std::move(error)}) {}
  // NOLINTEND(google-explicit-constructor)

  explicit operator bool() const { return std::holds_alternative<T>(state_); }

  T& value() & { return std::get<T>(state_); }
  const T& value() const& { return std::get<T>(state_); }
  T&& value() && { return std::get<T>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  Errors& errors() { return std::get<Errors>(state_); }
  const Errors& errors() const { return std::get<Errors>(state_); }

 private:
  std::variant<T, Errors> state_;
};

}  // namespace rtgpu
