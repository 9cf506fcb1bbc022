/*
 * burden: goes over one limit, and stops by itself at the amount it was given, so that it can also run where nothing
 * limits it.
 *
 *	burden anon MB           touches anonymous memory           "held MB"
 *	burden shared MB         a shared anonymous mapping         "held MB"
 *	burden memfd MB          a memfd that it never maps         "held MB"
 *	burden unseen MB         shared memory that is mapped, and resident nowhere   "held MB"
 *	burden trimmed MB        shared memory of which a page in 4 MB stays mapped    "held MB"
 *	burden leaderless MB     anonymous memory of a thread whose process's first has ended   "held MB"
 *	burden scratch FOLDER MB a file there, deleted and open     "held MB"
 *	burden tables MB         page tables, of memory that is only read   "held MB"
 *	burden locks MB          locks of single bytes of files, which are memory of the kernel's   "held MB"
 *	burden maps MB           mappings of single pages, in many processes: the same   "held MB"
 *	burden tcp MB            data in buffers of connections, 4000 of them at most   "held MB"
 *	burden udp MB            datagrams in receive buffers   "held MB"
 *	burden nameless MB       the same, of sockets that have no address any more   "held MB"
 *	burden corked MB         datagrams that are not sent yet   "held MB"
 *	burden unix MB           data in buffers of UNIX sockets   "held MB"
 *	burden orphans MB        the same, whose senders are closed   "held MB"
 *	burden pipes MB          data in pipes, of 8 KiB each where their user has too many   "held MB"
 *	burden rules MB          rules of Landlock's that nobody is held to   "held MB"
 *	burden sysv MB           System V segments, left detached   "held MB"
 *	burden many N MB         N processes with MB each           "held N*MB"
 *	burden hop N MB          N processes with MB each, which go on in a child every 2 ms, beside 200 others
 *	                         "held N*MB"
 *	burden burn N MS         N threads that spin                "cpu PERCENT of one CPU"
 *	burden forks N           N children at once                 "alive HOW_MANY"
 *	burden bomb N            every process forks on, N at most  (does not end)
 *	burden write FILE MB     one file                           "wrote MB"
 *	burden fill FOLDER MB    files of 16 MB                     "wrote MB"
 *	burden stay SECONDS      ignores every signal it can        "stayed"
 *	burden daemon FILE SECONDS   a double-forked daemon that adds a byte to FILE every 50 ms; itself it stays until
 *	                             then with "stay" as a third argument
 *
 * What it holds it keeps for a second, so that a watcher that looks from time to time has its chance.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MB = 1 << 20, FORKS_MAX = 4096, THREADS_MAX = 64, HOLD_MS = 1000 };

static char chunk[MB];

static int fail(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	return 1;
}

static void nap_ms(long ms)
{
	struct timespec ts = {ms / 1000, ms % 1000 * 1000000};

	(void)nanosleep(&ts, NULL);
}

static long clock_ms(clockid_t id)
{
	struct timespec ts;

	(void)clock_gettime(id, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static int held(int mb)
{
	nap_ms(HOLD_MS);
	printf("held %d\n", mb);
	return 0;
}

static int map_all(int mb, int flags)
{
	int i;

	for (i = 0; i < mb; i++) {
		char *p = mmap(NULL, MB, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return fail("mmap");
		memset(p, 1, MB);
	}
	return 0;
}

static int do_anon(char **arg)
{
	int mb = atoi(arg[0]);

	return map_all(mb, MAP_PRIVATE) == 0 ? held(mb) : 1;
}

static int do_shared(char **arg)
{
	int mb = atoi(arg[0]);

	return map_all(mb, MAP_SHARED) == 0 ? held(mb) : 1;
}

static int write_mb(int fd, int mb)
{
	int i;

	memset(chunk, 1, sizeof(chunk));
	for (i = 0; i < mb; i++)
		if (write(fd, chunk, MB) != MB)
			break;
	return i;
}

static int do_memfd(char **arg)
{
	int mb = atoi(arg[0]), fd = memfd_create("burden", MFD_CLOEXEC);

	if (fd < 0 || write_mb(fd, mb) != mb)
		return fail("memfd");
	return held(mb);
}

static int do_unseen(char **arg)
{
	int mb = atoi(arg[0]), i;
	char *p = mmap(NULL, mb * (size_t)MB, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return fail("mmap");
	for (i = 0; i < mb; i++) {
		memset(p + i * (size_t)MB, 1, MB);
		(void)madvise(p + i * (size_t)MB, MB, MADV_DONTNEED);
	}
	return held(mb);
}

static int do_trimmed(char **arg)
{
	enum { STEP = 4 * MB, PAGE = 4096 };
	int mb = atoi(arg[0]), i;

	for (i = 0; i < mb; i += STEP / MB) {
		char *p = mmap(NULL, STEP, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED)
			return fail("mmap");
		memset(p, 1, STEP);
		(void)munmap(p + PAGE, STEP - PAGE);
	}
	return held(mb);
}

static void *hold_alone(void *mb)
{
	int result;

	nap_ms(100); /* the other is gone, or will be */
	result = map_all(*(int *)mb, MAP_PRIVATE) == 0 ? held(*(int *)mb) : 1;
	(void)fflush(stdout);
	_exit(result);
}

