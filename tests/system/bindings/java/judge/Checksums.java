import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.gfsmith.Checksum;
import org.gfsmith.Codec;

/** org.gfsmith.Checksum and the calls of Codec with checksums against a division bit by bit, and invalid arguments. */
final class Checksums {
  private static final int K = 4, M = 2, N = K + M;
  private static final Codec CODEC = Codec.create("cauchy", K, M);

  private static long polynomial(Checksum kind) {
    return switch (kind) {
      case CRC32C -> 0x1edc6f41L;
      case CRC32 -> 0x04c11db7L;
      case CRC64_NVME -> 0xad93d23594c93659L;
      case CRC64_ECMA -> 0x42f0e1eba9ea3693L;
      case CRC64_ISO -> 0x1bL;
      case CRC16_T10 -> 0x8bb7L;
    };
  }

  private static long known(Checksum kind) {
    return switch (kind) {
      case CRC32C -> 0xe3069283L;
      case CRC32 -> 0xcbf43926L;
      case CRC64_NVME -> 0xae8b14860a799888L;
      case CRC64_ECMA -> 0x995dc9bbdf1939faL;
      case CRC64_ISO -> 0xb90956c775a41001L;
      case CRC16_T10 -> 0xd0dbL;
    };
  }

  /** The register is in the high bits. */
  private static long divide(Checksum kind, long state, byte[] data) {
    boolean reflected = kind != Checksum.CRC16_T10;
    int unused = 64 - kind.bits();
    long ones = -1L << unused;
    long polynomial = polynomial(kind) << unused;
    long register = reflected ? Long.reverse(state) ^ ones : state << unused;
    for (byte value : data) {
      int bits = reflected ? Integer.reverse(value) >>> 24 : value & 255;
      register ^= (long) bits << 56;
      for (int bit = 0; bit < 8; bit++) {
        register = (register << 1) ^ (register < 0 ? polynomial : 0);
      }
    }
    return reflected ? Long.reverse(register ^ ones) : register >>> unused;
  }

  private static long[] divideAll(Checksum kind, long[] states, byte[][] shards) {
    long[] sums = new long[shards.length];
    Arrays.setAll(sums, i -> divide(kind, states[i], shards[i]));
    return sums;
  }

  private static byte[] junk(Random random, int length) {
    byte[] data = new byte[length];
    random.nextBytes(data);
    return data;
  }

  private static byte[][] copy(byte[][] shards) {
    return Arrays.stream(shards).map(byte[]::clone).toArray(byte[][]::new);
  }

  private static ByteBuffer[] direct(byte[][] shards) {
    return Arrays.stream(shards)
        .map(shard -> ByteBuffer.allocateDirect(shard.length).put(shard).flip())
        .toArray(ByteBuffer[]::new);
  }

  private static void bytes(Random random, Checksum kind) {
    byte[] digits = "123456789".getBytes();
    Expect.require(divide(kind, 0, digits) == known(kind) && kind.update(0, digits) == known(kind), kind + " differs");
    for (int length : new int[] {0, 1, 16, 100, 1000, 300_000}) {
      byte[] data = junk(random, length);
      byte[] tail = Arrays.copyOfRange(data, length / 3, length);
      long first = kind.update(0, Arrays.copyOf(data, length / 3));
      long want = divide(kind, 0, data);
      Expect.require(kind.update(first, tail) == want, kind + " of two pieces differs");
      Expect.require(kind.update(first, direct(new byte[][] {tail})[0]) == want, kind + " of a direct buffer differs");
      Expect.require(kind.update(first, ByteBuffer.wrap(data, length / 3, tail.length)) == want, kind + " differs");
      Expect.require(kind.combine(first, divide(kind, 0, tail), tail.length) == want, kind + " combined differs");
    }
    for (int sector : new int[] {512, 4096}) {
      byte[] data = junk(random, 86 * 4096);
      long[] sums = kind.sectors(sector, data);
      Expect.require(sums.length == data.length / sector, "another number of sectors");
      for (int i = 0; i < sums.length; i++) {
        byte[] one = Arrays.copyOfRange(data, i * sector, (i + 1) * sector);
        Expect.require(sums[i] == divide(kind, 0, one), kind + " of a sector differs");
      }
      Expect.require(
          Arrays.equals(sums, kind.sectors(sector, direct(new byte[][] {data})[0])), "direct sectors differ");
      Expect.require(kind.sectors(sector, new byte[0]).length == 0, "no bytes have no sectors");
    }
  }

