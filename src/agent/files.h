/*
 * files: fs/read_text_file and fs/write_text_file of ACP.
 *
 * No boundary is kept here: the agent could open the same files itself, and the sandbox says which. Only regular files
 * of at most FILES_MAX bytes are read; folders that a new file needs are made.
 */
#ifndef CORDON_AGENT_FILES_H
#define CORDON_AGENT_FILES_H

#include "agent/rpc.h"

enum { FILES_MAX = 4 << 20 };

/* Makes the folders above a path, as far as that goes. */
void files_make_folders(const char *path);

/* Each answers through r. 0, or -errno of r. */
int files_read(struct rpc *r, const struct json_scan *s, uint32_t params, struct sv id);
int files_write(struct rpc *r, const struct json_scan *s, uint32_t params, struct sv id);

#endif
