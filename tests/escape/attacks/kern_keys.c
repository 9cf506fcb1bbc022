/* Keyrings have no namespace: they are shared by uid across every sandbox. */
#include <linux/keyctl.h>

#include "attack.h"

static int keyring(const struct scene *s, const struct attack *a)
{
	return judge_reached(s, syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, (int)a->num, 0), a->name);
}

static int join(const struct scene *s, const struct attack *a)
{
	return judge_reached(s, syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL), a->name);
}

static int add(const struct scene *s, const struct attack *a)
{
	return judge_reached(s, syscall(SYS_add_key, "user", "cordon", "x", 1, KEY_SPEC_PROCESS_KEYRING), a->name);
}

static int request(const struct scene *s, const struct attack *a)
{
	return judge_reached(s, syscall(SYS_request_key, "user", "cordon", NULL, 0), a->name);
}

static const struct attack rows[] = {
	{"keyctl-session", "cannot look up the session keyring", keyring, .num = KEY_SPEC_SESSION_KEYRING},
	{"keyctl-user", "cannot look up the user's keyring", keyring, .num = KEY_SPEC_USER_KEYRING},
	{"keyctl-join", "cannot make a keyring", join},
	{"add-key", "cannot add a key", add},
	{"request-key", "cannot request a key", request},
};
ATTACKS("kernel", rows);