  /** Sectors that do not divide a piece, and longer ones. */
  private static void otherSectors(Random random) {
    for (int sector : new int[] {1000, 300_000}) {
      byte[] data = junk(random, 600_000);
      long[] sums = Checksum.CRC32C.sectors(sector, data);
      for (int i = 0; i < sums.length; i++) {
        byte[] one = Arrays.copyOfRange(data, i * sector, (i + 1) * sector);
        Expect.require(
            sums[i] == divide(Checksum.CRC32C, 0, one), "the checksum of a sector of " + sector + " differs");
      }
    }
  }

  private static void shards(Random random, Checksum kind, int length) {
    byte[][] all = new byte[N][];
    Arrays.setAll(all, i -> junk(random, length));
    byte[][] data = Arrays.copyOf(all, K);
    byte[][] parity = Arrays.copyOfRange(all, K, N);
    long[] states = new long[N];
    CODEC.encodeChecksums(kind, data, parity, states);
    Expect.require(CODEC.check(all), "encode differs with " + kind);
    long[] stored = divideAll(kind, new long[N], all);
    Expect.require(Arrays.equals(states, stored), kind + " of shards differs");
    long[] outside = new long[N];
    ByteBuffer[] buffers = direct(all);
    CODEC.encodeChecksums(kind, Arrays.copyOf(buffers, K), Arrays.copyOfRange(buffers, K, N), outside);
    Expect.require(Arrays.equals(outside, stored), kind + " of direct shards differs");

    Expect.require(CODEC.checkChecksums(kind, all, states), "check refuses the parities");
    Expect.require(Arrays.equals(states, divideAll(kind, stored, all)), kind + " does not continue");
    if (length > 0) {
      byte[][] wrong = copy(all);
      wrong[N - 1][0] ^= 1; // in the first piece
      for (boolean heap : new boolean[] {true, false}) {
        long[] sums = new long[N];
        boolean ok =
            heap ? CODEC.checkChecksums(kind, wrong, sums) : CODEC.checkChecksums(kind, direct(wrong), sums);
        Expect.require(!ok, "check accepts a wrong byte");
        Expect.require(Arrays.equals(sums, divideAll(kind, new long[N], wrong)), kind + " ends at a difference");
      }
      repairs(kind, all, stored);
    }
  }

  /** Stripes of one call of the library, and of several. */
  private static void stripes(Random random, Checksum kind) {
    for (int count : new int[] {0, 1, 42, 43, 100}) {
      byte[][] data = new byte[count * K][];
      Arrays.setAll(data, i -> junk(random, 512));
      byte[][] parity = new byte[count * M][512];
      long[] states = new long[count * N];
      Arrays.setAll(states, i -> random.nextInt(1 << 16));
      byte[][] expected = copy(parity);
      long[] stored = states.clone();
      for (int s = 0; s < count; s++) {
        byte[][] from = Arrays.copyOfRange(data, s * K, (s + 1) * K);
        long[] part = Arrays.copyOfRange(stored, s * N, (s + 1) * N);
        CODEC.encodeChecksums(kind, from, Arrays.copyOfRange(expected, s * M, (s + 1) * M), part);
        System.arraycopy(part, 0, stored, s * N, N);
      }
      long[] outside = states.clone();
      ByteBuffer[] buffers = direct(parity);
      CODEC.encodeStripesChecksums(kind, direct(data), buffers, outside);
      CODEC.encodeStripesChecksums(kind, data, parity, states);
      Expect.require(Arrays.deepEquals(parity, expected), "parities of stripes differ with " + kind);
      Expect.require(Arrays.equals(buffers, direct(expected)), "direct parities of stripes differ with " + kind);
      Expect.require(Arrays.equals(states, stored) && Arrays.equals(outside, stored), kind + " of stripes differs");
    }
  }

  /** Shards of 50 stripes, the calls of the library on which are two. */
  /** 2^26 stripes of 1 + 64 have 2^32 parity shards, which is 0 for arithmetic of 32 bits. */
  private static void refusedHugeNumber(Checksum kind) {
    byte[][] none = {};
    Codec codec = Codec.create("cauchy", 1, 64);
    Expect.refused(
        "parity has 0 shards; required: 4294967296",
        () -> codec.encodeStripesChecksums(kind, new byte[1 << 26][], none, new long[0]));
  }

