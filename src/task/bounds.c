#include "task/bounds.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "model/address.h"

bool bounds_host_is_fine(const char *host)
{
	struct address a;

	if (strchr(host, '/'))
		return false;
	if (address_parse(sv_of(host), &a))
		return address_floor(&a) == FLOOR_NONE;
	return !address_looks_numeric(sv_of(host));
}

static int put_hosts(struct json *j, const struct pol_list *hosts, struct error *err)
{
	struct text_shown shown;
	uint32_t i;

	json_key(j, "allow");
	json_list(j);
	for (i = 0; i < hosts->n; i++) {
		if (!bounds_host_is_fine(hosts->v[i].s))
			return error_set(err, ERROR_INPUT,
					 "allowed_hosts: %s is not a public host; only the operator's policy can open "
					 "such addresses",
					 text_show(&shown, sv_of(hosts->v[i].s)));
		json_open(j);
		json_kstr(j, "host", hosts->v[i].s);
		json_close(j);
	}
	json_end(j);
	return 0;
}

static int put_network(struct json *j, const struct bounds *b, struct error *err)
{
	uint64_t mode = b->offline ? NET_NONE : b->network->mode.set ? b->network->mode.v : NET_PUBLIC;

	json_key(j, "network");
	json_open(j);
	json_kstr(j, "mode", net_mode_names[mode]);
	if (mode == NET_NONE)
		json_kstr(j, "dns", dns_mode_names[DNS_NONE]);
	if (mode == NET_ALLOWLIST && put_hosts(j, &b->network->hosts, err) < 0)
		return -1;
	json_close(j);
	return 0;
}

static void put_limits(struct json *j, const struct bounds *b)
{
	char text[40];

	json_key(j, "process");
	json_open(j);
	if (b->timeout_ms) {
		(void)snprintf(text, sizeof(text), "%llums", (unsigned long long)b->timeout_ms);
		json_kstr(j, "timeout", text);
	}
	if (b->environment && b->environment->cpus.set) {
		(void)snprintf(text, sizeof(text), "%llu.%03llu", (unsigned long long)b->environment->cpus.v / 1000,
			       (unsigned long long)b->environment->cpus.v % 1000);
		json_key(j, "cpus");
		json_raw(j, sv_of(text));
	}
	if (b->environment && b->environment->memory.set) {
		json_key(j, "memory");
		json_uint(j, b->environment->memory.v);
	}
	if (b->processes) {
		json_key(j, "max_processes");
		json_uint(j, b->processes + 1); /* the sandbox's own first one counts there */
	}
	json_close(j);
}

int bounds_write(const struct bounds *b, struct buf *out, struct error *err)
{
	struct json j;

	json_init(&j, out);
	json_open(&j);
	json_kint(&j, "version", 1);
	if ((b->network || b->offline) && put_network(&j, b, err) < 0)
		return -1;
	put_limits(&j, b);
	json_close(&j);
	(void)buf_char(out, '\n');
	return buf_failed(out) ? error_sys(err, buf_failed(out), "the task's bounds") : 0;
}
