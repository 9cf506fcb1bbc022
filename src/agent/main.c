/*
 * cordon-agent: the built-in agent. It runs inside of a sandbox, asks a model through the gateway's port on loopback,
 * and runs the commands that the model asks for.
 *
 *	cordon-agent [--help | --version]
 *	cordon-agent --model NAME [--max-turns N] [--max-output BYTES] [--command-timeout SECONDS] [--trajectory FILE]
 * --instruction FILE
 *
 * CORDON_MODEL is the model where --model is missing; model.h says which variables name the port. Commands run in the
 * folder where it was started, with its environment. It holds no secret and has no power that its commands do not have:
 * the sandbox is the boundary, not this program.
 *
 * Exit: 0 when the model ended by itself, 2 when turns, budget or context were used up, 3 when the model cannot be
 * reached or refuses, 125 for failures of its own.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/model.h"
#include "agent/options.h"
#include "agent/say.h"
#include "agent/shell.h"
#include "agent/trail.h"
#include "base/cleanup.h"
#include "base/text.h"

static const char usage[] =
	"Usage: cordon-agent [OPTION...] --instruction FILE\n"
	"The built-in agent: asks a model through the gateway of the sandbox that it\n"
	"is in, and runs the shell commands that the model asks for.\n\n"
	"  --instruction FILE         what is to be done\n"
	"  --model NAME               the model; else the variable CORDON_MODEL\n"
	"  --max-turns N              answers of the model, at most (100)\n"
	"  --max-output BYTES         of one command's output, at most (16384)\n"
	"  --command-timeout SECONDS  the most that a command may ask for (1800)\n"
	"  --trajectory FILE          what happened, as lines of JSON\n"
	"  --help, --version\n\n"
	"OPENAI_BASE_URL, ANTHROPIC_BASE_URL or GOOGLE_GEMINI_BASE_URL, which a\n"
	"policy's inference.providers set, say how the model is asked.\n\n"
	"Exits 0 when the model ended by itself, 2 when a limit ended it, 3 when the\n"
	"model cannot be reached or refuses, 125 otherwise. See cordon-agents(5).\n";

enum { INSTRUCTION_MAX = 256 * 1024, TIMEOUT_UNSAID_S = 120 };

struct agent {
	const struct agent_options *options;
	struct model model;
	struct talk *talk;
	struct trail trail;
	sigset_t mask; /* from before */
};

/* How the work ended. */
struct ending {
	enum agent_exit status;
	const char *reason;
	struct error why;
};

static int64_t time_for(const struct agent *g, const struct reply_call *c)
{
	uint64_t most = g->options->command_timeout, s = c->timeout ? c->timeout : TIMEOUT_UNSAID_S;

	return (int64_t)(s < most ? s : most) * 1000;
}

static void tell_result(const struct shell_result *r, struct buf *out)
{
	if (r->timed_out)
		(void)buf_printf(out, "[time is up after %" PRId64 " s: the command was ended]\n", r->ms / 1000);
	else
		(void)buf_printf(out, "[exit status %d]\n", r->status);
	clip_text(&r->output, out);
}

/* 0, or -ENOMEM. A command that fails is no failure of ours. */
static int run_call(struct agent *g, const struct reply_call *c)
{
	struct shell_limits limits = {time_for(g, c), g->options->max_output};
	struct shell_result r = {.output = {0}};
	struct error err = {0};
	AUTO_BUF told = {0};
	int added;

	buf_init(&told, g->options->max_output + 4096);
	if (c->fault) {
		(void)buf_printf(&told, "[not run: %s]", c->fault);
	} else {
		say_lines("$ ", sv_of(c->command));
		if (shell_run(c->command, &limits, &g->mask, &r, &err) < 0)
			(void)buf_printf(&told, "[not run: %s]", err.text);
		else
			tell_result(&r, &told);
	}
	if (!r.output.p)
		r.status = AGENT_NOT_FOUND;
	say_lines("| ", buf_view(&told));
	trail_result(&g->trail, &(struct trail_result){.id = c->id,
						       .status = r.status,
						       .timed_out = r.timed_out,
						       .ms = r.ms,
						       .output = buf_view(&told)});
	added = talk_add_result(g->talk, c, buf_view(&told), r.status != 0 || r.timed_out);
	clip_done(&r.output);
	return added;
}

