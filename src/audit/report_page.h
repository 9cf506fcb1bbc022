/*
 * report_page: the page of report.h, from what report_log.h read. Failure is the buffer's (buf_failed()).
 */
#ifndef CORDON_AUDIT_REPORT_PAGE_H
#define CORDON_AUDIT_REPORT_PAGE_H

#include "audit/report.h"
#include "audit/report_log.h"
#include "base/buf.h"

void report_page(const struct report_log *l, const struct report_request *req, struct buf *out);

#endif
