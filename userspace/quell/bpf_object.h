/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Object files of BPF programs.
 */
#ifndef QUELL_CLI_BPF_OBJECT_H
#define QUELL_CLI_BPF_OBJECT_H

int bpf_object_find(char *path, const char *name, const char *dir);
int complain_object(const char *what, const char *name, int code);
void bpf_object_forget(void);

#endif /* QUELL_CLI_BPF_OBJECT_H */
