/* The version of the project, for hosts (upk.h) and for what policyc writes (upk_tables.h).  Layer: data. */
#ifndef UPK_VERSION
#define UPK_VERSION "0.1.0"
#endif
