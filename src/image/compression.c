#include "image/decompress.h"

enum compression compression_of(struct sv head)
{
	static const struct {
		enum compression is;
		struct sv head;
	} heads[] = {
		{COMPRESSION_GZIP, {"\x1f\x8b", 2}},
		{COMPRESSION_BZIP2, {"BZh", 3}},
		{COMPRESSION_XZ, {"\xfd" "7zXZ\0", 6}},
		{COMPRESSION_ZSTD, {"\x28\xb5\x2f\xfd", 4}},
	};
	size_t i;

	for (i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
		if (head.n >= heads[i].head.n && sv_eq(sv_n(head.p, heads[i].head.n), heads[i].head))
			return heads[i].is;
	return COMPRESSION_NONE;
}
