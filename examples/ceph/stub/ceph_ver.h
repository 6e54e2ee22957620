/* A STAND-IN, not Ceph's header: the version that Debian's Ceph asks of its plugins. */
#define CEPH_GIT_NICE_VER "16.2.15"
