#include "image/name.h"

#include "check.h"

#define DIGEST "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void names_get_what_docker_would_add(void)
{
	static const struct {
		const char *name, *canonical, *shorter;
	} cases[] = {
		{"debian", "docker.io/library/debian:latest", "debian:latest"},
		{"debian:12", "docker.io/library/debian:12", "debian:12"},
		{"library/debian:12", "docker.io/library/debian:12", "debian:12"},
		{"docker.io/debian:12", "docker.io/library/debian:12", "debian:12"},
		{"docker.io/library/debian:12", "docker.io/library/debian:12", "debian:12"},
		{"index.docker.io/library/debian:12", "docker.io/library/debian:12", "debian:12"},
		{"alexgshaw/task:20251031", "docker.io/alexgshaw/task:20251031", "alexgshaw/task:20251031"},
		{"ghcr.io/laude-institute/t-bench/ubuntu-24-04:20250624",
		 "ghcr.io/laude-institute/t-bench/ubuntu-24-04:20250624",
		 "ghcr.io/laude-institute/t-bench/ubuntu-24-04:20250624"},
		{"localhost/x", "localhost/x:latest", "localhost/x:latest"},
		{"localhost:5000/x", "localhost:5000/x:latest", "localhost:5000/x:latest"},
		{"Host/x", "Host/x:latest", "Host/x:latest"},
		{"debian@" DIGEST, "docker.io/library/debian@" DIGEST, "debian@" DIGEST},
		{"debian:12@" DIGEST, "docker.io/library/debian@" DIGEST, "debian@" DIGEST},
		{"a__b/c--d.e", "docker.io/a__b/c--d.e:latest", "a__b/c--d.e:latest"},
		{"x:Tag_1.2-3", "docker.io/library/x:Tag_1.2-3", "x:Tag_1.2-3"},
	};
	char out[IMAGE_NAME_MAX + 1], shorter[IMAGE_NAME_MAX + 1];
	struct error err = {0};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK(image_name_canonical(sv_of(cases[i].name), out, &err) == 0);
		CHECK_STR(out, cases[i].canonical);
		image_name_short(out, shorter);
		CHECK_STR(shorter, cases[i].shorter);
		/* and again, it is the same */
		CHECK(image_name_canonical(sv_of(shorter), out, &err) == 0);
		CHECK_STR(out, cases[i].canonical);
	}
}

static void what_is_no_name_is_refused(void)
{
	static const char *const cases[] = {
		"",
		"/",
		"a/",
		"/a",
		"a//b",
		"..",
		"../x",
		"a/..",
		"a/../b",
		".a",
		"a.",
		"-a",
		"a-",
		"a___b",
		"a..b",
		"a._b",
		"A",
		"a/B",
		"x:",
		"x:.t",
		"x:-t",
		"x:a/b:",
		"x@",
		"x@sha256:12",
		"x@sha512:aa",
		"x y",
		"x\n",
		"x%2f",
		"ho_st.x/a",
		"a.b:/x",
		"a.b:123456/x",
		"-a.b/x",
		"a.b-/x",
		"x:y:z",
		"\xc3\xa9",
		"x@" DIGEST "0",
		"x@sha256:0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef",
		"a.b//x",
		"http://a.b/x",
	};
	char out[IMAGE_NAME_MAX + 1] = "untouched", longer[400];
	struct error err = {0};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (image_name_canonical(sv_of(cases[i]), out, &err) != -1)
			printf("# accepted: \"%s\" as %s\n", cases[i], out);
		CHECK_STR(out, "untouched");
		CHECK(err.kind == ERROR_INPUT);
	}
	CHECK(image_name_canonical(sv_n("a\0b", 3), out, &err) == -1);
	memset(longer, 'a', sizeof(longer));
	CHECK(image_name_canonical(sv_n(longer, sizeof(longer)), out, &err) == -1);
	CHECK(image_name_canonical(sv_n(longer, IMAGE_NAME_MAX - strlen("docker.io/library/:latest")), out, &err) == 0);
	CHECK(strlen(out) == IMAGE_NAME_MAX);
}

int main(void)
{
	static const struct check_case cases[] = {CASE(names_get_what_docker_would_add),
						  CASE(what_is_no_name_is_refused)};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
