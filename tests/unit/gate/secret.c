#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "check.h"

static const char value[] = "correct-horse-battery-staple";

static int copy_out(struct sv plain, void *arg)
{
	struct sv *seen = arg;

	*seen = plain;
	return 7;
}

static void plaintext_leaves_through_secret_use_alone(void)
{
	struct secret *s = NULL;
	struct sv seen = {0};

	CHECK(secret_new(sv_of(value), &s) == 0);
	CHECK(secret_use(s, copy_out, &seen) == 7);
	CHECK(sv_is(seen, value));
	secret_free(s);
	secret_free(NULL);
}

static void comparing_says_equal_only_for_equal_bytes(void)
{
	struct secret *s = NULL;

	CHECK(secret_new(sv_of(value), &s) == 0);
	CHECK(secret_equal(s, sv_of(value)));
	CHECK(!secret_equal(s, sv_n(value, 5)));
	CHECK(!secret_equal(s, sv_of("correct-horse-battery-stapld")));
	CHECK(!secret_equal(s, sv_of("correct-horse-battery-staplecorrect-horse-battery-staple")));
	CHECK(!secret_equal(s, sv_n("", 0)));
	secret_free(s);
}

static void empty_and_huge_values_are_refused(void)
{
	struct secret *s = NULL;

	CHECK(secret_new(sv_n("", 0), &s) == -EINVAL);
	CHECK(secret_new(sv_n(value, SECRET_MAX + 1), &s) == -EINVAL);
	CHECK(s == NULL);
}

static void a_forked_child_sees_nothing(void)
{
	struct secret *s = NULL;
	struct sv seen = {0};
	int status = -1;
	pid_t pid;

	CHECK(secret_new(sv_of(value), &s) == 0);
	pid = fork();
	if (pid == 0)
		_exit(secret_use(s, copy_out, &seen) == -ENODATA && !secret_equal(s, sv_of(value)) ? 0 : 1);
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	CHECK(secret_equal(s, sv_of(value)));
	secret_free(s);
}

/* The line of /proc/self/smaps that lists the flags of the mapping that holds p. */
static bool mapping_flags(const void *p, char *flags, size_t size)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	unsigned long from, to;
	bool here = false;
	char line[512];

	flags[0] = '\0';
	while (f && !flags[0] && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2 && strchr(line, '-') < strchr(line, ' '))
			here = (unsigned long)p >= from && (unsigned long)p < to;
		else if (here && strncmp(line, "VmFlags:", 8) == 0)
			(void)snprintf(flags, size, "%s", line + 8);
	}
	if (f)
		(void)fclose(f);
	return flags[0] != '\0';
}

static void its_pages_are_read_only_undumped_and_wiped_on_fork(void)
{
	struct secret *s = NULL;
	struct sv seen = {0};
	char flags[512];

	CHECK(secret_new(sv_of(value), &s) == 0);
	CHECK(secret_use(s, copy_out, &seen) == 7);
	if (mapping_flags(seen.p, flags, sizeof(flags))) {
		CHECK(strstr(flags, " dd"));
		CHECK(strstr(flags, " wf"));
		CHECK(!strstr(flags, " wr"));
	}
	secret_free(s);
}

static void guarded_memory_is_zeroed_and_bounded(void)
{
	unsigned char *p = secret_memory_new(10000);
	size_t i, sum = 0;

	CHECK(p != NULL);
	for (i = 0; p && i < 10000; i++)
		sum += p[i];
	CHECK(sum == 0);
	secret_memory_free(p, 10000);
	CHECK(secret_memory_new((size_t)-1) == NULL);
	CHECK(secret_memory_new(0) == NULL);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(plaintext_leaves_through_secret_use_alone),
		CASE(comparing_says_equal_only_for_equal_bytes),
		CASE(empty_and_huge_values_are_refused),
		CASE(a_forked_child_sees_nothing),
		CASE(its_pages_are_read_only_undumped_and_wiped_on_fork),
		CASE(guarded_memory_is_zeroed_and_bounded),
	};
	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