static int do_leaderless(char **arg)
{
	static int mb;
	pthread_t t;

	mb = atoi(arg[0]);
	if (pthread_create(&t, NULL, hold_alone, &mb) != 0)
		return fail("thread");
	(void)syscall(SYS_exit, 0);
	return 1;
}

/* Open, and without a name. */
static int scratch_file(const char *folder)
{
	char path[300];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/scratch-XXXXXX", folder);
	fd = mkstemp(path);
	if (fd >= 0)
		(void)unlink(path);
	return fd;
}

static int do_scratch(char **arg)
{
	int mb = atoi(arg[1]), fd = scratch_file(arg[0]);

	if (fd < 0)
		return fail("scratch");
	return write_mb(fd, mb) == mb ? held(mb) : fail("scratch");
}

/* One page read in 2 MiB needs a table of a page. */
static int do_tables(char **arg)
{
	enum { PAGE = 4096 };
	int mb = atoi(arg[0]);
	size_t n = mb * (size_t)MB / PAGE, i;
	volatile char *p = mmap(NULL, n * 2 * MB, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return fail("mmap");
	(void)madvise((char *)(uintptr_t)p, n * 2 * MB, MADV_NOHUGEPAGE);
	for (i = 0; i < n; i++)
		(void)p[i * 2 * MB];
	return held(mb);
}

static int do_sysv(char **arg)
{
	enum { STEP = 4 };
	int mb = atoi(arg[0]), i, n = 0, result = 0, ids[1024];

	for (i = 0; i < mb && n < 1024 && result == 0; i += STEP) {
		int id = shmget(IPC_PRIVATE, STEP * (size_t)MB, IPC_CREAT | 0600);
		char *p = id < 0 ? NULL : shmat(id, NULL, 0);

		if (id >= 0)
			ids[n++] = id;
		if (!p || p == (char *)-1) {
			result = fail("shm");
			break;
		}
		memset(p, 1, STEP * (size_t)MB);
		(void)shmdt(p);
	}
	if (result == 0)
		result = held(mb);
	/* The host's, in a control run: nothing may stay. */
	while (n > 0)
		(void)shmctl(ids[--n], IPC_RMID, NULL);
	return result;
}

static int do_many(char **arg)
{
	int n = atoi(arg[0]), mb = atoi(arg[1]), i, status, bad = 0;

	for (i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return fail("fork");
		if (pid == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			_exit(map_all(mb, MAP_PRIVATE) == 0 ? (nap_ms(2L * HOLD_MS), 0) : 1);
		}
	}
	while (wait(&status) > 0)
		bad += status != 0;
	if (bad)
		return 1;
	printf("held %d\n", n * mb);
	return 0;
}

static void hop(int mb, long until, int *arrived)
{
	if (map_all(mb, MAP_PRIVATE) != 0)
		_exit(1);
	while (clock_ms(CLOCK_MONOTONIC) < until) {
		nap_ms(2);
		if (fork() > 0)
			_exit(0);
	}
	__atomic_add_fetch(arrived, 1, __ATOMIC_RELAXED);
	_exit(0);
}

static int do_hop(char **arg)
{
	enum { BESIDE = 200 };
	int n = atoi(arg[0]), mb = atoi(arg[1]), i;
	long until = clock_ms(CLOCK_MONOTONIC) + 8L * HOLD_MS;
	int *arrived = mmap(NULL, sizeof(*arrived), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (arrived == MAP_FAILED)
		return fail("mmap");
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	(void)signal(SIGCHLD, SIG_IGN);
	for (i = 0; i < BESIDE + n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return fail("fork");
		if (pid == 0 && i >= BESIDE)
			hop(mb, until, arrived);
		if (pid == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			nap_ms(9L * HOLD_MS);
			_exit(0);
		}
	}
	while (__atomic_load_n(arrived, __ATOMIC_RELAXED) < n && clock_ms(CLOCK_MONOTONIC) < until + 5L * HOLD_MS)
		nap_ms(50);
	printf("%s %d\n", *arrived == n ? "held" : "lost some of", n * mb);
	return *arrived != n;
}

static void *spin(void *until)
{
	volatile unsigned long n = 0;

	while (clock_ms(CLOCK_MONOTONIC) < *(long *)until)
		n++;
	return NULL;
}

static int do_burn(char **arg)
{
	int n = atoi(arg[0]), i;
	long start = clock_ms(CLOCK_MONOTONIC), until = start + atol(arg[1]);
	pthread_t t[THREADS_MAX];

	for (i = 0; i < n && i < THREADS_MAX; i++)
		if (pthread_create(&t[i], NULL, spin, &until) != 0)
			return fail("thread");
	while (i > 0)
		(void)pthread_join(t[--i], NULL);
	printf("cpu %ld\n", clock_ms(CLOCK_PROCESS_CPUTIME_ID) * 100 / (clock_ms(CLOCK_MONOTONIC) - start));
	return 0;
}

static int do_forks(char **arg)
{
	int n = atoi(arg[0]), alive = 0;
	pid_t pids[FORKS_MAX];

	while (alive < n && alive < FORKS_MAX) {
		pid_t pid = fork();

		if (pid < 0)
			break;
		if (pid == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			pause();
			_exit(0);
		}
		pids[alive++] = pid;
	}
	printf("alive %d\n", alive);
	fflush(stdout);
	nap_ms(200);
	while (alive > 0)
		(void)kill(pids[--alive], SIGKILL);
	while (wait(NULL) > 0)
		;
	return 0;
}

enum { KERNEL_EACH = 192 }; /* bytes that the kernel takes for a lock, or a mapping */

static int do_locks(char **arg)
{
	enum { OF_A_FILE = 1000 }; /* the kernel looks through those of a file each time */
	int mb = atoi(arg[0]), fd = -1;
	long n = mb * (long)MB / KERNEL_EACH, i;

	for (i = 0; i < n; i++) {
		/* not side by side, or they would become one */
		struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 2 * (n - i), .l_len = 1};

		if (i % OF_A_FILE == 0)
			fd = scratch_file("/tmp");
		if (fd < 0 || fcntl(fd, F_SETLK, &lock) < 0)
			return fail("locks");
	}
	return held(mb);
}

static int do_maps(char **arg)
{
	enum { OF_A_PROCESS = 60000, PAGE = 4096 };
	int mb = atoi(arg[0]), i, n = mb * (int)(MB / KERNEL_EACH) / OF_A_PROCESS;
	char *p =
		mmap(NULL, OF_A_PROCESS * (size_t)PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return fail("mmap");
	for (i = 0; i < OF_A_PROCESS; i += 2)
		if (mprotect(p + i * (size_t)PAGE, PAGE, PROT_READ) < 0)
			return fail("mprotect");
	for (i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return fail("fork");
		if (pid == 0) {
			(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
			pause();
			_exit(0);
		}
	}
	nap_ms(4 * HOLD_MS); /* who counts them takes a while */
	return held(mb);
}

/* Both ways, until neither takes more. */
static size_t stuff(int a, int b)
{
	size_t n = 0;
	ssize_t r;
	int i;

	for (i = 0; i < 400; i++) {
		r = send(i % 2 ? a : b, chunk, 65536, MSG_DONTWAIT);
		n += r > 0 ? (size_t)r : 0;
		if (r < 0 && i > 20)
			break;
	}
	return n;
}

static int do_tcp(char **arg)
{
	enum { CONNECTIONS = 4000, OF_A_PROCESS = 400 };
	int mb = atoi(arg[0]), i, s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t len = sizeof(at);
	size_t *sum = mmap(NULL, sizeof(*sum), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (sum == MAP_FAILED || s < 0 || bind(s, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(s, 16) < 0 ||
	    getsockname(s, (struct sockaddr *)&at, &len) < 0)
		return fail("listen");
	for (i = 0; i < CONNECTIONS && *sum < mb * (size_t)MB; i++) {
		int a, b;

		/* each has its own table of descriptors; the one before keeps what it has open */
		if (i && i % OF_A_PROCESS == 0) {
			if (fork() != 0) {
				int status = 1;

				(void)wait(&status);
				_exit(status != 0);
			}
			for (a = s + 1; a <= s + 2 * OF_A_PROCESS; a++)
				(void)close(a);
		}
		a = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (a < 0 || connect(a, (struct sockaddr *)&at, sizeof(at)) < 0)
			return fail("connect");
		b = accept(s, NULL, NULL);
		if (b < 0)
			return fail("accept");
		*sum += stuff(a, b);
	}
	if (*sum >= mb * (size_t)MB)
		return held(mb);
	nap_ms(HOLD_MS);
	printf("queued %zu\n", *sum / MB);
	return 1;
}

/* How many bytes one more of something holds; 0: there are no more of it here, with errno. */
typedef long fill_fn(void);

/* Each process has its own table of descriptors; all stay until the last has what it shall have. */
static int fill_all(int mb, fill_fn *fill)
{
	enum { PROCESSES = 40 };
	long want = mb * (long)MB, one;
	long *sum = mmap(NULL, sizeof(*sum), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct rlimit files;
	int i, fd, n, status = 1;
	pid_t pid;

	if (sum == MAP_FAILED || getrlimit(RLIMIT_NOFILE, &files) < 0)
		return fail("begin");
	files.rlim_cur = files.rlim_max < 4096 ? files.rlim_max : 4096;
	(void)setrlimit(RLIMIT_NOFILE, &files);
	for (i = 0; i < PROCESSES; i++) {
		for (n = 0; *sum < want && (one = fill()) > 0; n++)
			*sum += one;
		if (*sum >= want)
			return held(mb);
		if (n == 0)
			return fail("none");
		pid = fork();
		if (pid < 0)
			return fail("fork");
		if (pid > 0) {
			(void)waitpid(pid, &status, 0);
			_exit(status != 0);
		}
		for (fd = 3; fd < 4096; fd++)
			(void)close(fd);
	}
	printf("queued %ld\n", *sum / MB);
	return 1;
}

static long queued_in(int s)
{
	uint32_t memory[9] = {0}; /* SO_MEMINFO: what was received, and what is to be sent */
	socklen_t len = sizeof(memory);

	return getsockopt(s, SOL_SOCKET, 55, memory, &len) < 0 ? 0 : (long)memory[0] + (long)memory[2];
}

/* To itself. */
static int talk_to_itself(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = 9, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), most = 1 << 30, i;
	socklen_t len = sizeof(at);

	/* takes an address of its own, which connecting away again gives back */
	if (s < 0 || connect(s, (struct sockaddr *)&at, len) < 0 || getsockname(s, (struct sockaddr *)&at, &len) < 0 ||
	    connect(s, (struct sockaddr *)&at, len) < 0)
		return -1;
	(void)setsockopt(s, SOL_SOCKET, SO_RCVBUF, &most, sizeof(most));
	/* what does not fit is dropped */
	for (i = 0; i < 32; i++)
		(void)send(s, chunk, 30000, MSG_DONTWAIT);
	return s;
}

static long fill_udp(void)
{
	int s = talk_to_itself();

	return s < 0 ? 0 : queued_in(s);
}

static long fill_nameless(void)
{
	const struct sockaddr nobody = {.sa_family = AF_UNSPEC};
	int s = talk_to_itself();

	return s < 0 || connect(s, &nobody, sizeof(nobody)) < 0 ? 0 : queued_in(s);
}

static long fill_corked(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = 9, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int s = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return s < 0 || sendto(s, chunk, 65000, MSG_MORE, (struct sockaddr *)&at, sizeof(at)) < 0 ? 0 : queued_in(s);
}

static long fill_unix(void)
{
	int pair[2];

	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ? 0 : (long)stuff(pair[0], pair[1]);
}

static long fill_orphans(void)
{
	int pair[2];
	long n = 0;
	ssize_t r;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return 0;
	while ((r = send(pair[0], chunk, 32768, MSG_DONTWAIT)) > 0)
		n += r;
	(void)close(pair[0]);
	return n;
}

static long fill_pipes(void)
{
	long n = 0;
	ssize_t r;
	int pair[2];

	if (pipe2(pair, O_NONBLOCK | O_CLOEXEC) < 0)
		return 0;
	while ((r = write(pair[1], chunk, 4096)) > 0)
		n += r;
	return n;
}

/* As many as it has ports; each takes some hundred bytes. */
static long fill_rules(void)
{
	enum { CREATE = 444, ADD = 445, RULE_NET_PORT = 2, CONNECT_TCP = 2, EACH = 96, PORTS = 65536 };
	const uint64_t ruleset[2] = {0, CONNECT_TCP};
	int fd = (int)syscall(CREATE, ruleset, sizeof(ruleset), 0);
	uint64_t rule[2] = {CONNECT_TCP, 0};

	while (fd >= 0 && rule[1] < PORTS && syscall(ADD, fd, RULE_NET_PORT, rule, 0) == 0)
		rule[1]++;
	return (long)rule[1] * EACH;
}

static int do_udp(char **arg)
{
	return fill_all(atoi(arg[0]), fill_udp);
}

static int do_nameless(char **arg)
{
	return fill_all(atoi(arg[0]), fill_nameless);
}

static int do_corked(char **arg)
{
	return fill_all(atoi(arg[0]), fill_corked);
}

static int do_unix(char **arg)
{
	return fill_all(atoi(arg[0]), fill_unix);
}

static int do_orphans(char **arg)
{
	return fill_all(atoi(arg[0]), fill_orphans);
}

static int do_pipes(char **arg)
{
	return fill_all(atoi(arg[0]), fill_pipes);
}

static int do_rules(char **arg)
{
	return fill_all(atoi(arg[0]), fill_rules);
}

static int do_bomb(char **arg)
{
	int *born = mmap(NULL, sizeof(*born), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
	    n = atoi(arg[0]);

	if (born == MAP_FAILED)
		return fail("mmap");
	(void)signal(SIGTERM, SIG_IGN);
	for (;;) {
		if (__atomic_load_n(born, __ATOMIC_RELAXED) >= n)
			nap_ms(10);
		else if (fork() == 0)
			__atomic_add_fetch(born, 1, __ATOMIC_RELAXED);
	}
	return 0;
}

static int do_write(char **arg)
{
	int mb = atoi(arg[1]), fd = open(arg[0], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), n;

	(void)signal(SIGXFSZ, SIG_IGN);
	if (fd < 0)
		return fail("open");
	n = write_mb(fd, mb);
	printf("wrote %d\n", n);
	return n != mb;
}

static int do_fill(char **arg)
{
	enum { FILE_MB = 16 };
	int mb = atoi(arg[1]), done = 0, n = FILE_MB, i;
	char path[300];

	for (i = 0; done < mb && n == FILE_MB; i++) {
		int fd;

		(void)snprintf(path, sizeof(path), "%s/fill-%d", arg[0], i);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (fd < 0)
			break;
		n = write_mb(fd, mb - done < FILE_MB ? mb - done : FILE_MB);
		(void)close(fd);
		done += n;
	}
	printf("wrote %d\n", done);
	return done < mb;
}

static int do_stay(char **arg)
{
	long until = clock_ms(CLOCK_MONOTONIC) + atol(arg[0]) * 1000;
	int sig;

	for (sig = 1; sig < 65; sig++)
		(void)signal(sig, SIG_IGN);
	while (clock_ms(CLOCK_MONOTONIC) < until)
		nap_ms(50);
	puts("stayed");
	return 0;
}

static int do_daemon(char **arg)
{
	long until = clock_ms(CLOCK_MONOTONIC) + atol(arg[1]) * 1000;
	pid_t pid = fork();
	int fd;

	if (pid > 0) {
		(void)waitpid(pid, NULL, 0);
		while (arg[2] && clock_ms(CLOCK_MONOTONIC) < until)
			nap_ms(50);
		return 0;
	}
	(void)setsid();
	if (fork() != 0)
		_exit(0);
	(void)signal(SIGTERM, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	fd = open(arg[0], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	while (clock_ms(CLOCK_MONOTONIC) < until && write(fd, ".", 1) == 1)
		nap_ms(50);
	_exit(0);
}

static const struct {
	const char *name;
	int args;
	int (*run)(char **arg);
} modes[] = {
	{"anon", 1, do_anon},       {"shared", 1, do_shared},
	{"memfd", 1, do_memfd},     {"sysv", 1, do_sysv},
	{"unseen", 1, do_unseen},   {"tables", 1, do_tables},
	{"trimmed", 1, do_trimmed}, {"leaderless", 1, do_leaderless},
	{"scratch", 2, do_scratch}, {"locks", 1, do_locks},
	{"maps", 1, do_maps},       {"tcp", 1, do_tcp},
	{"udp", 1, do_udp},         {"nameless", 1, do_nameless},
	{"corked", 1, do_corked},   {"unix", 1, do_unix},
	{"orphans", 1, do_orphans}, {"pipes", 1, do_pipes},
	{"rules", 1, do_rules},     {"many", 2, do_many},
	{"hop", 2, do_hop},         {"burn", 2, do_burn},
	{"forks", 1, do_forks},     {"bomb", 1, do_bomb},
	{"write", 2, do_write},     {"fill", 2, do_fill},
	{"stay", 1, do_stay},       {"daemon", 2, do_daemon},
};

int main(int argc, char **argv)
{
	size_t i;

	for (i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(argv[1], modes[i].name) == 0 && argc - 2 >= modes[i].args)
			return modes[i].run(argv + 2);
	fprintf(stderr, "burden: see the top of burden.c\n");
	return 2;
}
