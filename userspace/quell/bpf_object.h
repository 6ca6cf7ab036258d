/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Object files of BPF programs.
 */
#ifndef QUELL_CLI_BPF_OBJECT_H
#define QUELL_CLI_BPF_OBJECT_H

struct bpf_object;

int bpf_object_find(char *path, const char *name, const char *dir);
int bpf_object_read(struct bpf_object **object, const char *path);
int bpf_object_load(struct bpf_object *object, const char *name);
int complain_object(const char *request, const char *name, int code);
void bpf_object_forget(void);

#endif /* QUELL_CLI_BPF_OBJECT_H */
