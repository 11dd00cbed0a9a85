// What is thrown where nobody takes it: out of main(), a thread or a destructor. It ends the
// process as an error does: one line, an exit code, no scratch.
#pragma once

namespace graphgate {

// The exit codes of a process that ends so.
struct UncaughtCodes {
  int machine = 1;  // no memory, or what else the machine refused
  int defect = 1;   // all else
};

// Has every later end of this kind be so, also where a destructor throws. For main(), before and in
// it. What ends the process without an exception is an abort, as ever; but for one of an allocator
// that finds no room for its own tables.
void end_cleanly_on_throws(const UncaughtCodes& codes);

// Has this process, a fork, end by that code where it finds no memory.
void end_without_memory_by(int code);

// While one lives, an abort of this thread behind an allocation that failed is an end without
// memory: libraries of others abort where malloc() gives them nothing, as the compiler in NVRTC
// does. Every other abort stays one.
class WithinForeignLibrary {
 public:
  WithinForeignLibrary();
  WithinForeignLibrary(const WithinForeignLibrary&) = delete;
  WithinForeignLibrary& operator=(const WithinForeignLibrary&) = delete;
  ~WithinForeignLibrary();

 private:
  const bool was_within_;
};

// Ends this process by the code and one line where it may have less address space than it takes to
// begin. For who runs before any library: it asks for no memory.
void refuse_little_memory(int code);

// Whether what ends this thread by std::terminate is that it found no memory. For such a handler.
[[nodiscard]] bool ends_without_memory();

// Prints the line of the exception that is being handled, and returns its code. For a handler of
// main(). Takes no memory where there is none.
[[nodiscard]] int tell_of_uncaught();

}  // namespace graphgate
