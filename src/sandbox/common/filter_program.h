/*
 * filter_program: the instructions of a filter while they are written, one behind the other.
 *
 * Whoever writes more than fits finds `full` set in the end. Each call that looks at A leaves it as it is.
 */
#ifndef CORDON_SANDBOX_FILTER_PROGRAM_H
#define CORDON_SANDBOX_FILTER_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct filter_options;
struct sock_filter;

struct program {
	struct sock_filter *out; /* room for FILTER_MAX */
	size_t n;
	const struct filter_options *options;
	bool full;
};

/* From first to last, both of them in it. */
struct span {
	uint32_t first, last;
};

void program_emit(struct program *p, uint16_t code, uint8_t jt, uint8_t jf, uint32_t k);

/* The answer, whatever A is. */
void program_allow(struct program *p);
void program_errno(struct program *p, int code);

/* A becomes the lower half of the call's argument i. */
void program_load(struct program *p, unsigned i);

/* The answer where A is k, or is in one of the spans. */
void program_allow_if(struct program *p, uint32_t k);
void program_deny_if(struct program *p, uint32_t k); /* EPERM */
void program_allow_spans(struct program *p, const struct span *v, size_t n);
void program_refuse_spans(struct program *p, const struct span *v, size_t n, int code);

#endif
