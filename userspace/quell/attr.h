/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Values of netlink attributes, for model*.c: 0, -EBADMSG for one of a wrong length, or
 * -ENOMEM.
 */
#ifndef QUELL_CLI_ATTR_H
#define QUELL_CLI_ATTR_H

#include <stddef.h>
#include <stdint.h>

#include <libmnl/libmnl.h>

void *list_grow(void *list_ptr, size_t *n, size_t size);
int attr_uint(const struct nlattr *attr, uint64_t *value);
int attr_u32(const struct nlattr *attr, uint32_t *value);
int attr_u16(const struct nlattr *attr, uint16_t *value);
int attr_string(const struct nlattr *attr, char **s);
int attr_address(const struct nlattr *attr, uint8_t *address);
void attr_mark(uint32_t *have, const struct nlattr *attr);

#endif /* QUELL_CLI_ATTR_H */
