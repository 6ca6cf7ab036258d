// SPDX-License-Identifier: GPL-2.0
/*
 * Values of netlink attributes, for model*.c.
 *
 * Integers may have any length up to 64 bits, strings may lack the terminator.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>

#include "attr.h"

/**
 * list_grow() - append a zeroed entry
 * @list_ptr: address of the pointer to the list
 * @n: number of entries, which rises only if the allocation succeeds
 * @size: of an entry, bytes
 *
 * Return: the entry, or NULL.
 */
void *list_grow(void *list_ptr, size_t *n, size_t size)
{
	char *list, *slot;

	memcpy(&list, list_ptr, sizeof(list));
	list = reallocarray(list, *n + 1, size);
	if (!list)
		return NULL;
	memcpy(list_ptr, &list, sizeof(list));
	slot = list + *n * size;
	memset(slot, 0, size);
	(*n)++;
	return slot;
}

int attr_uint(const struct nlattr *attr, uint64_t *value)
{
	const void *payload = mnl_attr_get_payload(attr);
	uint16_t u16;
	uint32_t u32;

	switch (mnl_attr_get_payload_len(attr)) {
	case sizeof(uint8_t):
		*value = *(const uint8_t *)payload;
		return 0;
	case sizeof(u16):
		memcpy(&u16, payload, sizeof(u16));
		*value = u16;
		return 0;
	case sizeof(u32):
		memcpy(&u32, payload, sizeof(u32));
		*value = u32;
		return 0;
	case sizeof(*value):
		memcpy(value, payload, sizeof(*value));
		return 0;
	}
	return -EBADMSG;
}

int attr_u32(const struct nlattr *attr, uint32_t *value)
{
	uint64_t wide;
	int ret;

	ret = attr_uint(attr, &wide);
	if (ret || wide > UINT32_MAX)
		return -EBADMSG;
	*value = wide;
	return 0;
}

int attr_u16(const struct nlattr *attr, uint16_t *value)
{
	uint64_t wide;
	int ret;

	ret = attr_uint(attr, &wide);
	if (ret || wide > UINT16_MAX)
		return -EBADMSG;
	*value = wide;
	return 0;
}

int attr_string(const struct nlattr *attr, char **s)
{
	free(*s);
	*s = strndup(mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr));
	return *s ? 0 : -ENOMEM;
}

int attr_address(const struct nlattr *attr, uint8_t *address)
{
	size_t len = mnl_attr_get_payload_len(attr);

	if (len != 4 && len != 16)
		return -EBADMSG;
	memcpy(address, mnl_attr_get_payload(attr), len);
	return 0;
}

/* Record that an attribute was present; types beyond the word are unknown ones. */
void attr_mark(uint32_t *have, const struct nlattr *attr)
{
	uint16_t type = mnl_attr_get_type(attr);

	if (type < 32)
		*have |= 1U << type;
}
