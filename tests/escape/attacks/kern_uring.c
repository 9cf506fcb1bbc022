/* io_uring makes system calls that no filter sees. */
#include <linux/io_uring.h>

#include "attack.h"

static int setup(const struct scene *s, const struct attack *a)
{
	struct io_uring_params params = {.flags = (uint32_t)a->num};

	return judge(s, syscall(SYS_io_uring_setup, 4, &params), a->name);
}

static int enter(const struct scene *s, const struct attack *a)
{
	return judge_reached(s, syscall(SYS_io_uring_enter, -1, 0, 0, 0, NULL, 0), a->name);
}

static int add_register(const struct scene *s, const struct attack *a)
{
	return judge_reached(s, syscall(SYS_io_uring_register, -1, IORING_REGISTER_PROBE, NULL, 0), a->name);
}

static const struct attack rows[] = {
	{"io-uring-setup", "cannot set up an io_uring", setup},
	{"io-uring-sqpoll", "cannot set up an io_uring with a kernel thread", setup, .num = IORING_SETUP_SQPOLL},
	{"io-uring-enter", "cannot reach io_uring_enter", enter},
	{"io-uring-register", "cannot reach io_uring_register", add_register},
};
ATTACKS("kernel", rows);
