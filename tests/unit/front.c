#include <sys/signalfd.h>
#include <unistd.h>

#include "check.h"
#include "supervise/front.h"

enum { FRONT = 100, SENDER = 200, OTHER = 300, QUEUED = 36 };

static bool heard_direct(struct front_ear *e, uint32_t sig, uint32_t sender, uint64_t now)
{
	struct signalfd_siginfo info = {.ssi_signo = sig, .ssi_code = SI_USER, .ssi_pid = sender};

	return front_heard(e, FRONT, &info, now);
}

static bool heard_passed(struct front_ear *e, uint32_t sig, int sender, uint64_t now)
{
	struct signalfd_siginfo info = {.ssi_signo = sig, .ssi_code = SI_QUEUE, .ssi_pid = FRONT, .ssi_int = sender};

	return front_heard(e, FRONT, &info, now);
}

static void what_was_sent_to_both_is_heard_once(void)
{
	struct front_ear e = {0};

	CHECK(!heard_direct(&e, SIGUSR1, SENDER, 10));
	CHECK(heard_passed(&e, SIGUSR1, SENDER, 11));
	CHECK(!heard_passed(&e, SIGUSR1, SENDER, 12));
	CHECK(heard_direct(&e, SIGUSR1, SENDER, 13));
	CHECK(!heard_direct(&e, SIGUSR1, SENDER, 14));
	CHECK(!heard_passed(&e, SIGUSR1, OTHER, 15));
	CHECK(!heard_direct(&e, SIGUSR1, OTHER, 5000));
}

/* The second to both, of which the kernel may have merged the one that is passed on with the one that was not read yet.
 */
static void what_was_sent_to_the_front_is_no_part_of_what_comes_later(void)
{
	struct front_ear e = {0};

	CHECK(!heard_passed(&e, SIGUSR1, SENDER, 10));
	CHECK(!heard_direct(&e, SIGUSR1, SENDER, 210));
	CHECK(heard_passed(&e, SIGUSR1, SENDER, 900));
}

/* Of those that a kernel merges the supervisor may see two where the front saw one. */
static void what_is_merged_leaves_nothing_to_come(void)
{
	struct front_ear e = {0};

	CHECK(!heard_direct(&e, SIGUSR1, SENDER, 10));
	CHECK(!heard_direct(&e, SIGUSR1, SENDER, 11));
	CHECK(heard_passed(&e, SIGUSR1, SENDER, 12));
	CHECK(!heard_passed(&e, SIGUSR1, SENDER, 13));
}

static void those_that_queue_are_heard_as_often_as_they_were_sent(void)
{
	struct front_ear e = {0};
	int i;

	for (i = 0; i < 3; i++)
		CHECK(!heard_direct(&e, QUEUED, SENDER, 10));
	for (i = 0; i < 3; i++)
		CHECK(heard_passed(&e, QUEUED, SENDER, 11));
	CHECK(!heard_passed(&e, QUEUED, SENDER, 12));
	CHECK(!heard_direct(&e, 64, SENDER, 12) && heard_passed(&e, 64, SENDER, 13));
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(what_was_sent_to_both_is_heard_once),
		CASE(what_was_sent_to_the_front_is_no_part_of_what_comes_later),
		CASE(what_is_merged_leaves_nothing_to_come),
		CASE(those_that_queue_are_heard_as_often_as_they_were_sent),
	};

	return check_main(cases, sizeof(cases) / sizeof(cases[0]));
}
