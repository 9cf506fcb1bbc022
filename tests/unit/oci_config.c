#include "sandbox/oci/oci_config.h"

#include <jansson.h>
#include <sys/resource.h>

#include "base/cleanup.h"
#include "check.h"
#include "sandbox/oci/oci.h"
#include "sandbox/oci/oci_kill.h"
#include "sandbox/oci/oci_said.h"

static struct box_mount mounts[] = {
	{.kind = BOX_BIND, .source = "/nonexistent/usr", .target = "/usr", .folder = true},
	{.kind = BOX_PROC, .target = "/proc", .folder = true, .writable = true},
	{.kind = BOX_PTS, .target = "/dev/pts", .folder = true, .writable = true},
	{.kind = BOX_TMPFS, .target = "/tmp", .folder = true, .writable = true, .mode = 01777, .size = 4096},
	{.kind = BOX_SHM,
	 .target = "/dev/shm",
	 .folder = true,
	 .writable = true,
	 .no_exec = true,
	 .mode = 01777,
	 .size = 8192},
	{.kind = BOX_BIND,
	 .source = "/nonexistent/w \"q\"\n\\u\t\xc3\xa9",
	 .target = "/w \"q\"\n\\u\t\xc3\xa9",
	 .folder = true,
	 .writable = true},
	{.kind = BOX_BIND, .source = "/nonexistent/mask", .target = "/usr/.env"},
	{.kind = BOX_MASK, .target = "/proc/kallsyms"},
	{.kind = BOX_BIND, .source = "/nonexistent/run", .target = BOX_DIR, .folder = true, .no_exec = true},
	{.kind = BOX_BIND, .source = "/nonexistent/cordon-init", .target = BOX_INIT},
};
enum { USR, PROC, PTS, TMP, SHM, ODD, COVER, MASK, RUN, INIT, MOUNTS };

static const struct box_ids mapped = {
	.user = BOX_USER_BECOME, .inside = 1000, .host = 1904194404, .host_init = 1900000100, .mapped = true};
static const struct box_ids nested = {
	.user = BOX_USER_NESTED, .inside = 1000, .host = 501, .host_init = 501, .mapped = true};
static const struct box_ids plain = {.user = BOX_USER_IS, .inside = 0, .host = 501, .host_init = 501};

static json_t *document_of(const char *runtime, const struct box_ids *ids, const struct box_join *join)
{
	struct plan plan = {0};
	struct box b = {.plan = &plan,
			.ids = *ids,
			.mounts = mounts,
			.n_mounts = MOUNTS,
			.id = "01234567",
			.dir = "/nonexistent",
			.join = *join};
	struct error err = {0};
	AUTO_BUF text = {0};
	json_t *doc;

	buf_init(&text, OCI_CONFIG_MAX);
	CHECK(oci_config_write(&b, oci_runtime_find(runtime), &text, &err) == 0);
	doc = json_loadb(text.p ? text.p : "", text.n, JSON_REJECT_DUPLICATES, NULL);
	CHECK(doc != NULL);
	return doc;
}

static json_t *document(const char *runtime, const struct box_ids *ids)
{
	return document_of(runtime, ids, &(struct box_join){0});
}

static json_t *at(json_t *doc, const char *a, const char *b)
{
	return json_object_get(json_object_get(doc, a), b);
}

static bool has(json_t *list, const char *text)
{
	json_t *v;
	size_t i;

	json_array_foreach (list, i, v)
		if (json_is_string(v) && strcmp(json_string_value(v), text) == 0)
			return true;
	return false;
}

static const char *text(json_t *v)
{
	return json_string_value(v);
}

/* mounts[i] of the box in the document: what the runtime makes of its own comes first. */
static json_t *mount_of(json_t *doc, const char *target)
{
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(doc, "mounts"), i, v)
		if (strcmp(text(json_object_get(v, "destination")), target) == 0)
			return v;
	CHECK_STR("a mount is missing", target);
	return NULL;
}

