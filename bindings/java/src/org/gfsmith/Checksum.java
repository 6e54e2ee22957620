package org.gfsmith;

import java.nio.ByteBuffer;

/**
 * A cyclic redundancy check, as its standard defines it.
 *
 * <p>A state starts at 0 and always equals the checksum of the bytes so far, so a checksum from a file continues. It is in
 * the low bits of a long; the others are 0. Data are as for {@link Codec}, and so are the errors.
 */
public enum Checksum {
  // In the order of gfsmith_checksum.h.
  /** iSCSI, ext4, Ceph, HDFS. */
  CRC32C(32),
  /** IEEE 802.3, gzip, zlib, java.util.zip.CRC32. */
  CRC32(32),
  /** NVMe, S3. */
  CRC64_NVME(64),
  /** ECMA-182, reflected: xz. */
  CRC64_ECMA(64),
  /** ISO 3309, reflected: Go's hash/crc64. */
  CRC64_ISO(64),
  /** T10 DIF. The shards of a codec must be multiples of 512 bytes. */
  CRC16_T10(16);

  private static final int T10_SECTOR = 512, T10_LONG_SECTOR = 4096;

  private final int bits;

  Checksum(int bits) {
    this.bits = bits;
  }

  /**
   * Returns the number of bits.
   *
   * @return 16, 32 or 64
   */
  public int bits() {
    return bits;
  }

  /**
   * Continues a checksum.
   *
   * @param state 0, or the checksum of the bytes before
   * @param data the bytes, read
   * @return the checksum of all bytes
   * @throws IllegalArgumentException also if state has more bits than the checksum
   */
  public long update(long state, byte[] data) {
    return updated(state, data);
  }

  /**
   * Continues a checksum, as {@link #update(long, byte[])}.
   *
   * @param state 0, or the checksum of the bytes before
   * @param data the bytes, read
   * @return the checksum of all bytes
   * @throws IllegalArgumentException also if state has more bits than the checksum
   */
  public long update(long state, ByteBuffer data) {
    return updated(state, data);
  }

  /**
   * Combines the checksums of two consecutive pieces, without their bytes.
   *
   * @param first the checksum of the first piece
   * @param second the checksum of the second piece, from state 0
   * @param secondLength bytes of the second piece
   * @return the checksum of both
   * @throws IllegalArgumentException if a checksum has too many bits, or secondLength is negative
   */
  public long combine(long first, long second, long secondLength) {
    requireBits(first, "first");
    requireBits(second, "second");
    if (secondLength < 0) {
      throw new IllegalArgumentException("secondLength is " + secondLength + "; allowed: 0 or more");
    }
    return Native.combine(ordinal(), first, second, secondLength);
  }

  /**
   * Computes the checksum of every sector, each from state 0: the guard tags of T10, for example.
   *
   * @param sector bytes of a sector; with CRC16_T10 512 or 4096
   * @param data the bytes, a multiple of sector, read
   * @return a checksum for each sector
   * @throws IllegalArgumentException also for another sector or length
   */
  public long[] sectors(int sector, byte[] data) {
    return ofSectors(sector, data);
  }

  /**
   * Computes the checksum of every sector, as {@link #sectors(int, byte[])}.
   *
   * @param sector bytes of a sector; with CRC16_T10 512 or 4096
   * @param data the bytes, a multiple of sector, read
   * @return a checksum for each sector
   * @throws IllegalArgumentException also for another sector or length
   */
  public long[] sectors(int sector, ByteBuffer data) {
    return ofSectors(sector, data);
  }

  private long updated(long state, Object data) {
    requireBits(state, "state");
    long[] states = {state};
    require(Native.update(ordinal(), 0, described(data), states));
    return states[0];
  }

  private long[] ofSectors(int sector, Object data) {
    boolean allowed = this == CRC16_T10 ? sector == T10_SECTOR || sector == T10_LONG_SECTOR : sector > 0;
    if (!allowed) {
      String sizes = this == CRC16_T10 ? T10_SECTOR + " or " + T10_LONG_SECTOR : "1 or more";
      throw new IllegalArgumentException("sectors of " + sector + " bytes; allowed: " + sizes);
    }
    Shards shards = described(data);
    requireMultiple(shards.length(), sector, "data has ");
    long[] checksums = new long[shards.length() / sector];
    require(Native.update(ordinal(), sector, shards, checksums));
    return checksums;
  }

  private static Shards described(Object data) {
    Shards shards = new Shards(1);
    shards.read(data, "data", Shards.ALONE);
    return shards;
  }

  private static void require(int status) {
    if (status == Native.ENOMEM) {
      throw new OutOfMemoryError("gfsmith: " + Native.message(status));
    }
    if (status != Native.OK) {
      throw new IllegalArgumentException(Native.message(status));
    }
  }

  /** Refuses a number with more bits. */
  void requireBits(long state, String name) {
    if (bits < Long.SIZE && state >>> bits != 0) {
      throw new IllegalArgumentException(
          name + " is 0x" + Long.toHexString(state) + "; allowed: " + bits + " bits");
    }
  }

  /** Refuses a length of shards. */
  void requireLength(int length) {
    if (this == CRC16_T10) {
      requireMultiple(length, T10_SECTOR, "shards have ");
    }
  }

  private static void requireMultiple(int length, int sector, String subject) {
    if (length % sector != 0) {
      throw new IllegalArgumentException(subject + length + " bytes; allowed: multiples of " + sector);
    }
  }
}
