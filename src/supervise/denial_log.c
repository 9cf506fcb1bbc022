#include "supervise/denial_log.h"

#include <inttypes.h>
#include <stdio.h>

static void say_several(struct denial_log *d, uint64_t n)
{
	char count[24];
	struct event_field field = {.key = "count", .is_json = 1};
	struct event e = {.kind = EVENT_DENIAL,
			  .verdict = "deny",
			  .rule = "several",
			  .message = "denials that came too fast to be listed one by one",
			  .fields = &field,
			  .n_fields = 1};

	(void)snprintf(count, sizeof(count), "%" PRIu64, n);
	field.value = sv_of(count);
	d->log(d->arg, &e);
}

void denial_log_end(struct denial_log *d)
{
	if (d->left_out)
		say_several(d, d->left_out);
	d->left_out = 0;
}

void denial_log_add(struct denial_log *d, const struct event *e, uint64_t now)
{
	d->total++;
	if (d->lines[e->domain] >= DENIAL_LOG_LINES) {
		if (now < d->next_at) {
			d->left_out++;
			return;
		}
		d->next_at = now + DENIAL_LOG_MS;
		denial_log_end(d);
	}
	d->lines[e->domain]++;
	d->log(d->arg, e);
}

void denial_log_untold(struct denial_log *d, uint64_t n)
{
	d->total += n;
	say_several(d, n);
}