static void only_cordon_init_is_started_and_nothing_of_the_command_is_said(void)
{
	json_t *doc = document("runc", &mapped), *process = json_object_get(doc, "process"),
	       *args = json_object_get(process, "args");

	CHECK(json_array_size(args) == 3);
	CHECK_STR(text(json_array_get(args, 0)), "/run/cordon/init");
	CHECK_STR(text(json_array_get(args, 1)), "--control");
	CHECK_STR(text(json_array_get(args, 2)), "/run/cordon/control");
	CHECK(json_is_array(json_object_get(process, "env")) && json_array_size(json_object_get(process, "env")) == 0);
	CHECK_STR(text(json_object_get(process, "cwd")), "/");
	CHECK(json_is_false(json_object_get(process, "terminal")));
	CHECK(json_is_true(json_object_get(process, "noNewPrivileges")));
	CHECK(json_is_true(at(doc, "root", "readonly")));
	json_decref(doc);
}

static void capabilities_are_few_and_the_same_in_all_sets(void)
{
	static const char *const sets[] = {"bounding", "effective", "permitted", "inheritable", "ambient"};
	static const struct {
		const struct box_ids *ids;
		size_t n;
		const char *one, *not;
	} rows[] = {{&mapped, 7, "CAP_SYS_RESOURCE", "CAP_SETFCAP"},
		    {&nested, 6, "CAP_SETFCAP", "CAP_SETUID"},
		    {&plain, 4, "CAP_KILL", "CAP_SYS_RESOURCE"}};
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		json_t *doc = document("crun", rows[i].ids), *caps = at(doc, "process", "capabilities");

		for (k = 0; k < ARRAY_LEN(sets); k++) {
			json_t *set = json_object_get(caps, sets[k]);

			CHECK(json_array_size(set) == rows[i].n && has(set, rows[i].one) && !has(set, rows[i].not ) &&
			      !has(set, "CAP_SYS_ADMIN"));
		}
		json_decref(doc);
	}
}

static void descriptors_are_limited_as_ours_are(void)
{
	json_t *doc = document("runc", &mapped), *limit = json_array_get(at(doc, "process", "rlimits"), 0);
	struct rlimit l;

	CHECK(getrlimit(RLIMIT_NOFILE, &l) == 0);
	CHECK(json_integer_value(json_object_get(limit, "soft")) == (json_int_t)l.rlim_cur);
	CHECK(json_integer_value(json_object_get(limit, "hard")) == (json_int_t)l.rlim_max);
	json_decref(doc);
}

static void mounts_keep_their_order_behind_a_dev_of_the_runtimes_own(void)
{
	json_t *doc = document("runc", &mapped), *list = json_object_get(doc, "mounts");
	static const int order[] = {USR, PROC, PTS, TMP, SHM, ODD, COVER, RUN, INIT};
	size_t i;

	CHECK(json_array_size(list) == ARRAY_LEN(order) + 1);
	CHECK_STR(text(json_object_get(json_array_get(list, 0), "destination")), "/dev");
	CHECK(has(json_object_get(json_array_get(list, 0), "options"), "ro"));
	for (i = 0; i < ARRAY_LEN(order); i++)
		CHECK_STR(text(json_object_get(json_array_get(list, i + 1), "destination")), mounts[order[i]].target);
	json_decref(doc);
}

static void what_is_not_writable_is_read_only_with_all_below_it(void)
{
	json_t *doc = document("runc", &mapped), *usr = json_object_get(mount_of(doc, "/usr"), "options"),
	       *odd = json_object_get(mount_of(doc, mounts[ODD].target), "options"),
	       *cover = json_object_get(mount_of(doc, "/usr/.env"), "options"),
	       *run = json_object_get(mount_of(doc, BOX_DIR), "options"),
	       *init = json_object_get(mount_of(doc, BOX_INIT), "options");

	CHECK(has(usr, "rbind") && has(usr, "ro") && has(usr, "rro") && has(usr, "nosuid") && has(usr, "rnosuid") &&
	      has(usr, "nodev") && has(usr, "rnodev") && !has(usr, "noexec"));
	CHECK(has(odd, "rbind") && !has(odd, "ro") && !has(odd, "rro") && has(odd, "nosuid") && has(odd, "nodev"));
	CHECK(has(cover, "bind") && has(cover, "ro") && !has(cover, "rbind"));
	CHECK(has(run, "ro") && has(run, "noexec"));
	CHECK(has(init, "bind") && has(init, "ro") && !has(init, "noexec"));
	json_decref(doc);
}

