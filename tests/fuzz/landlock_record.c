/* The kernel's records about Landlock, over any bytes: what is taken from one is within it, and names of strangers make
 * neither another domain nor another access. */
#include "audit/landlock_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "fuzz.h"

static void read_any(struct sv text)
{
	static struct landlock_access a; /* large */
	struct landlock_domain d;

	if (landlock_access_parse(text, &a) == 0) {
		if (a.n_target > sizeof(a.target) || !a.rule || a.of > DOMAIN_INFERENCE || a.blockers.p < text.p ||
		    a.blockers.p + a.blockers.n > text.p + text.n)
			abort();
	}
	if (landlock_domain_parse(text, &d) == 0 && d.status == LANDLOCK_MADE && !memchr(d.name, 0, sizeof(d.name)))
		abort();
}

/* As the kernel writes a name. */
static void put_name(struct buf *b, struct sv name)
{
	size_t i;
	int plain = 1;

	for (i = 0; i < name.n; i++)
		plain &= name.p[i] > ' ' && name.p[i] != '"' && (unsigned char)name.p[i] < 0x7f;
	(void)buf_str(b, plain ? "\"" : "");
	for (i = 0; i < name.n; i++)
		(void)buf_printf(b, plain ? "%c" : "%02X", (unsigned char)name.p[i]);
	(void)buf_str(b, plain ? "\"" : "");
}

static void read_named(struct sv name)
{
	static struct landlock_access a;
	size_t n = name.n < LANDLOCK_TARGET_MAX ? name.n : LANDLOCK_TARGET_MAX;
	AUTO_BUF b = {0};

	buf_init(&b, 1 << 20);
	(void)buf_str(&b, "audit(1.2:3): domain=abc blockers=fs.refer path=");
	put_name(&b, name);
	(void)buf_str(&b, " dev=\"vda\" ino=1");
	if (buf_failed(&b))
		return;
	if (landlock_access_parse(buf_view(&b), &a) < 0 || a.domain != 0xabc || !sv_is(a.blockers, "fs.refer") ||
	    a.n_target != n)
		abort();
	if (n && name.p[0] && memcmp(a.target, name.p, n) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct sv text = sv_n((const char *)bytes, n);

	read_any(text);
	if (n < 100000)
		read_named(text);
	return 0;
}
