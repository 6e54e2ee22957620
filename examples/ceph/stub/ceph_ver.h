/* A STUB, not Ceph's header: the version that Debian's Ceph requires of its plugins. */
#define CEPH_GIT_NICE_VER "16.2.15"