static void scratch_space_has_its_size_and_mode(void)
{
	json_t *doc = document("crun", &mapped), *tmp = mount_of(doc, "/tmp"), *shm = mount_of(doc, "/dev/shm");

	CHECK_STR(text(json_object_get(tmp, "type")), "tmpfs");
	CHECK(has(json_object_get(tmp, "options"), "size=4096") && has(json_object_get(tmp, "options"), "mode=1777") &&
	      !has(json_object_get(tmp, "options"), "noexec"));
	CHECK(has(json_object_get(shm, "options"), "size=8192") && has(json_object_get(shm, "options"), "noexec") &&
	      has(json_object_get(shm, "options"), "nodev"));
	json_decref(doc);
}

static void odd_bytes_of_a_path_arrive_as_they_are(void)
{
	json_t *doc = document("runc", &mapped), *odd = mount_of(doc, mounts[ODD].target);

	CHECK_STR(text(json_object_get(odd, "source")), mounts[ODD].source);
	json_decref(doc);
}

static void a_path_that_json_cannot_hold_is_refused(void)
{
	static const char *const bad[] = {"/a\xff", "/a\xc3", "/\xed\xa0\x80", "/\xc0\xaf"};
	struct box_mount m[] = {{.kind = BOX_BIND, .folder = true}};
	struct plan plan = {0};
	struct box b = {.plan = &plan, .ids = mapped, .mounts = m, .n_mounts = 1};
	size_t i;

	for (i = 0; i < 2 * ARRAY_LEN(bad); i++) {
		struct error err = {0};
		AUTO_BUF out = {0};

		buf_init(&out, OCI_CONFIG_MAX);
		m[0].source = i % 2 ? bad[i / 2] : "/a";
		m[0].target = i % 2 ? "/a" : bad[i / 2];
		CHECK(oci_config_write(&b, oci_runtime_find("runc"), &out, &err) < 0);
		CHECK(err.kind == ERROR_INPUT && strstr(err.text, "\\x") && strstr(err.text, "UTF-8"));
	}
}

static bool has_namespace(json_t *doc, const char *type)
{
	json_t *v;
	size_t i;

	json_array_foreach (at(doc, "linux", "namespaces"), i, v)
		if (strcmp(text(json_object_get(v, "type")), type) == 0)
			return json_object_get(v, "path") == NULL;
	return false;
}

static void every_namespace_is_new(void)
{
	static const char *const types[] = {"pid", "mount", "ipc", "uts", "network", "cgroup"};
	json_t *with = document("runc", &mapped), *without = document("gvisor", &plain);
	size_t i;

	for (i = 0; i < ARRAY_LEN(types); i++)
		CHECK(has_namespace(with, types[i]) && has_namespace(without, types[i]));
	CHECK(has_namespace(with, "user") && !has_namespace(without, "user"));
	CHECK(!at(without, "linux", "uidMappings"));
	json_decref(with);
	json_decref(without);
}

