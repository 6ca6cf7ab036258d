/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Formatted error texts came with 6.2.  Before, an extack holds a pointer to a constant, which the
 * kernel measures and copies after the request's handler returned.  quell_extack_text() lends one
 * of some static buffers in turn, all texts filled up with blanks to the same length, so that one
 * that is overwritten, as when as many requests fail at the same moment, is as long as it was
 * measured.
 */
#ifndef _QUELL_COMPAT_EXTACK_H
#define _QUELL_COMPAT_EXTACK_H

#include <compat/compat.h>
#include <linux/netlink.h>

#ifdef QUELL_HAVE_EXTACK_FMT
static inline __printf(2, 0)
const char *quell_extack_text(struct netlink_ext_ack *extack, const char *fmt, va_list args)
{
	vscnprintf(extack->_msg_buf, sizeof(extack->_msg_buf), fmt, args);
	return extack->_msg_buf;
}
#else
static inline __printf(2, 0)
const char *quell_extack_text(struct netlink_ext_ack *extack, const char *fmt, va_list args)
{
	static char texts[64][80];
	static atomic_t next;
	char text[sizeof(texts[0])], *to;
	int len = vscnprintf(text, sizeof(text), fmt, args);

	memset(text + len, ' ', sizeof(text) - 1 - len);
	to = texts[(u32)atomic_inc_return(&next) % ARRAY_SIZE(texts)];
	memcpy(to, text, sizeof(text) - 1);
	return to;
}
#endif

#endif /* _QUELL_COMPAT_EXTACK_H */