/* What a reply asks for. 1: nothing more; 0: go on; -ENOMEM. */
static int carry_out(struct agent *g, const struct reply *reply)
{
	size_t i;
	int r;

	say_lines("", reply->text);
	trail_reply(&g->trail, reply);
	if (!reply->n_calls && !reply->cut)
		return 1;
	/* an empty message may not be repeated to some APIs */
	r = reply->n_calls || reply->text.n ? talk_add_reply(g->talk, reply) : 0;
	for (i = 0; r == 0 && i < reply->n_calls; i++)
		r = run_call(g, &reply->calls[i]);
	if (r == 0 && reply->cut)
		r = talk_add_words(g->talk,
				   "Your last answer was cut off, because it was too long. Go on, in smaller steps.");
	return r;
}

static struct ending work(struct agent *g)
{
	struct ending end = {.status = AGENT_LIMIT, .reason = "max_turns"};
	uint64_t turn;

	for (turn = 0; turn < g->options->max_turns; turn++) {
		struct arena *a = arena_new();
		struct reply reply = {.text = {"", 0}};
		enum model_end asked = MODEL_REFUSED;
		bool refused;
		int r;

		if (a)
			asked = model_ask(&g->model, g->talk, a, &reply, say_note, &end.why);
		else
			(void)error_sys(&end.why, ENOMEM, "a turn");
		r = asked == MODEL_REPLIED ? carry_out(g, &reply) : 0;
		refused = reply.refused;
		arena_free(a);
		if (asked != MODEL_REPLIED) {
			end.status = asked == MODEL_LIMIT ? AGENT_LIMIT : AGENT_REFUSED;
			end.reason = asked == MODEL_LIMIT ? "budget" : "model";
			return end;
		}
		if (r) {
			end.status = r < 0 ? AGENT_FAILED : refused ? AGENT_REFUSED : AGENT_ENDED;
			end.reason = r < 0 ? "memory" : refused ? "refusal" : "done";
			(void)error_set(&end.why, ERROR_DENIED, "%s",
					r < 0 ? "out of memory" : "the model declines to answer");
			return end;
		}
	}
	(void)error_set(&end.why, ERROR_DENIED, "the model went on after %" PRIu64 " turns", turn);
	return end;
}

static int prepare(struct agent *g, struct buf *instruction, struct error *err)
{
	const char *name = g->options->model ? g->options->model : getenv("CORDON_MODEL");
	struct text_shown shown;
	sigset_t children;
	int r;

	if (g->options->command)
		return error_set(err, ERROR_USAGE, "nothing may follow the options");
	if (!name || !name[0])
		return error_set(err, ERROR_USAGE, "no model is named: use --model or the variable CORDON_MODEL");
	r = buf_read_file(instruction, g->options->instruction);
	if (r < 0)
		return error_sys(err, r, "--instruction %s", text_show(&shown, sv_of(g->options->instruction)));
	(void)sigemptyset(&children);
	(void)sigaddset(&children, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &children, &g->mask) < 0)
		return error_sys(err, errno, "signals");
	if (model_find(name, &g->model, err) < 0)
		return -1;
	if (trail_open(&g->trail, g->options->trajectory, err) < 0)
		say_note(err->text);
	g->talk = talk_new(g->model.api, name, buf_view(instruction));
	return g->talk ? 0 : error_sys(err, ENOMEM, "the conversation");
}

int main(int argc, char **argv)
{
	struct agent_options options;
	struct agent g = {.options = &options, .trail = {.fd = -1}};
	struct ending end = {0};
	struct error err = {0};
	AUTO_BUF instruction = {0};

	if (agent_options_asks(argv, "cordon-agent", usage))
		return AGENT_ENDED;
	buf_init(&instruction, INSTRUCTION_MAX);
	if (argc < 1 || agent_options_parse(argv, &options, &err) < 0 || prepare(&g, &instruction, &err) < 0) {
		(void)fprintf(stderr, "cordon-agent: %s\n", err.text);
		return err.kind == ERROR_MISSING ? AGENT_REFUSED : AGENT_FAILED;
	}
	trail_words(&g.trail, "system", sv_of(talk_system));
	trail_words(&g.trail, "user", buf_view(&instruction));
	end = work(&g);
	trail_end(&g.trail, end.reason, end.status == AGENT_ENDED ? "" : end.why.text, end.status);
	if (end.status != AGENT_ENDED)
		(void)fprintf(stderr, "cordon-agent: %s\n", end.why.text);
	trail_close(&g.trail);
	talk_free(g.talk);
	return end.status;
}