  private static void refusedStripes() {
    byte[][] data = new byte[50 * K][100];
    byte[][] parity = new byte[50 * M][100];
    long[] states = new long[50 * N];
    long[] wide = states.clone();
    wide[299] = 1L << 32;
    byte[][] shorter = data.clone();
    shorter[199] = new byte[99];
    byte[][] missing = parity.clone();
    missing[99] = null;
    byte[][] shared = parity.clone();
    shared[99] = data[0];
    byte[][] twice = parity.clone();
    twice[99] = twice[0];
    byte[][] near = parity.clone();
    near[99] = near[98];
    Checksum kind = Checksum.CRC32;
    refusedStripes("kind is null", null, data, parity, states);
    refusedStripes("data is null; required: a multiple of 4", kind, null, parity, states);
    refusedStripes("data has 199 shards; required: a multiple of 4", kind, Arrays.copyOf(data, 199), parity, states);
    refusedStripes("parity has 99 shards; required: 100", kind, data, Arrays.copyOf(parity, 99), states);
    refusedHugeNumber(kind);
    refusedStripes("states has 299 checksums; required: 300", kind, data, parity, new long[299]);
    refusedStripes("states[299] is 0x100000000; allowed: 32 bits", kind, data, parity, wide);
    refusedStripes("data[199] has 99 bytes, the shards before it have 100", kind, shorter, parity, states);
    refusedStripes("parity[99] is null", kind, data, missing, states);
    refusedStripes("parity overlaps a shard of another stripe", kind, data, shared, states);
    refusedStripes("parity overlaps a shard of another stripe", kind, data, twice, states);
    refusedStripes(
        "parity[99] overlaps a shard before it, and the call writes one of them", kind, data, near, states);
    refusedStripes("shards have 100 bytes; allowed: multiples of 512", Checksum.CRC16_T10, data, parity, states);
    byte[][] one = data.clone();
    Arrays.fill(one, data[0]);
    CODEC.encodeStripesChecksums(kind, one, parity, states); // equal data may be one array
  }

  private static void refusedStripes(
      String message, Checksum kind, byte[][] data, byte[][] parity, long[] states) {
    for (byte[] shard : parity) {
      if (shard != null) {
        Arrays.fill(shard, (byte) 7);
      }
    }
    byte[][] before = Arrays.stream(parity).map(shard -> shard == null ? null : shard.clone()).toArray(byte[][]::new);
    long[] old = states.clone();
    Expect.refused(message, () -> CODEC.encodeStripesChecksums(kind, data, parity, states));
    Expect.require(Arrays.deepEquals(parity, before) && Arrays.equals(states, old), "a refused call on stripes wrote");
  }

  private static void repairs(Checksum kind, byte[][] all, long[] stored) {
    boolean[] present = {true, false, true, true, true, true};
    byte[][] lost = copy(all);
    Arrays.fill(lost[1], (byte) 9);
    long[] states = new long[N];
    boolean[] wrong = CODEC.reconstructChecksums(kind, lost, present, null, states, stored);
    Expect.require(Arrays.equals(wrong, new boolean[N]), "a right shard is called wrong");
    Expect.require(Arrays.deepEquals(lost, all), "reconstruct differs with " + kind);
    int same = 0;
    for (int i = 0; i < N; i++) {
      same += states[i] == stored[i] ? 1 : 0;
      Expect.require(states[i] == stored[i] || states[i] == 0, kind + " of a repair differs");
    }
    Expect.require(same == K + 1 && states[1] == stored[1], "a repair reads K shards and writes one");

    lost[0][0] ^= 1;
    wrong = CODEC.reconstructChecksums(kind, direct(lost), present, null, new long[N], stored);
    Expect.require(Arrays.equals(wrong, new boolean[] {true, false, false, false, false, false}), "the wrong shard");
    wrong = CODEC.reconstructChecksums(kind, lost, present, null, new long[N], stored);
    Expect.require(Arrays.equals(wrong, new boolean[] {true, false, false, false, false, false}), "the wrong shard");

    boolean[] two = {false, true, false, true, true, true};
    boolean[] wanted = {false, false, true, false, false, false};
    byte[][] some = copy(all);
    some[0] = null;
    Arrays.fill(some[2], (byte) 0);
    states = stored.clone();
    wrong = CODEC.reconstructChecksums(kind, some, two, wanted, states, null);
    Expect.require(Arrays.equals(wrong, new boolean[N]), "flags without expected checksums");
    Expect.require(Arrays.equals(some[2], all[2]), "reconstruct of a wanted shard differs");
    long[] next = divideAll(kind, stored, all);
    next[0] = stored[0];
    Expect.require(Arrays.equals(states, next), "checksums of a wanted shard do not continue");
  }

