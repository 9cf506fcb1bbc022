/*
 * inside: what the supervisor and PID 1 of a sandbox say to each other. One message a packet, wire.h has the encoding.
 */
#ifndef CORDON_MODEL_INSIDE_H
#define CORDON_MODEL_INSIDE_H

enum inside_message {
	/* supervisor -> PID 1 */
	INSIDE_GO = 1, /* the host's side is ready; once where root maps the ids (fds: id-mapped trees in the order of the plan's ops that want one), once before the workload starts */
	INSIDE_SPAWN,  /* u64 id, u32 tty bits, u32 rows, u32 columns, strings argv, env, sv cwd; fds: stdin, stdout, stderr */
	INSIDE_SIGNAL, /* u64 id, u32 signal */
	/* PID 1 -> supervisor */
	INSIDE_FAILED,	 /* u64 id, u32 error kind, u32 errno, sv text: it was not started; id 0: the sandbox was not made */
	INSIDE_STARTED,	 /* u64 id, u32 pid inside, u32 has terminal; fd: the terminal's master where it has one */
	INSIDE_STOPPED,	 /* u64 id, u32 signal */
	INSIDE_EXITED,	 /* u64 id, u32 wait status, u64 user us, u64 system us, u64 max rss KiB */
	INSIDE_DENIED,	 /* u32 domain, sv rule, sv text */
	INSIDE_UPPER,	 /* fd: the folder that holds what the run changes in its copy of the work folder */
	/* a client (`cordon exec`, `cordon stop`) -> supervisor; it may also send SPAWN (its id and env are passed over) and SIGNAL */
	INSIDE_STOP,	 /* u32 grace in milliseconds */
};

#endif
