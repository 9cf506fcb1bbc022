/*
 * launch_report: `cordon run --report`: the page about a run, from its log and its policy (audit/report.h).
 */
#ifndef CORDON_CLI_LAUNCH_REPORT_H
#define CORDON_CLI_LAUNCH_REPORT_H

#include "audit/audit.h"
#include "audit/report.h"
#include "cli/cli_policy.h"

/*
 * Writes the page when the log has ended; result is that of the run, which is returned. A page that cannot be written
 * fails a run that went well, and is only noted after one that failed itself.
 */
int launch_report(const struct call *call, const struct place *place, const char *state,
		  const struct audit *audit, const struct cli_policy *policy, const char *workdir, int result,
		  struct error *err);

#endif
