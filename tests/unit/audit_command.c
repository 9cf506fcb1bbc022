#include "audit/audit_command.h"

#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "check.h"

/* The command as the log has it, parsed: the words in one text, with a newline behind each. */
static void command_of(char *const *argv, struct buf *ret)
{
	AUTO_BUF b = {0};
	json_error_t why;
	json_t *v;
	size_t i;

	buf_init(&b, AUDIT_COMMAND_MAX);
	audit_put_command(&b, argv);
	CHECK(!buf_failed(&b));
	v = json_loadb(b.p, b.n, 0, &why);
	CHECK(json_is_array(v));
	buf_clear(ret);
	for (i = 0; i < json_array_size(v); i++)
		CHECK(buf_printf(ret, "%s\n", json_string_value(json_array_get(v, i))) >= 0);
	json_decref(v);
}

static void no_padding_keeps_a_command_out_of_the_log(void)
{
	static char padded[40000], controls[40000], word[] = "word";
	static char *many[20002];
	char *const shorter[] = {(char[]){"sh"}, (char[]){"-c"}, (char[]){"true"}, NULL};
	char *const longer[] = {(char[]){"sh"}, (char[]){"-c"}, padded, (char[]){"last"}, NULL};
	char *const odd[] = {controls, controls, NULL};
	AUTO_BUF b = {0};
	size_t i;

	buf_init(&b, 1 << 20);
	memset(padded, 'x', sizeof(padded) - 1);
	memcpy(padded, "first", 5);
	memcpy(padded + sizeof(padded) - 5, "end", 4);
	memset(controls, 1, sizeof(controls) - 1);
	for (i = 0; i < ARRAY_LEN(many) - 1; i++)
		many[i] = word;
	command_of(shorter, &b);
	CHECK_STR(b.p, "sh\n-c\ntrue\n");
	command_of(longer, &b);
	CHECK(strncmp(b.p, "sh\n-c\nfirstxxx", 14) == 0 && strstr(b.p, "xxx[cut: 39998 bytes, sha256 ") &&
	      strstr(b.p, "xxxend\nlast\n"));
	/* a word that just fits, or nearly */
	for (i = AUDIT_COMMAND_MAX - 250; i < AUDIT_COMMAND_MAX; i++) {
		padded[i] = '\0';
		command_of(longer, &b);
		CHECK(strncmp(b.p, "sh\n-c\nfirstxxx", 14) == 0 &&
		      (strstr(b.p, "\nlast\n") || strstr(b.p, "\n[cut: 1 words more, 4 bytes, sha256 ")));
		padded[i] = 'x';
	}
	command_of(odd, &b);
	CHECK(strstr(b.p, "[cut: 39999 bytes, sha256 ") != NULL);
	command_of(many, &b);
	CHECK(strstr(b.p, "word\n[cut: ") && strstr(b.p, " words more, "));
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(no_padding_keeps_a_command_out_of_the_log),
	};

	return check_main(cases, ARRAY_LEN(cases));
}
