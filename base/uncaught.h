// What is thrown where nobody takes it: out of main(), a thread or a destructor. It ends the
// process as an error does: one line, an exit code, no scratch.
#pragma once

namespace graphgate {

// The exit codes of a process that ends so.
struct UncaughtCodes {
  int machine = 1;  // no memory, or what else the machine refused
  int defect = 1;   // all else
};

// Has every later end of this kind be so, also where a destructor throws. For main(). Something
// that ends the process without an exception is an abort, as ever.
void end_cleanly_on_throws(const UncaughtCodes& codes);

// Prints the line of the exception that is being handled, and returns its code. For a handler of
// main(). Takes no memory where there is none.
[[nodiscard]] int tell_of_uncaught();

}  // namespace graphgate
