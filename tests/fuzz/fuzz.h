/*
 * fuzz: what a fuzz target is. One file per target, one function over bytes, no state between calls. libFuzzer drives
 * it with -Dfuzz=true and clang; everywhere else replay_main.c runs it over tests/fuzz/corpus/TARGET.
 */
#ifndef CORDON_TESTS_FUZZ_H
#define CORDON_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#endif
