/*
 * dockerfile: a Dockerfile as a list of instructions.
 *
 * dockerfile_parse() is a pure function of bytes and reads as BuildKit's parser does: parser directives, either escape,
 * continued lines with comments in between, heredocs, JSON forms with their fallbacks, a byte order mark, CRLF. Words
 * that it does not know become DOCKERFILE_UNKNOWN. dockerfile_check() says whether each instruction has the form that
 * its kind wants. Variables stay as written (conf/expand.h).
 *
 * Stricter than BuildKit: bytes that are not UTF-8, control characters other than tabs and line ends, flags with bytes
 * beyond ASCII, ONBUILD in ONBUILD, more than DOCKERFILE_BYTES bytes or DOCKERFILE_COUNT instructions.
 *
 * Everything lives in the caller's arena; strings end with NUL and have none inside, arrays end with NULL. Errors are
 * ERROR_INPUT and begin "name:line: ".
 */
#ifndef CORDON_CONF_DOCKERFILE_H
#define CORDON_CONF_DOCKERFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum { DOCKERFILE_BYTES = 1 << 20, DOCKERFILE_COUNT = 4096 };

enum dockerfile_kind {
	DOCKERFILE_UNKNOWN,
	DOCKERFILE_ADD,
	DOCKERFILE_ARG,
	DOCKERFILE_CMD,
	DOCKERFILE_COPY,
	DOCKERFILE_ENTRYPOINT,
	DOCKERFILE_ENV,
	DOCKERFILE_EXPOSE,
	DOCKERFILE_FROM,
	DOCKERFILE_HEALTHCHECK,
	DOCKERFILE_LABEL,
	DOCKERFILE_MAINTAINER,
	DOCKERFILE_ONBUILD,
	DOCKERFILE_RUN,
	DOCKERFILE_SHELL,
	DOCKERFILE_STOPSIGNAL,
	DOCKERFILE_USER,
	DOCKERFILE_VOLUME,
	DOCKERFILE_WORKDIR
};

struct dockerfile_heredoc {
	const char *name;
	const char *content; /* tabs and all; see dockerfile_content() */
	bool expand;	     /* no part of the name was quoted */
	bool chomp;	     /* <<- */
};

struct dockerfile_instruction {
	enum dockerfile_kind kind;
	uint32_t line, last_line;
	const char *word;   /* the kind, as written */
	const char *text;   /* the whole instruction, its lines joined, without heredocs */
	const char **flags; /* "--name=value", quotes and escapes resolved */
	/*
	 * json: the array's strings. Else ADD, COPY, EXPOSE, FROM, VOLUME: words; ARG: words with their quotes; ENV and
	 * LABEL: name, value and "=" for each, or name, rest of the line and "" in the old form; HEALTHCHECK: its type,
	 * then the array or the rest of the line; ONBUILD: none; all others: the rest of the line.
	 */
	const char **args;
	bool json;
	struct dockerfile_heredoc *heredocs;
	size_t n_heredocs;
	struct dockerfile_instruction *trigger; /* of ONBUILD; the heredocs are ONBUILD's. NULL: there is none */
};

struct dockerfile {
	char escape;
	const char *syntax; /* "# syntax=", in any form that BuildKit would find; NULL: none */
	uint32_t syntax_line;
	struct dockerfile_instruction *v;
	size_t n;
};

/* name is for messages; it is escaped here. */
int dockerfile_parse(struct arena *a, const char *name, struct sv bytes, const struct dockerfile **ret,
		     struct error *err);

/* One instruction without a file around it, as a trigger in an image's configuration is; it may be followed by its
 * heredocs. */
int dockerfile_parse_trigger(struct arena *a, const char *name, struct sv text, const struct dockerfile **ret,
			     struct error *err);

/* Number of arguments, flags and heredocs, as far as it can be told without variables. */
int dockerfile_check(const char *name, const struct dockerfile_instruction *i, struct error *err);

/* The value of "--flag=value", "" where the flag has none, NULL where it is not there. *at: where to look from, for
 * flags that may be repeated; NULL: the first. */
const char *dockerfile_flag(const struct dockerfile_instruction *i, const char *flag, size_t *at);

/* A heredoc whose word (as it stands in args) is w, or NULL: the word is none. */
const struct dockerfile_heredoc *dockerfile_heredoc_of(struct arena *a, const struct dockerfile_instruction *i,
						       const char *w);

/* The content, without the tabs that begin its lines where it is to be chomped. NULL: no memory. */
const char *dockerfile_content(struct arena *a, const struct dockerfile_heredoc *h);

/* "RUN" and so on. */
const char *dockerfile_kind_name(enum dockerfile_kind kind);

#endif
