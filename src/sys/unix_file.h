/*
 * unix_file: the file that a UNIX socket was bound to.
 */
#ifndef CORDON_SYS_UNIX_FILE_H
#define CORDON_SYS_UNIX_FILE_H

/*
 * The file that bind() made for this socket, wherever that is called by now, as an O_PATH fd (O_CLOEXEC); -ENOENT where
 * there is none. Needs CAP_NET_ADMIN over the socket's network namespace, which is put in effect for the moment where
 * it is permitted; else -EPERM.
 */
int sys_unix_file(int sock);

#endif