static void a_member_has_its_leaders_network_and_no_power_over_it(void)
{
	json_t *own = document_of("runc", &mapped, &(struct box_join){.id = "89abcdef", .net = 7}),
	       *guest = document_of("gvisor", &plain, &(struct box_join){.id = "89abcdef", .net = -1});
	json_t *network = json_array_get(at(own, "linux", "namespaces"), 0);

	CHECK_STR(text(json_object_get(network, "type")), "network");
	CHECK_STR(text(json_object_get(network, "path")), "/nonexistent/network");
	CHECK(has_namespace(own, "user") && has_namespace(own, "pid") && has_namespace(own, "ipc") &&
	      !json_object_get(own, "annotations"));
	CHECK(has_namespace(guest, "network"));
	CHECK_STR(text(at(guest, "annotations", "io.kubernetes.cri.container-type")), "container");
	CHECK_STR(text(at(guest, "annotations", "io.kubernetes.cri.sandbox-id")), "cordon-89abcdef");
	CHECK(!has(json_object_get(at(own, "process", "capabilities"), "bounding"), "CAP_NET_ADMIN") &&
	      !has(json_object_get(at(guest, "process", "capabilities"), "bounding"), "CAP_NET_ADMIN"));
	CHECK(!at(own, "linux", "sysctl"));
	json_decref(own);
	json_decref(guest);
}

static json_int_t mapping(json_t *doc, const char *kind, size_t i, const char *key)
{
	return json_integer_value(json_object_get(json_array_get(at(doc, "linux", kind), i), key));
}

static void ids_are_mapped_one_by_one(void)
{
	static const char *const kinds[] = {"uidMappings", "gidMappings"};
	json_t *two = document("runc", &mapped), *one = document("runc", &nested);
	size_t i;

	for (i = 0; i < 2; i++) {
		CHECK(json_array_size(at(two, "linux", kinds[i])) == 2 &&
		      json_array_size(at(one, "linux", kinds[i])) == 1);
		CHECK(mapping(two, kinds[i], 0, "containerID") == 0 &&
		      mapping(two, kinds[i], 0, "hostID") == 1900000100 && mapping(two, kinds[i], 0, "size") == 1);
		CHECK(mapping(two, kinds[i], 1, "containerID") == 1000 &&
		      mapping(two, kinds[i], 1, "hostID") == 1904194404 && mapping(two, kinds[i], 1, "size") == 1);
		CHECK(mapping(one, kinds[i], 0, "containerID") == 0 && mapping(one, kinds[i], 0, "hostID") == 501);
	}
	json_decref(two);
	json_decref(one);
}

static void the_kernels_surface_is_covered_where_it_is_the_hosts(void)
{
	json_t *doc = document("crun", &mapped), *own = document("gvisor", &plain),
	       *seccomp = at(doc, "linux", "seccomp");
	json_t *names = json_object_get(json_array_get(json_object_get(seccomp, "syscalls"), 0), "names");

	CHECK(has(at(doc, "linux", "maskedPaths"), "/proc/kallsyms") &&
	      has(at(doc, "linux", "readonlyPaths"), "/proc/sys/kernel") &&
	      !has(at(doc, "linux", "readonlyPaths"), "/proc/sys/user"));
	CHECK(json_array_size(json_object_get(seccomp, "architectures")) == 1);
	CHECK(has(names, "kexec_load") && has(names, "bpf") && has(names, "io_uring_setup") &&
	      has(names, "open_by_handle_at") && has(names, "keyctl"));
	CHECK(!has(names, "unshare") && !has(names, "seccomp") && !has(names, "execve")); /* cordon-init's tools */
	CHECK(!at(own, "linux", "seccomp") && !at(own, "linux", "maskedPaths"));
	json_decref(doc);
	json_decref(own);
}

static void a_runtime_is_told_nothing_of_cgroups_and_hooks(void)
{
	json_t *doc = document("runc", &mapped);

	CHECK(!at(doc, "linux", "resources") && !at(doc, "linux", "cgroupsPath") && !json_object_get(doc, "hooks") &&
	      !json_object_get(doc, "annotations") && !at(doc, "linux", "devices"));
	json_decref(doc);
}

