/*
 * body: what all judges of bodies begin with: the declared type, and the JSON text.
 */
#ifndef CORDON_GATE_INFERENCE_BODY_H
#define CORDON_GATE_INFERENCE_BODY_H

#include "base/json_scan.h"
#include "gate/inference/ruling.h"
#include "http/message.h"

/*
 * The type among `types` (NULL-terminated) that the head declares, without parameters or with charset=utf-8: another
 * charset is another text. Each content-type says the same; a content coding is refused. Without any content-type it is
 * types[0]. -1 and the ruling where it is none of them.
 */
int body_type(const struct http_fields *fields, const char *const *types, struct ruling *no);

/* json_scan_read() with its failures as rulings. */
int body_scan(struct buf *body, struct json_scan *ret, struct ruling *no);

#endif
