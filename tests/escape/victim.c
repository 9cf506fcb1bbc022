/*
 * victim: a process of the fake host that holds secrets and answers whoever reaches it.
 *
 *   victim FACTS FOLDER KEYFILE ADDRESS TOKEN
 *
 * It listens on UNIX sockets in FOLDER and in the abstract namespace, on TCP and UDP of both loopbacks and of ADDRESS
 * ("" for none), and owns System V and POSIX objects. Every connection is answered with the marker, UNIX ones also with
 * an open file. TOKEN is only there to be seen in argv. What an attacker might find out by guessing (ports, ids, an
 * address in memory) is appended to FACTS, whose last line is "ready=1". Ends, and removes its objects, on SIGTERM and
 * when its parent dies.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MARKER "CORDON-FAKE-SECRET-victim"

enum { MAX_SOCKETS = 32, KEPT = 64 };

struct victim {
	FILE *facts;
	const char *folder;
	int secret; /* fd */
	int shm, sem, msg;
	char mq[64];
	struct pollfd sockets[MAX_SOCKETS];
	nfds_t n;
	int kept[KEPT]; /* connections stay open: closing one with unread bytes would reset it before the answer arrives
			 */
	size_t next;
	char memory[64];
};

static void watch(struct victim *v, int fd)
{
	if (fd >= 0 && v->n < MAX_SOCKETS)
		v->sockets[v->n++] = (struct pollfd){fd, POLLIN, 0};
}

static void listen_unix(struct victim *v, const char *fact, const char *name, int type, int abstract)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	char *path = address.sun_path + abstract;
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	if (abstract)
		(void)snprintf(path, sizeof(address.sun_path) - 1, "cordon-escape-%s-%d", name, getpid());
	else
		(void)snprintf(path, sizeof(address.sun_path), "%s/%s", v->folder, name);
	socklen_t n = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)abstract + strlen(path) + !abstract);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, n) < 0 || (type == SOCK_STREAM && listen(fd, 64) < 0)) {
		perror(path);
		exit(1);
	}
	(void)fprintf(v->facts, "%s=%s\n", fact, path);
	watch(v, fd);
}

/* Port 0 asks for a free one; the answer is used for the other addresses. A missing address is passed over. */
static in_port_t listen_ip(struct victim *v, const char *text, int type, in_port_t port)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = port};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = port};
	int is4 = inet_pton(AF_INET, text, &v4.sin_addr) == 1, one = 1, queue = 16;

	if (!is4 && inet_pton(AF_INET6, text, &v6.sin6_addr) != 1)
		return port;
	socklen_t n = is4 ? sizeof(v4) : sizeof(v6);
	struct sockaddr *address = is4 ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
	int fd = socket(is4 ? AF_INET : AF_INET6, type | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return port;
	if (!is4)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	if (bind(fd, address, n) < 0 || (type == SOCK_STREAM && listen(fd, 64) < 0)) {
		close(fd);
		return port;
	}
	if (type == SOCK_STREAM)
		(void)setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN, &queue, sizeof(queue));
	(void)getsockname(fd, address, &n);
	watch(v, fd);
	return is4 ? v4.sin_port : v6.sin6_port;
}

static void listen_all(struct victim *v, const char *address)
{
	listen_unix(v, "socket", "victim.sock", SOCK_STREAM, 0);
	listen_unix(v, "agent", "agent.sock", SOCK_STREAM, 0);
	listen_unix(v, "bus", "bus", SOCK_STREAM, 0);
	listen_unix(v, "abstract", "stream", SOCK_STREAM, 1);
	listen_unix(v, "datagram", "datagram", SOCK_DGRAM, 0);
	listen_unix(v, "abstract_datagram", "datagram", SOCK_DGRAM, 1);
	for (int udp = 0; udp < 2; udp++) {
		int type = udp ? SOCK_DGRAM : SOCK_STREAM;
		in_port_t port = listen_ip(v, "127.0.0.1", type, 0);
		(void)listen_ip(v, "::1", type, port);
		(void)listen_ip(v, address, type, port);
		(void)fprintf(v->facts, "%s_port=%d\n", udp ? "udp" : "tcp", ntohs(port));
	}
}