  private static void refusals() {
    byte[] none = new byte[0];
    Expect.refused("state is 0x100000000; allowed: 32 bits", () -> Checksum.CRC32.update(1L << 32, none));
    Expect.refused("state is 0xffffffffffffffff; allowed: 16 bits", () -> Checksum.CRC16_T10.update(-1, none));
    Expect.refused("first is 0x10000; allowed: 16 bits", () -> Checksum.CRC16_T10.combine(1 << 16, 0, 1));
    Expect.refused("second is 0x10000; allowed: 16 bits", () -> Checksum.CRC16_T10.combine(0, 1 << 16, 1));
    Expect.refused("secondLength is -1; allowed: 0 or more", () -> Checksum.CRC32.combine(0, 0, -1));
    Expect.refused("data is null", () -> Checksum.CRC32.update(0, (byte[]) null));
    Expect.refused("sectors of 1024 bytes; allowed: 512 or 4096", () -> Checksum.CRC16_T10.sectors(1024, none));
    Expect.refused("sectors of 0 bytes; allowed: 1 or more", () -> Checksum.CRC32.sectors(0, none));
    Expect.refused("sectors of -1 bytes; allowed: 1 or more", () -> Checksum.CRC32.sectors(-1, none));
    Expect.refused("data has 100 bytes; allowed: multiples of 512", () -> Checksum.CRC32.sectors(512, new byte[100]));
    refusedShards("kind is null", null, new long[N]);
    refusedShards("states is null; required: 6", Checksum.CRC32, null);
    refusedShards("states has 5 checksums; required: 6", Checksum.CRC32, new long[5]);
    refusedShards("states[2] is 0x10000; allowed: 16 bits", Checksum.CRC16_T10, new long[] {0, 0, 65536, 0, 0, 0});
    refusedShards("shards have 100 bytes; allowed: multiples of 512", Checksum.CRC16_T10, new long[N]);
    byte[][] all = new byte[N][100];
    boolean[] present = {false, true, true, true, true, true};
    long[] right = new long[N];
    Expect.refused(
        "expected has 5 checksums; required: 6",
        () -> CODEC.reconstructChecksums(Checksum.CRC32, all, present, null, right, new long[5]));
    Expect.refused(
        "expected[0] is 0x100000000; allowed: 32 bits",
        () ->
            CODEC.reconstructChecksums(
                Checksum.CRC32, all, present, null, right, new long[] {1L << 32, 0, 0, 0, 0, 0}));
    Expect.refused(
        "6 shards are missing; allowed: at most 2",
        () -> CODEC.reconstructChecksums(Checksum.CRC32, all, new boolean[N], null, right, null));
    Expect.refused(
        "data has 3 shards; required: 4",
        () -> CODEC.encodeChecksums(Checksum.CRC32, Arrays.copyOf(all, 3), Arrays.copyOf(all, 2), right));
    Expect.require(Arrays.equals(right, new long[N]), "a refused call changed checksums");
  }

  /** Each call is refused, and writes nothing. */
  private static void refusedShards(String message, Checksum kind, long[] states) {
    byte[][] all = new byte[N][100];
    for (byte[] shard : all) {
      Arrays.fill(shard, (byte) 7);
    }
    byte[][] before = copy(all);
    long[] old = states == null ? null : states.clone();
    boolean[] present = {false, true, true, true, true, true};
    Expect.refused(
        message,
        () -> CODEC.encodeChecksums(kind, Arrays.copyOf(all, K), Arrays.copyOfRange(all, K, N), states));
    Expect.refused(message, () -> CODEC.checkChecksums(kind, all, states));
    Expect.refused(message, () -> CODEC.reconstructChecksums(kind, all, present, null, states, null));
    Expect.require(Arrays.deepEquals(all, before) && Arrays.equals(states, old), "a refused call wrote");
  }

  public static void main(String[] arguments) {
    Random random = new Random(4);
    for (Checksum kind : Checksum.values()) {
      bytes(random, kind);
      for (int length : new int[] {0, 512, 1024, 586 * 512}) { // the last one is more than a piece
        shards(random, kind, kind == Checksum.CRC16_T10 || length == 0 ? length : length - 3);
      }
      stripes(random, kind);
    }
    otherSectors(random);
    refusals();
    refusedStripes();
    System.out.println(Codec.isa());
  }
}
