// SPDX-License-Identifier: GPL-2.0
/*
 * hpcc_vaisf, apart from hpcc as in the module: in one file the compiler would share
 * functions between the two.
 */
#include "flow.h"

void hpcc_vaisf_init(struct perf_flow *f)
{
	quell_core_params_default(&quell_hpcc_vaisf_core, &f->p.hpcc_vaisf);
	quell_hpcc_vaisf_init(&f->v.hpcc_vaisf, &f->p.hpcc_vaisf, &perf_start, &f->out);
}

void perf_hpcc_vaisf_on_ack(struct perf_flow *f)
{
	quell_hpcc_vaisf_on_ack(&f->v.hpcc_vaisf, &f->p.hpcc_vaisf, &f->st.hpcc_vaisf,
				&f->s, &f->out);
}

void hpcc_vaisf_on_loss(struct perf_flow *f)
{
	quell_hpcc_vaisf_on_loss(&f->v.hpcc_vaisf, &f->p.hpcc_vaisf, &f->st.hpcc_vaisf,
				 &f->s, &f->out);
}
