/* isa-l.h: ISA-L's interface as far as gfsmith implements it: erasure codes, RAID and CRCs
 * (docs/isal.md). */
#ifndef _ISAL_H_
#define _ISAL_H_

#include "isa-l/crc.h"
#include "isa-l/crc64.h"
#include "isa-l/erasure_code.h"
#include "isa-l/gf_vect_mul.h"
#include "isa-l/raid.h"

#endif
