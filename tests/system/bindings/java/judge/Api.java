import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.gfsmith.Codec;

/** org.gfsmith.Codec: each operation against its definition over GF(2^8), and invalid arguments. */
final class Api {
  private static final int LENGTH = 1234;

  private static int times(int a, int b) {
    int product = 0;
    for (int bit = 7; bit >= 0; bit--) {
      product = (product << 1) ^ (product >> 7) * 0x11d ^ ((b >> bit) & 1) * a;
    }
    return product;
  }

  private static byte[][] junk(Random random, int count, int length) {
    byte[][] shards = new byte[count][length];
    for (byte[] shard : shards) {
      random.nextBytes(shard);
    }
    return shards;
  }

  private static byte[][] defined(byte[] matrix, byte[][] data, int m) {
    byte[][] parity = new byte[m][data[0].length];
    for (int i = 0; i < m; i++) {
      for (int j = 0; j < data.length; j++) {
        for (int b = 0; b < parity[i].length; b++) {
          parity[i][b] ^= (byte) times(matrix[i * data.length + j] & 255, data[j][b] & 255);
        }
      }
    }
    return parity;
  }

  private static ByteBuffer[] direct(byte[][] shards) {
    return Arrays.stream(shards)
        .map(shard -> ByteBuffer.allocateDirect(shard.length).put(shard).flip())
        .toArray(ByteBuffer[]::new);
  }

  private static void overlaps(Codec codec, byte[][] data, byte[][] parity) {
    String overlap = " overlaps a shard before it, and the call writes one of them";
    Expect.refused("parity[1]" + overlap, () -> codec.encode(data, new byte[][] {parity[0], parity[0]}));
    Expect.refused("parity[0]" + overlap, () -> codec.encode(data, new byte[][] {data[2], parity[1]}));
    Expect.refused("parity[0]" + overlap, () -> codec.update(0, parity[0], parity));
    byte[][] twice = {data[0], data[1], data[0], parity[0], parity[1]};
    Expect.refused(
        "shards[2]" + overlap, () -> codec.reconstruct(twice, new boolean[] {false, true, true, true, true}));
    ByteBuffer[] inputs = direct(data);
    ByteBuffer[] outputs = direct(parity);
    Expect.refused("parity[1]" + overlap, () -> codec.encode(inputs, new ByteBuffer[] {outputs[0], outputs[0]}));
    ByteBuffer first = ByteBuffer.wrap(new byte[16], 0, 8);
    Expect.refused(
        "parity[1]" + overlap, () -> codec.encode(inputs, new ByteBuffer[] {first, slice(first.array(), 7)}));
    codec.encode(inputs, new ByteBuffer[] {first, slice(first.array(), 8)});
    codec.encode(new byte[][] {data[0], data[0], data[0]}, parity);
  }

  private static ByteBuffer slice(byte[] array, int offset) {
    return ByteBuffer.wrap(array, offset, 8);
  }

  private static void operations(Random random, int k, int m) {
    byte[] matrix = new byte[k * m];
    random.nextBytes(matrix);
    matrix[0] = 1; // so that the first data shard can be repaired
    Codec codec = Codec.create(0x11d, k, m, matrix);
    Expect.require(codec.dataShards() == k && codec.parityShards() == m, "the shape differs");
    byte[][] data = junk(random, k, LENGTH);
    byte[][] parity = junk(random, m, LENGTH);
    codec.encode(data, parity);
    Expect.require(Arrays.deepEquals(parity, defined(matrix, data, m)), "encode differs");

    ByteBuffer[] mixed = direct(junk(random, m, LENGTH));
    mixed[m - 1] = ByteBuffer.allocate(LENGTH + 9).position(5).limit(LENGTH + 5);
    ByteBuffer[] inputs = Arrays.stream(data).map(ByteBuffer::wrap).toArray(ByteBuffer[]::new);
    inputs[0] = inputs[0].asReadOnlyBuffer();
    codec.encode(inputs, mixed);
    for (int i = 0; i < m; i++) {
      Expect.require(mixed[i].equals(ByteBuffer.wrap(parity[i])), "encode differs with mixed buffers");
    }

    byte[] delta = junk(random, 1, LENGTH)[0];
    byte[][] changed = data.clone();
    changed[k - 1] = data[k - 1].clone();
    for (int b = 0; b < LENGTH; b++) {
      changed[k - 1][b] ^= delta[b];
    }
    byte[][] updated = Arrays.stream(parity).map(byte[]::clone).toArray(byte[][]::new);
    codec.update(k - 1, delta, updated);
    Expect.require(Arrays.deepEquals(updated, defined(matrix, changed, m)), "update differs");

    byte[][] all = Arrays.copyOf(data, k + m);
    System.arraycopy(parity, 0, all, k, m);
    Expect.require(codec.check(all) && codec.check(direct(all)), "check refuses the parities");
    all[k] = all[k].clone();
    all[k][LENGTH - 1] ^= 1;
    Expect.require(!codec.check(all) && !codec.check(direct(all)), "check accepts a wrong byte");
    all[k] = parity[0];

    boolean[] present = new boolean[k + m];
    Arrays.fill(present, true);
    present[0] = false;
    byte[][] lost = all.clone();
    lost[0] = new byte[LENGTH];
    codec.reconstruct(lost, present);
    Expect.require(Arrays.equals(lost[0], data[0]), "reconstruct differs");
    if (m > 1) {
      present[k + m - 1] = false;
      lost[k + m - 1] = null;
      Arrays.fill(lost[0], (byte) 0);
      boolean[] wanted = new boolean[k + m];
      wanted[0] = true;
      codec.reconstruct(lost, present, wanted);
      Expect.require(Arrays.equals(lost[0], data[0]), "reconstruct of wanted shards differs");
    }
  }

