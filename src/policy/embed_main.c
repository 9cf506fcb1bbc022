/*
 * embed: a build tool that writes the shipped profiles as a C file (policy_profile.h).
 *
 *	embed OUT.c FILE.yaml...
 *
 * Files come sorted from meson. Byte lists instead of string literals: no limit on length, nothing to escape.
 */
#include <stdio.h>
#include <string.h>

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int name_length(const char *path)
{
	return (int)strcspn(base_name(path), ".");
}

static int write_bytes(FILE *out, const char *path, int index)
{
	FILE *in = fopen(path, "rb");
	int c, n = 0;

	if (!in) {
		perror(path);
		return -1;
	}
	fprintf(out, "static const unsigned char profile_%d[] = {", index);
	while ((c = getc(in)) != EOF)
		fprintf(out, "%s%d,", n++ % 24 ? "" : "\n\t", c);
	fprintf(out, "\n\t0,\n};\n\n");
	(void)fclose(in);
	return 0;
}

int main(int argc, char **argv)
{
	FILE *out = argc > 2 ? fopen(argv[1], "wb") : NULL;
	int i;

	if (!out) {
		fprintf(stderr, "usage: embed OUT.c FILE.yaml...\n");
		return 1;
	}
	fprintf(out, "#include \"policy/policy_profile.h\"\n\n");
	for (i = 2; i < argc; i++)
		if (write_bytes(out, argv[i], i - 2) < 0)
			return 1;
	fprintf(out, "const struct policy_profile policy_profiles[] = {\n");
	for (i = 2; i < argc; i++)
		fprintf(out, "\t{\"%.*s\", {(const char *)profile_%d, sizeof(profile_%d) - 1}},\n",
			name_length(argv[i]), base_name(argv[i]), i - 2, i - 2);
	fprintf(out, "\t{NULL, {NULL, 0}},\n};\n\nconst char *const policy_profile_names[] = {\n");
	for (i = 2; i < argc; i++)
		fprintf(out, "\t\"%.*s\",\n", name_length(argv[i]), base_name(argv[i]));
	fprintf(out, "\tNULL,\n};\n");
	return fclose(out) == 0 ? 0 : 1;
}
