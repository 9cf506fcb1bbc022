#include "cli/launch_report.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "policy/policy_explain.h"

static int write_page(const struct place *place, const char *state, const struct audit *audit,
		      const struct cli_policy *policy, const char *workdir, struct error *err)
{
	struct report_request req = {.last_hash = audit_last_hash(audit)};
	AUTO_BUF explained = {0};
	AUTO_FREE char *log = NULL;

	if (asprintf(&log, "%s/audit.jsonl", state) < 0) {
		log = NULL;
		return error_set(err, ERROR_SYSTEM, "out of memory");
	}
	buf_init(&explained, 4 << 20);
	policy_explain(policy->policy, workdir, policy->folders.home, NULL, true, &explained);
	req.log = log;
	req.policy = buf_view(&explained);
	return report_write(place, &req, err);
}

int launch_report(const struct call *call, const struct place *place, const char *state,
		  const struct audit *audit, const struct cli_policy *policy, const char *workdir, int result,
		  struct error *err)
{
	struct error failed = {0};

	if (place->dir < 0 || !audit || write_page(place, state, audit, policy, workdir, &failed) == 0)
		return result;
	if (result >= 0)
		*err = failed;
	else
		call_note(call, "note: %s", failed.text);
	return -1;
}
