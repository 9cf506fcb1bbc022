/*
 * format_document: BenchFlow's task.md in two: YAML between two lines "---", and Markdown below.
 *
 * The instruction is the Markdown, or its section "## prompt" where it has one. Other sections with a meaning to
 * BenchFlow ("## role:NAME", "## scene:NAME", "## user-persona") are refused: they are prompts that nobody here would
 * give to anybody.
 */
#ifndef CORDON_TASK_FORMAT_DOCUMENT_H
#define CORDON_TASK_FORMAT_DOCUMENT_H

#include <stdint.h>

#include "base/arena.h"

struct format_document {
	struct sv front; /* from the file's first line to the one before the second "---": YAML with the file's own
			    lines */
	struct sv body;
	uint32_t body_line; /* where it begins */
};

/* NULL, or what is wrong. Pieces are borrowed from text. */
const char *format_document_split(struct sv text, struct format_document *ret);

/* The instruction, in the arena; NULL with *ret_wrong (and the line) set. */
const char *format_document_instruction(struct arena *a, const struct format_document *d, const char **ret_wrong,
					uint32_t *ret_line);

#endif
