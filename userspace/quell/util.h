/* SPDX-License-Identifier: GPL-2.0 */
#ifndef QUELL_CLI_UTIL_H
#define QUELL_CLI_UTIL_H

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#endif /* QUELL_CLI_UTIL_H */
