#include "model/inside.h"

#include <errno.h>
#include <stdlib.h>

#include "wire/wire.h"

enum { TTY_BITS = 7 };

void inside_spawn_encode(const struct inside_spawn *s, struct buf *out)
{
	wire_put_u64(out, s->id);
	wire_put_u32(out, s->tty_bits);
	wire_put_u32(out, s->rows);
	wire_put_u32(out, s->columns);
	wire_put_strings(out, s->argv);
	wire_put_strings(out, s->env);
	wire_put_sv(out, sv_of(s->cwd));
}

static bool is_sound(const struct inside_spawn *s)
{
	return s->argv[0] && (s->cwd[0] == '/' || s->cwd[0] == '\0') && s->tty_bits <= TTY_BITS &&
	       s->rows <= INSIDE_TERMINAL_MAX && s->columns <= INSIDE_TERMINAL_MAX;
}

int inside_spawn_decode(struct sv body, struct inside_spawn *ret)
{
	struct inside_spawn s = {0};
	struct wire_in in;
	struct sv cwd;
	int r = 0;

	wire_in_init(&in, body);
	s.id = wire_get_u64(&in);
	s.tty_bits = wire_get_u32(&in);
	s.rows = wire_get_u32(&in);
	s.columns = wire_get_u32(&in);
	s.argv = wire_get_strings(&in, INSIDE_STRINGS_MAX);
	s.env = wire_get_strings(&in, INSIDE_STRINGS_MAX);
	cwd = wire_get_sv(&in);
	if (!wire_ok(&in) || memchr(cwd.p, '\0', cwd.n))
		r = -EBADMSG;
	else if (!s.argv || !s.env || !(s.cwd = strndup(cwd.p, cwd.n)))
		r = -ENOMEM;
	else if (!is_sound(&s))
		r = -EBADMSG;
	if (r < 0)
		inside_spawn_done(&s);
	*ret = s;
	return r;
}

void inside_spawn_done(struct inside_spawn *s)
{
	free((void *)(uintptr_t)s->argv);
	free((void *)(uintptr_t)s->env);
	free((void *)(uintptr_t)s->cwd);
	*s = (struct inside_spawn){.id = s->id};
}
