/*
 * folds_case: whether a folder's file system takes two spellings for one name.
 *
 * Where it does, a rule about names does not hold: .ENV, or on some ENV~1, is .env for whoever looks it up, and the
 * kernel may keep the spellings apart, so that what covers the one does not cover the other.
 */
#ifndef CORDON_SYS_FOLDS_CASE_H
#define CORDON_SYS_FOLDS_CASE_H

#include <stdbool.h>

/*
 * dir: a folder, open for reading; it is read from its start, and rewound. By its file system's kind where that says it
 * (FAT, HFS), or a flag of the folder's (ext4, f2fs, tmpfs); of kinds that may do either (FUSE, SMB, NTFS, 9p) a few
 * names in it, or beside it, are looked up in the other case. False, too, where nothing says so: none of them has a
 * letter.
 */
bool sys_folds_case(int dir);

#endif
