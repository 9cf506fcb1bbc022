/*
 * replay: runs a fuzz target over every file of its corpus folder, in the order of their names; TAP.
 *
 *	replay FOLDER
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "fuzz.h"

enum { INPUT_MAX = 16 << 20 };

static int is_input(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static int replay(const char *folder, const char *name)
{
	AUTO_BUF bytes = {0};
	char path[4096];
	uint8_t *exact;

	buf_init(&bytes, INPUT_MAX);
	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path) || buf_read_file(&bytes, path) < 0)
		return -1;
	/* A copy of exactly that size, so that a sanitizer sees one byte too far. */
	exact = malloc(bytes.n ? bytes.n : 1);
	if (!exact)
		return -1;
	memcpy(exact, bytes.p, bytes.n);
	(void)LLVMFuzzerTestOneInput(exact, bytes.n);
	free(exact);
	return 0;
}

int main(int argc, char **argv)
{
	struct dirent **entries = NULL;
	int n = argc == 2 ? scandir(argv[1], &entries, is_input, alphasort) : -1, i, failed = 0;

	if (n < 0) {
		fprintf(stderr, "usage: replay FOLDER\n");
		return 1;
	}
	printf("1..%d\n", n);
	for (i = 0; i < n; i++) {
		int r = replay(argv[1], entries[i]->d_name);

		printf("%sok %d - %s\n", r < 0 ? "not " : "", i + 1, entries[i]->d_name);
		(void)fflush(stdout);
		failed += r < 0;
		free(entries[i]);
	}
	free(entries);
	return failed != 0 || n == 0;
}