  /** Shards in one array: on virtual machines that copy arrays, outputs must not undo each other. */
  private static void oneArray(Random random) {
    Codec codec = Codec.create("cauchy", 4, 3);
    byte[] memory = junk(random, 1, 7 * 700_000)[0];
    ByteBuffer[] shards = new ByteBuffer[7];
    Arrays.setAll(shards, i -> ByteBuffer.wrap(memory, i * 700_000, 700_000));
    codec.encode(Arrays.copyOf(shards, 4), Arrays.copyOfRange(shards, 4, 7));
    Expect.require(codec.check(shards), "parities in the array of the data differ");
    byte[] before = memory.clone();
    boolean[] present = {true, false, true, false, true, true, false};
    Arrays.fill(memory, 700_000, 1_400_000, (byte) 0);
    Arrays.fill(memory, 2_100_000, 2_800_000, (byte) 0);
    codec.reconstruct(shards, present);
    Expect.require(Arrays.equals(memory, before), "repairs in the array of the sources differ");
  }

  private static void refusals() {
    Codec codec = Codec.create("hdfs", 3, 2);
    byte[][] data = new byte[3][8];
    byte[][] parity = new byte[2][8];
    byte[][] all = new byte[5][8];
    Expect.refused("code is null", () -> Codec.create(null, 3, 2));
    String unknown = Expect.refusal(() -> Codec.create("raid7", 3, 2));
    Expect.require(unknown.startsWith("unknown code 'raid7'; allowed: vandermonde, cauchy, "), unknown);
    Expect.refused(
        "code 'raid6' with 3 + 3 shards; allowed: k >= 1, m = 2, k + m <= 255", () -> Codec.create("raid6", 3, 3));
    String shape = " shards; allowed: at least 1 of each, at most 255 together";
    Expect.refused("0 + 2" + shape, () -> Codec.create("hdfs", 0, 2));
    Expect.refused("250 + 6" + shape, () -> Codec.create("hdfs", 250, 6));
    Expect.refused("2147483647 + 2147483647" + shape, () -> Codec.create("hdfs", Integer.MAX_VALUE, Integer.MAX_VALUE));
    Expect.refused(
        "polynomial 0x11c; required: irreducible, of degree 8", () -> Codec.create(0x11c, 1, 1, new byte[1]));
    Expect.refused("parity has 5 elements; required: 6", () -> Codec.create(0x11d, 3, 2, new byte[5]));
    Expect.refused("parity has no elements; required: 6", () -> Codec.create(0x11d, 3, 2, null));
    Expect.refused("data has 2 shards; required: 3", () -> codec.encode(new byte[2][8], parity));
    Expect.refused("parity is null; required: 2", () -> codec.encode(data, null));
    Expect.refused("data[1] is null", () -> codec.encode(new byte[][] {data[0], null, data[2]}, parity));
    Expect.refused(
        "parity[1] has 9 bytes, the shards before it have 8",
        () -> codec.encode(data, new byte[][] {parity[0], new byte[9]}));
    Expect.refused(
        "parity[0] is read-only",
        () -> codec.update(0, ByteBuffer.allocate(8), new ByteBuffer[] {direct(parity)[0].asReadOnlyBuffer(), null}));
    Expect.refused("data shard 3; allowed: 0 to 2", () -> codec.update(3, new byte[8], parity));
    Expect.refused("data shard -1; allowed: 0 to 2", () -> codec.update(-1, new byte[8], parity));
    Expect.refused("delta is null", () -> codec.update(0, (byte[]) null, parity));
    Expect.refused("present has 4 flags; required: 5", () -> codec.reconstruct(all, new boolean[4]));
    Expect.refused("wanted has 6 flags; required: 5", () -> codec.reconstruct(all, new boolean[5], new boolean[6]));
    Expect.refused("5 shards are missing; allowed: at most 2", () -> codec.reconstruct(all, new boolean[5]));
    Expect.refused("shards is null; required: 5", () -> codec.check((byte[][]) null));
    overlaps(codec, data, parity);
    codec.encode(new byte[3][0], new byte[2][0]);
    Expect.require(codec.check(new byte[5][0]), "empty shards match");
  }

  public static void main(String[] arguments) {
    Random random = new Random(3);
    for (int round = 0; round < 40; round++) {
      operations(random, 1 + random.nextInt(12), 1 + random.nextInt(5));
    }
    oneArray(random);
    refusals();
    System.out.println(Codec.version() + " " + Codec.isa());
  }
}