static void programs_are_looked_for_in_folders_of_the_system_only(void)
{
	static const char *const names[] = {"gvisor", "runc", "crun"};
	const struct oci_runtime *r;
	size_t i, k;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		r = oci_runtime_find(names[i]);
		CHECK(r && r->paths[0]);
		for (k = 0; r && r->paths[k]; k++)
			CHECK(strncmp(r->paths[k], "/usr/", 5) == 0 || strncmp(r->paths[k], "/sbin/", 6) == 0 ||
			      strncmp(r->paths[k], "/bin/", 5) == 0);
	}
	CHECK(!oci_runtime_find("docker") && !oci_runtime_find(""));
}

static void the_last_error_of_a_log_is_what_was_said(void)
{
	char out[100];

	CHECK(oci_said_log(sv_of("{\"level\":\"error\",\"msg\":\"first\"}\n{\"level\":\"error\",\"msg\":\"second "
				 "\\u001b[31m\\nline\"}\n{\"level\":\"warning\",\"msg\":\"w\"}\n"),
			   out, sizeof(out)));
	CHECK_STR(out, "second \\x1b[31m\\x0aline");
	CHECK(!oci_said_log(sv_of("{\"level\":\"info\",\"msg\":\"x\"}\n"), out, sizeof(out)));
	CHECK(!oci_said_log(sv_of("garbage\n{\"level\":3,\"msg\":[]}\n{\"level\":\"error\"\n"), out, sizeof(out)));
	CHECK(!oci_said_log(sv_of(""), out, sizeof(out)));
	CHECK(oci_said_output(sv_of("a\nlast one\x07\r\n\n"), out, sizeof(out)));
	CHECK_STR(out, "last one\\x07");
	CHECK(!oci_said_output(sv_of("\n \n"), out, sizeof(out)));
	CHECK(oci_said_output(sv_of("why it failed\nW0412 10:11:12.131415   1617 file.go:18] and what it warned of\n"),
			      out, sizeof(out)));
	CHECK_STR(out, "why it failed");
	CHECK(!oci_said_output(sv_of("W0412 10:11:12.131415   1617 file.go:18] nothing else\n"), out, sizeof(out)));
	CHECK(oci_said_output(sv_of("Why\nW041\n"), out, sizeof(out)));
	CHECK_STR(out, "W041");
}

static void a_long_message_is_cut(void)
{
	char line[5000] = "", out[64];

	memset(line, 'x', sizeof(line) - 1);
	CHECK(oci_said_output(sv_of(line), out, sizeof(out)) && strlen(out) == sizeof(out) - 1);
}

static void a_process_is_named_by_its_number_and_its_start(void)
{
	CHECK(oci_started(getpid()) != 0 && oci_started(getpid()) == oci_started(getpid()));
	CHECK(oci_started(0x7ffffff0) == 0);
}

int main(void)
{
	static const struct check_case cases[] = {
		CASE(only_cordon_init_is_started_and_nothing_of_the_command_is_said),
		CASE(capabilities_are_few_and_the_same_in_all_sets),
		CASE(descriptors_are_limited_as_ours_are),
		CASE(mounts_keep_their_order_behind_a_dev_of_the_runtimes_own),
		CASE(what_is_not_writable_is_read_only_with_all_below_it),
		CASE(scratch_space_has_its_size_and_mode),
		CASE(odd_bytes_of_a_path_arrive_as_they_are),
		CASE(a_path_that_json_cannot_hold_is_refused),
		CASE(every_namespace_is_new),
		CASE(a_member_has_its_leaders_network_and_no_power_over_it),
		CASE(ids_are_mapped_one_by_one),
		CASE(the_kernels_surface_is_covered_where_it_is_the_hosts),
		CASE(a_runtime_is_told_nothing_of_cgroups_and_hooks),
		CASE(programs_are_looked_for_in_folders_of_the_system_only),
		CASE(the_last_error_of_a_log_is_what_was_said),
		CASE(a_long_message_is_cut),
		CASE(a_process_is_named_by_its_number_and_its_start),
	};

	return check_main(cases, ARRAY_LEN(cases));
}
