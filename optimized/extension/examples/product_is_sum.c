/* A pass: what is multiplied by 2.0 is added to itself, which rounds alike.
 *
 *   cc -shared -fPIC -I INCLUDE product_is_sum.c -o product_is_sum.so
 *   graphgate check --pass ./product_is_sum.so model.pt2 */
#include <string.h>

#include "graphgate_extension.h"

static const char kProduct[] = "aten.mul.Tensor(";
static const char kTwo[] = ", 2.0)";
static const char kSum[] = "aten.add.Tensor(";
static const char kNext[] = ", ";

static void write_text(const graphgate_answer* answer, const char* begin, const char* end) {
  answer->write(answer->to, begin, (size_t)(end - begin));
}

/* Of "%y : f32[4] = aten.mul.Tensor(%x, 2.0)" the name "%x", if the line is such a one. */
static const char* doubled(const char* line, const char* end, size_t* length) {
  const size_t product = strlen(kProduct);
  const size_t two = strlen(kTwo);
  for (const char* at = line; at + product < end; ++at) {
    if (strncmp(at, kProduct, product) != 0) continue;
    const char* const name = at + product;
    const char* const comma = memchr(name, ',', (size_t)(end - name));
    const int is_two =
        comma != NULL && (size_t)(end - comma) >= two && strncmp(comma, kTwo, two) == 0;
    if (!is_two || *name != '%') return NULL;
    *length = (size_t)(comma - name);
    return name;
  }
  return NULL;
}

static int run(const char* program, const graphgate_answer* answer) {
  while (*program != '\0') {
    const char* end = strchr(program, '\n');
    end = end == NULL ? program + strlen(program) : end + 1;
    size_t length = 0;
    const char* const name = doubled(program, end, &length);
    if (name == NULL) {
      write_text(answer, program, end);
    } else {
      const char* const call = name - strlen(kProduct);
      write_text(answer, program, call);
      write_text(answer, kSum, kSum + strlen(kSum));
      write_text(answer, name, name + length);
      write_text(answer, kNext, kNext + strlen(kNext));
      write_text(answer, name, name + length);
      write_text(answer, name + length + strlen(kTwo) - 1, end);
    }
    program = end;
  }
  return 0;
}

const graphgate_extension* graphgate_extension_entry(void) {
  static const graphgate_extension extension = {GRAPHGATE_EXTENSION_ABI, "product_is_sum", "1", run,
                                                NULL};
  return &extension;
}
