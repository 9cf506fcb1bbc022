#include "sandbox/oci/oci_said.h"

#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "sandbox/oci/oci_start.h"

enum { TAIL = 16 * 1024, SHOWN = 300 };

static bool show(struct sv text, char *out, size_t size)
{
	AUTO_BUF b = {0};

	buf_init(&b, 8 * SHOWN);
	text_escape(&b, text, SHOWN);
	if (buf_failed(&b) || !b.n)
		return false;
	(void)snprintf(out, size, "%s", b.p);
	return true;
}

/* The last line of *left, which loses it. */
static bool last_line(struct sv *left, struct sv *ret)
{
	size_t end = left->n, start;

	while (end && (left->p[end - 1] == '\n' || left->p[end - 1] == '\r' || left->p[end - 1] == ' '))
		end--;
	for (start = end; start && left->p[start - 1] != '\n'; start--)
		;
	*ret = sv_n(left->p + start, end - start);
	left->n = start;
	return ret->n != 0;
}

static bool show_error(struct sv line, char *out, size_t size)
{
	json_t *doc = json_loadb(line.p, line.n, 0, NULL);
	const char *level = json_string_value(json_object_get(doc, "level")),
		   *msg = json_string_value(json_object_get(doc, "msg"));
	bool found = level && msg && (strcmp(level, "error") == 0 || strcmp(level, "fatal") == 0) &&
		     show(sv_of(msg), out, size);

	json_decref(doc);
	return found;
}

bool oci_said_log(struct sv log, char *out, size_t size)
{
	struct sv line;

	while (last_line(&log, &line))
		if (show_error(line, out, size))
			return true;
	return false;
}

/* As gVisor writes it: W0412, a time, and what it warns of, but did not fail for. */
static bool is_warning(struct sv line)
{
	size_t i;

	for (i = 1; i < 5 && i < line.n && line.p[i] >= '0' && line.p[i] <= '9'; i++)
		;
	return i == 5 && i < line.n && line.p[0] == 'W' && line.p[i] == ' ';
}

bool oci_said_output(struct sv output, char *out, size_t size)
{
	struct sv line;

	while (last_line(&output, &line))
		if (!is_warning(line))
			return show(line, out, size);
	return false;
}

static struct sv read_tail(int dir, const char *name, char *out)
{
	AUTO_FD fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	ssize_t n = size < 0 ? -1 : pread(fd, out, TAIL, size > TAIL ? size - TAIL : 0);

	return sv_n(out, n > 0 ? (size_t)n : 0);
}

bool oci_said(int dir, char *out, size_t size)
{
	char tail[TAIL];

	return oci_said_log(read_tail(dir, OCI_LOG, tail), out, size) ||
	       oci_said_output(read_tail(dir, OCI_OUTPUT, tail), out, size);
}
