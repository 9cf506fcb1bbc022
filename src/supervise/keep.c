#include "supervise/keep.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void keep_init(struct keep *k, const struct keep_request *req, struct control *control, uint64_t command_ms,
	       uint64_t now)
{
	*k = (struct keep){.req = req, .control = control, .command_ms = command_ms};
	control->last_used = now;
	control->prepared = req && req->prepared;
	control->timed = req && command_ms;
}

void keep_is_ready(struct keep *k, const char *id, uint64_t now)
{
	char line[64];

	if (!k->req)
		return;
	(void)snprintf(line, sizeof(line), "%s\n", id);
	(void)!write(k->req->ready, line, strlen(line));
	(void)close(k->req->ready);
	k->control->last_used = now;
}

/* Somebody waits for a command, or is about to ask for one. */
static bool is_busy(const struct control *c)
{
	size_t i;

	for (i = 0; i < CONTROL_CLIENTS; i++)
		if (c->clients[i].fd >= 0 && !c->clients[i].looks)
			return true;
	return false;
}

/* True: its time has just run out. */
static bool check_command(struct keep *k, struct control_client *c, uint64_t now)
{
	if (!k->command_ms || !c->id || now < c->started + k->command_ms)
		return false;
	if (!c->timed_out) {
		c->timed_out = true;
		control_tell_limit(k->control, c->id, "process.timeout");
		c->kill_at = now + k->req->grace_ms;
		control_expire(k->control, c->id);
		control_signal(k->control, c->id, SIGTERM);
		control_signal(k->control, c->id, SIGCONT);
		return true;
	}
	if (now < c->kill_at)
		return false;
	if (c->killed) {
		k->lost = true;
		return false;
	}
	c->killed = true;
	c->kill_at = now + KEEP_LOST_MS;
	control_signal(k->control, c->id, SIGKILL);
	return false;
}

bool keep_is_empty(const struct keep *k)
{
	size_t i;

	for (i = 0; k->req && i < CONTROL_CLIENTS; i++)
		if (k->control->clients[i].id)
			return false;
	return k->req;
}

bool keep_check(struct keep *k, uint64_t now, bool *ret_timed_out)
{
	size_t i;

	*ret_timed_out = false;
	if (!k->req)
		return false;
	for (i = 0; i < CONTROL_CLIENTS; i++)
		*ret_timed_out |= check_command(k, &k->control->clients[i], now);
	return k->control->left ||
	       (k->req->idle_ms && !is_busy(k->control) && now >= k->control->last_used + k->req->idle_ms);
}

uint64_t keep_until(const struct keep *k)
{
	uint64_t at = UINT64_MAX, mine;
	size_t i;

	if (!k->req)
		return UINT64_MAX;
	for (i = 0; k->command_ms && i < CONTROL_CLIENTS; i++) {
		const struct control_client *c = &k->control->clients[i];

		mine = !c->id ? UINT64_MAX : c->timed_out ? c->kill_at : c->started + k->command_ms;
		at = mine < at ? mine : at;
	}
	if (k->req->idle_ms && !is_busy(k->control) && k->control->last_used + k->req->idle_ms < at)
		at = k->control->last_used + k->req->idle_ms;
	return at;
}
