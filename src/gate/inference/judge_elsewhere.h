/*
 * judge_elsewhere: what in a body would have another model, server or set of tools answer than those that are judged.
 * Part of judge, for the kinds anthropic and openai.
 *
 * Routers and proxies speak these dialects as well (OpenRouter, LiteLLM, Venice, gateways of firms), each with fields
 * of its own, and what a provider does not know today it may know tomorrow. So names are refused at the top by a list
 * and by what they contain; and a model that is named anywhere but in the conversation, in schemas and in the client's
 * own data is judged like the one at the top.
 */
#ifndef CORDON_GATE_INFERENCE_JUDGE_ELSEWHERE_H
#define CORDON_GATE_INFERENCE_JUDGE_ELSEWHERE_H

#include "gate/inference/judge_rules.h"

/* 0, or -1 and the ruling. */
int judge_elsewhere(const struct judge *j);

/* The name of a model that brings more than a model: a stored preset; with server_tools: deny, tools of the provider.
 */
int judge_model_name(const struct judge *j);

#endif