static void make_objects(struct victim *v, const char *key)
{
	struct {
		long type;
		char text[64];
	} message = {1, MARKER};

	v->secret = open(key, O_RDONLY | O_CLOEXEC);
	v->shm = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
	void *p = shmat(v->shm, NULL, 0);
	if (p != (void *)-1) /* NOLINT */
		memcpy(p, MARKER, sizeof(MARKER));
	v->sem = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
	(void)semctl(v->sem, 0, SETVAL, 42);
	v->msg = msgget(IPC_PRIVATE, IPC_CREAT | 0600);
	(void)msgsnd(v->msg, &message, sizeof(message.text), IPC_NOWAIT);
	(void)snprintf(v->mq, sizeof(v->mq), "/cordon-escape-%d", getpid());
	(void)mq_open(v->mq, O_RDWR | O_CREAT | O_CLOEXEC, 0600, NULL);
	(void)fprintf(v->facts, "secret_fd=%d\nshm=%d\nsem=%d\nmsg=%d\nmq=%s\n", v->secret, v->shm, v->sem, v->msg,
		      v->mq);
}

static void tell_handle(struct victim *v, const char *key)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u = {.handle = {.handle_bytes = MAX_HANDLE_SZ}};
	int mount;

	if (name_to_handle_at(AT_FDCWD, key, &u.handle, &mount, 0) < 0)
		return;
	(void)fprintf(v->facts, "handle_type=%d\nhandle=", u.handle.handle_type);
	for (unsigned i = 0; i < u.handle.handle_bytes; i++)
		(void)fprintf(v->facts, "%02x", u.handle.f_handle[i]);
	(void)fprintf(v->facts, "\n");
}

/* The marker, and on UNIX sockets the open key file. TCP refuses the control message, and gets the marker alone. */
static void answer(struct victim *v, int listener)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {0};
	char text[] = MARKER "\n";
	struct iovec part = {text, sizeof(text) - 1};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
	struct sockaddr_storage from;
	socklen_t n = sizeof(from);
	char byte;

	int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (fd < 0) {
		if (recvfrom(listener, &byte, 1, MSG_DONTWAIT, (struct sockaddr *)&from, &n) >= 0 &&
		    n > sizeof(sa_family_t))
			(void)sendto(listener, text, sizeof(text) - 1, MSG_DONTWAIT, (struct sockaddr *)&from, n);
		return;
	}
	struct cmsghdr *header = (struct cmsghdr *)control; /* as CMSG_FIRSTHDR, which may be NULL */
	*header =
		(struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(header), &v->secret, sizeof(v->secret));
	if (sendmsg(fd, &message, MSG_NOSIGNAL) < 0)
		(void)send(fd, text, sizeof(text) - 1, MSG_NOSIGNAL);
	(void)shutdown(fd, SHUT_WR);
	if (v->kept[v->next] > 0)
		close(v->kept[v->next]);
	v->kept[v->next] = fd;
	v->next = (v->next + 1) % KEPT;
}

static void serve(struct victim *v)
{
	while (poll(v->sockets, v->n, -1) >= 0) {
		if (v->sockets[0].revents)
			return; /* the signal to end */
		for (nfds_t i = 1; i < v->n; i++) {
			if (v->sockets[i].revents)
				answer(v, v->sockets[i].fd);
		}
	}
}

int main(int argc, char **argv)
{
	struct victim v = {.memory = MARKER};
	sigset_t end;

	if (argc != 6 || !(v.facts = fopen(argv[1], "ae"))) {
		(void)fprintf(stderr, "usage: %s FACTS FOLDER KEYFILE ADDRESS TOKEN\n", argv[0]);
		return 1;
	}
	(void)prctl(PR_SET_NAME, "escape-victim");
	(void)setpgid(0, 0);
	(void)sigemptyset(&end);
	(void)sigaddset(&end, SIGTERM);
	(void)sigprocmask(SIG_BLOCK, &end, NULL);
	watch(&v, signalfd(-1, &end, SFD_CLOEXEC));
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	v.folder = argv[2];
	(void)fprintf(v.facts, "victim=%d\naddress_in_memory=%p\n", getpid(), (void *)v.memory);
	make_objects(&v, argv[3]);
	tell_handle(&v, argv[3]);
	listen_all(&v, argv[4]);
	(void)fprintf(v.facts, "ready=1\n");
	(void)fclose(v.facts);
	serve(&v);
	(void)shmctl(v.shm, IPC_RMID, NULL);
	(void)semctl(v.sem, 0, IPC_RMID);
	(void)msgctl(v.msg, IPC_RMID, NULL);
	(void)mq_unlink(v.mq);
	return 0;
}
