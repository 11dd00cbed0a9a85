/* A pass, a compiler of partitions, or both, from a shared object.
 *
 * The object exports graphgate_extension_entry. graphgate loads it in a process of its own for each
 * call: what crashes, ends or hangs there is told as an error of the extension, and nothing that it
 * keeps in memory is there at the next call. What it prints goes to standard error.
 *
 *   graphgate check --pass ./my_rewrite.so model.pt2
 *   graphgate check --compiler ./my_compiler.so model.pt2
 *
 * Texts are UTF-8, end with a zero, and are graphgate's until the call returns.
 * docs/extensions.md shows them. */
#ifndef GRAPHGATE_EXTENSION_H
#define GRAPHGATE_EXTENSION_H

#include <stddef.h>
#include <stdint.h>

/* Is raised whenever this header changes what it means. */
#define GRAPHGATE_EXTENSION_ABI 1

#ifdef __cplusplus
extern "C" {
#endif

/* Takes an answer. `write` may be called several times, with a piece each. */
typedef struct graphgate_answer {
  void (*write)(void* to, const char* bytes, size_t count);
  void* to;
} graphgate_answer;

/* What the object has. Both functions return 0 where they are done. Any other number is an error,
 * and the answer is its message. */
typedef struct graphgate_extension {
  uint32_t abi;        /* GRAPHGATE_EXTENSION_ABI */
  const char* name;    /* of the pass and the compiler, as errors and reports name them */
  const char* version; /* stands in the key of the cache, beside a hash of the file */

  /* Is given a graph as the text of a program, before sizes are known, and answers with a program
   * of the same inputs and as many outputs. An empty answer leaves the graph as it is. Null: the
   * object has no pass. */
  int (*pass)(const char* program, const graphgate_answer* answer);

  /* Is given one partition at known sizes, and answers with a line for each launch: "launch 0 2\n"
   * is the first and the third node. Null: the object has no compiler. */
  int (*compile)(const char* partition, const graphgate_answer* answer);
} graphgate_extension;

/* Returns what the object has; never null. The object exports it. */
const graphgate_extension* graphgate_extension_entry(void);

#ifdef __cplusplus
}
#endif

#endif
