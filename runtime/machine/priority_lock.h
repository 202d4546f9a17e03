// A lock whose holder inherits the priority of whoever waits for it.
#pragma once

#include <pthread.h>

namespace rtgpu {

// For critical sections that are short and bounded. Without contention neither call enters the kernel; with contention
// a waiter is held up by the rest of one critical section, whatever the priorities are. Meets BasicLockable.
class PriorityLock {
 public:
  PriorityLock() {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }
  PriorityLock(const PriorityLock&) = delete;
  PriorityLock& operator=(const PriorityLock&) = delete;
  ~PriorityLock() { pthread_mutex_destroy(&mutex_); }

  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_{};
};

}  // namespace rtgpu
