/* A compiler: as the default one, but no launch has more than two nodes.
 *
 *   cc -shared -fPIC -I INCLUDE pairs.c -o pairs.so
 *   graphgate check --compiler ./pairs.so model.pt2 */
#include <string.h>

#include "graphgate_extension.h"

static void write_text(const graphgate_answer* answer, const char* begin, size_t count) {
  answer->write(answer->to, begin, count);
}

/* "launch 0 2 3\n" of the default one is "launch 0 2\nlaunch 3\n". */
static int compile(const char* partition, const graphgate_answer* answer) {
  while (*partition != '\0') {
    const char* const end = strchr(partition, '\n');
    if (strncmp(partition, "launch ", 7) == 0) {
      int places = 0;
      for (const char* at = partition + 6; at < end;) {
        const char* next = at + 1;
        while (next < end && *next != ' ') ++next;
        if (places % 2 == 0) write_text(answer, "launch", 6);
        write_text(answer, at, (size_t)(next - at));
        ++places;
        if (places % 2 == 0 || next == end) write_text(answer, "\n", 1);
        at = next;
      }
    }
    partition = end + 1;
  }
  return 0;
}

const graphgate_extension* graphgate_extension_entry(void) {
  static const graphgate_extension extension = {GRAPHGATE_EXTENSION_ABI, "pairs", "1", NULL,
                                                compile};
  return &extension;
}
