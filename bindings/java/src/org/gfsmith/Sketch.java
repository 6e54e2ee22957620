package org.gfsmith;

import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;

/**
 * The tables of sketches: checksums of 8 bytes that are linear over GF(2^8).
 *
 * <p>With the parity matrix c of a {@link Codec} over the same polynomial,
 *
 * <pre>   sketch(parity[i]) = sum over j &lt; k of c[i][j] * sketch(data[j])</pre>
 *
 * <p>So the sketches of a stripe's shards are a stripe of the same code, with shards of {@link #BYTES} bytes. Every
 * shard is read once, where it is stored, and {@link Codec#check(byte[][])} compares the sketches;
 * {@link Codec#encode(byte[][], byte[][])} computes those of parities. docs/checksums.md tells which errors a sketch
 * finds.
 *
 * <p>Tables are immutable, and any number of threads may use them at once. Their native memory is freed after
 * they have become unreachable. Data are as for {@link Codec}, and so are the errors.
 */
public final class Sketch {
  /** Bytes of a sketch. */
  public static final int BYTES = 8;

  /** The polynomial of all codes known by name. */
  public static final int POLYNOMIAL = 0x11d;

  private static final Cleaner CLEANER = Cleaner.create();

  private final long address;

  private Sketch(long address) {
    this.address = address;
    CLEANER.register(this, () -> Native.destroySketch(address));
  }

  /**
   * Creates the tables for codecs over a polynomial.
   *
   * @param polynomial p with its x^8 term, as for {@link Codec}
   * @return the tables
   * @throws IllegalArgumentException if the polynomial is not irreducible of degree 8
   */
  public static Sketch create(int polynomial) {
    long address = Native.createSketch(polynomial);
    if (address == Native.EINVAL) {
      throw new IllegalArgumentException(Codec.refusal(polynomial));
    }
    require(address);
    return new Sketch(address);
  }

  /**
   * Adds the sketch of a piece of a shard. The sketch of a shard is the sum of those of its pieces, in any order: XOR
   * adds sketches that were computed apart. After a change, add the sketch of old data XOR new data at its offset.
   *
   * @param sum 8 bytes: zeros, or the sum of the pieces so far; replaced by the sum with this piece
   * @param offset the place of the first byte in the shard
   * @param data the bytes, read
   * @throws IllegalArgumentException also if sum has another number of bytes, or offset is negative
   */
  public void add(byte[] sum, long offset, byte[] data) {
    addPiece(sum, offset, data);
  }

  /**
   * Adds the sketch of a piece of a shard, as {@link #add(byte[], long, byte[])}.
   *
   * @param sum 8 bytes: zeros, or the sum of the pieces so far; replaced by the sum with this piece
   * @param offset the place of the first byte in the shard
   * @param data the bytes, read
   * @throws IllegalArgumentException also if sum has another number of bytes, or offset is negative
   */
  public void add(byte[] sum, long offset, ByteBuffer data) {
    addPiece(sum, offset, data);
  }

  private void addPiece(byte[] sum, long offset, Object data) {
    if (sum == null || sum.length != BYTES) {
      throw new IllegalArgumentException(
          "sum has " + (sum == null ? "no" : sum.length) + " bytes; required: " + BYTES);
    }
    if (offset < 0) {
      throw new IllegalArgumentException("offset is " + offset + "; allowed: 0 or more");
    }
    Shards shards = new Shards(1);
    shards.read(data, "data", Shards.ALONE);
    try {
      require(Native.addToSketch(address, sum, offset, shards));
    } finally {
      Reference.reachabilityFence(this);
    }
  }

  private static void require(long status) {
    if (status == Native.ENOMEM) {
      throw new OutOfMemoryError("gfsmith: " + Native.message((int) status));
    }
    if (status < 0) {
      throw new IllegalArgumentException(Native.message((int) status));
    }
  }
}
