// Names of what lies on a disk for a while. They say whose it is, so that whoever comes later can
// tell what a killed process has left behind:
//
//   graphgate-KIND-MARK-XXXXXX    a folder or a file below the machine's temporary folder
//   NAME.partial-MARK-XXXXXX      what becomes NAME
//   NAME.tmp.MARK-N               the same, in folders of our own
//
// MARK is MACHINE.PID.START: the process, since a number is given again, and the machine with its
// namespace of processes, since folders are shared.
#pragma once

#include <string>
#include <string_view>

namespace graphgate {

// Returns the mark of this process: eight hexadecimal digits, its number, and when it was started
// in ticks since the machine was (0 where the machine does not tell).
[[nodiscard]] std::string owner_mark();

// Whether the name is one of those above, of a process of this machine that has surely ended. False
// where that cannot be told: another machine's, another container's, no name of ours.
[[nodiscard]] bool is_left_behind(std::string_view name);

// Returns "graphgate-KIND-MARK-XXXXXX", for mkdtemp() and mkostemp().
[[nodiscard]] std::string scratch_name(std::string_view kind);
// Returns the path of "NAME.partial-MARK-XXXXXX" beside `path`, for the same. Where a name has no
// room for more, its beginning is kept.
[[nodiscard]] std::string scratch_beside(const std::string& path);

}  // namespace graphgate
