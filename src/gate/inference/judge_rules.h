/*
 * judge_rules: what may stand in a body, per kind of provider. Part of judge.
 */
#ifndef CORDON_GATE_INFERENCE_JUDGE_RULES_H
#define CORDON_GATE_INFERENCE_JUDGE_RULES_H

#include "base/json_scan.h"
#include "gate/inference/ruling.h"
#include "model/policy.h"

struct judge {
	const struct json_scan *s;
	enum provider_kind kind;
	const struct pol_inference *policy;
	const struct provider *provider; /* that serves the judged model */
	bool deny_tools;   /* server_tools: deny */
	const char *model; /* the judged name; for Gemini known before the body */
	struct ruling *no;
};

/* The names at the top of the body are spelled as the provider spells them. To be asked before any of them is read. */
int judge_top_names(const struct judge *j);

/* All the rest: members that are refused, tools, sources. */
int judge_rules(const struct judge *j);

#endif
