/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Version of modules, command and packages; dkms.conf and debian/changelog repeat it, and
 * suite unit/packages compares.  scripts/build-deb puts a package's own into its copy.
 */
#ifndef _QUELL_VERSION_H
#define _QUELL_VERSION_H

#define QUELL_VERSION	"0.1.0"

#endif
