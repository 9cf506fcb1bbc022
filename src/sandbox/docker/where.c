#include "sandbox/docker/where.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/sha256.h"
#include "base/text.h"

enum { CONFIG_MAX = 1 << 20 };

/* An empty variable counts as absent, as for docker. */
static const char *variable(char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (; env && *env; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return (*env)[n + 1] ? *env + n + 1 : NULL;
	return NULL;
}

static int take_path(const char *path, char **ret, struct error *err)
{
	*ret = strdup(path);
	return *ret ? 0 : error_set(err, ERROR_SYSTEM, "out of memory");
}

/* "unix:///run/docker.sock". from says who wants it. */
static int take_endpoint(const char *endpoint, const char *from, char **ret, struct error *err)
{
	struct text_shown shown;
	const char *path;

	if (strncmp(endpoint, "unix://", 7) != 0)
		return error_set(err, ERROR_INPUT,
				 "%s is \"%s\": the runtime docker needs an engine on this machine, at unix:///PATH, "
				 "for it shows folders of this machine",
				 from, text_show(&shown, sv_of(endpoint)));
	path = endpoint + 7;
	if (path[0] != '/' || strlen(path) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
		return error_set(err, ERROR_INPUT, "%s is \"%s\": that is no absolute path of a socket", from,
				 text_show(&shown, sv_of(endpoint)));
	return take_path(path, ret, err);
}

static int read_json(const char *path, json_t **ret, struct error *err)
{
	AUTO_BUF b = {0};
	json_error_t why;
	struct text_shown shown;
	int r;

	buf_init(&b, CONFIG_MAX);
	r = buf_read_file(&b, path);
	if (r < 0)
		return error_sys(err, r, "%s", text_show(&shown, sv_of(path)));
	*ret = json_loadb(b.p ? b.p : "", b.n, 0, &why);
	return *ret ? 0 : error_set(err, ERROR_INPUT, "%s:%d: not JSON", text_show(&shown, sv_of(path)), why.line);
}

/* currentContext of config.json; *ret NULL: it names none, or there is no such file. free() it. */
static int current_context(const char *config, char **ret, struct error *err)
{
	AUTO_FREE char *path = NULL;
	json_t *root = NULL;
	const char *name;
	int r;

	if (asprintf(&path, "%s/config.json", config) < 0)
		return path = NULL, error_set(err, ERROR_SYSTEM, "out of memory");
	if (read_json(path, &root, err) < 0) {
		if (err->code != ENOENT && err->code != ENOTDIR)
			return -1;
		*err = (struct error){0};
		return 0;
	}
	name = json_string_value(json_object_get(root, "currentContext"));
	r = name && *name ? take_path(name, ret, err) : 0;
	json_decref(root);
	return r;
}

/* Docker keeps a context in a folder named after the digest of its name. */
static int context_endpoint(const char *config, const char *name, char **ret, struct error *err)
{
	AUTO_FREE char *path = NULL;
	char digest[SHA256_HEX], from[256];
	struct text_shown shown;
	json_t *root = NULL;
	const char *endpoint;
	int r;

	sha256_hex_of(sv_of(name), digest);
	(void)snprintf(from, sizeof(from), "the endpoint of Docker's context %s", text_show(&shown, sv_of(name)));
	if (asprintf(&path, "%s/contexts/meta/%s/meta.json", config, digest) < 0)
		return path = NULL, error_set(err, ERROR_SYSTEM, "out of memory");
	if (read_json(path, &root, err) < 0)
		return error_prefix(err, "Docker's context %s", text_show(&shown, sv_of(name)));
	endpoint = json_string_value(
		json_object_get(json_object_get(json_object_get(root, "Endpoints"), "docker"), "Host"));
	r = endpoint ? take_endpoint(endpoint, from, ret, err)
		     : error_set(err, ERROR_INPUT, "%s is not in %s", from, text_show(&shown, sv_of(path)));
	json_decref(root);
	return r;
}

int where_is_docker(char *const *env, char **ret, struct error *err)
{
	const char *host = variable(env, "DOCKER_HOST"), *config = variable(env, "DOCKER_CONFIG"),
		   *home = variable(env, "HOME");
	const char *context = variable(env, "DOCKER_CONTEXT");
	AUTO_FREE char *own_config = NULL;
	AUTO_FREE char *current = NULL;

	if (host)
		return take_endpoint(host, "DOCKER_HOST", ret, err);
	if (!config && home) {
		if (asprintf(&own_config, "%s/.docker", home) < 0)
			return own_config = NULL, error_set(err, ERROR_SYSTEM, "out of memory");
		config = own_config;
	}
	if (!context && config) {
		if (current_context(config, &current, err) < 0)
			return -1;
		context = current;
	}
	if (!context || strcmp(context, "default") == 0)
		return take_path(WHERE_DEFAULT, ret, err);
	if (!config)
		return error_set(
			err, ERROR_INPUT,
			"DOCKER_CONTEXT is set, but neither DOCKER_CONFIG nor HOME says where Docker's contexts are");
	return context_endpoint(config, context, ret, err);
}
