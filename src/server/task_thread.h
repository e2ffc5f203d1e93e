// A thread that does one task after another.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace arion {

class TaskThread {
 public:
  TaskThread() : thread_([this] { run(); }) {}
  // Finishes the task at hand and drops the others.
  ~TaskThread();
  TaskThread(const TaskThread&) = delete;
  TaskThread& operator=(const TaskThread&) = delete;

  // Tasks must not throw. Thread-safe.
  void add(std::function<void()> task);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;  // guarded by mutex_
  bool is_stopping_ = false;                 // guarded by mutex_
  std::thread thread_;                       // last: starts when all else is there
};

}  // namespace arion
