// The kernels of toy_kernels.c as entries for a GPU, of one thread each. toy_kernels.ptx holds them, without the functions that they were
// made of and without comments, for every driver of CUDA 12 or newer (.version 8.0):
//   clang-22 --target=nvptx64-nvidia-cuda -march=sm_80 -O3 -ffp-contract=off -nocudalib -S toy_kernels_cuda.c
#define ENTRY(name, parameters, ...)                                                                         \
  __attribute__((nvptx_kernel)) void name parameters {                                                       \
    void *args[] = {__VA_ARGS__};                                                                            \
    host_##name(args, 0, 1);                                                                                 \
  }
#define toy_init host_toy_init
#define toy_begin host_toy_begin
#define toy_linger host_toy_linger
#define toy_count host_toy_count
#define toy_micro host_toy_micro
#define toy_update host_toy_update
#define toy_eval host_toy_eval
#define toy_prefill host_toy_prefill
#define toy_decode host_toy_decode
#define toy_prefill_text host_toy_prefill_text
#define toy_decode_texts host_toy_decode_texts
#include "toy_kernels.c"
#undef toy_init
#undef toy_begin
#undef toy_count
#undef toy_micro
#undef toy_update
#undef toy_eval
#undef toy_prefill
#undef toy_decode
#undef toy_prefill_text
#undef toy_decode_texts
typedef void *P;
ENTRY(toy_init, (P a, P b), a, b)
ENTRY(toy_begin, (P a, P b, P c, P d), a, b, c, d)
ENTRY(toy_count, (P a, P b), a, b)
ENTRY(toy_micro, (P a, P b, P c, P d, P e, P f), a, b, c, d, e, f)
ENTRY(toy_update, (P a, P b, P c, P d, P e, P f, P g, P h), a, b, c, d, e, f, g, h)
ENTRY(toy_eval, (P a, P b, P c, P d, P e), a, b, c, d, e)
ENTRY(toy_prefill, (P a, P b, P c, P d), a, b, c, d)
ENTRY(toy_decode, (P a, P b, P c), a, b, c)
ENTRY(toy_prefill_text, (P a, P b, P c, P d, P e), a, b, c, d, e)
ENTRY(toy_decode_texts, (P a, P b, P c), a, b, c)
