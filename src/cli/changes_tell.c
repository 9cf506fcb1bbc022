#include "cli/changes_tell.h"

#include "base/text.h"
#include "supervise/changes_journal.h"

static const char *const said[] = {
	[RECOVERED_BACK] = "an apply that was interrupted has been undone",
	[RECOVERED_KEPT] = "an apply that was interrupted has been undone; what the host changed since stands, and the "
			   "other versions are beside it as " KEPT_NAME "*",
	[RECOVERED_FORWARD] = "an apply that was interrupted had brought everything, and has been tidied up",
	[RECOVERED_LOST] =
		"an apply was interrupted in a folder that is gone, or stands elsewhere by now: it cannot be undone",
};

void changes_recovered_tell(const struct call *call, enum changes_recovered way)
{
	if (said[way])
		call_note(call, "%s", said[way]);
}

void changes_others_tell(const struct call *call, const char *folder, const struct changes_others *o)
{
	struct text_shown t;
	size_t i;

	(void)text_show(&t, sv_of(folder));
	for (i = 0; i < o->back; i++)
		call_note(call, "%s: %s", t.s, said[RECOVERED_BACK]);
	for (i = 0; i < o->kept; i++)
		call_note(call, "%s: %s", t.s, said[RECOVERED_KEPT]);
	for (i = 0; i < o->forward; i++)
		call_note(call, "%s: %s", t.s, said[RECOVERED_FORWARD]);
	if (o->failed)
		call_note(call,
			  "%s: an apply that was interrupted there cannot be undone yet; the next one tries again",
			  t.s);
	if (o->unknown)
		call_note(call,
			  "%s: %s is of no run that is known here, and is left alone; remove it if nobody misses "
			  "anything",
			  t.s, o->name);
}
