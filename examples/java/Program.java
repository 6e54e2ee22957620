import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.gfsmith.Checksum;
import org.gfsmith.Codec;

/**
 * Encodes 10 data shards into 4 parity shards, with a checksum of each; loses 4 shards, rebuilds them from shards whose
 * checksums are right, and compares.
 */
final class Program {
  private static final int K = 10, M = 4, LENGTH = 100_000;

  public static void main(String[] arguments) {
    byte[][] original = new byte[K][LENGTH];
    ByteBuffer[] shards = new ByteBuffer[K + M]; // outside of the heap: no call delays the garbage collector
    Arrays.setAll(shards, i -> ByteBuffer.allocateDirect(LENGTH));
    Random random = new Random();
    for (int j = 0; j < K; j++) {
      random.nextBytes(original[j]);
      shards[j].put(original[j]).clear();
    }

    Codec codec = Codec.create("cauchy", K, M); // immutable: threads may share it
    long[] stored = new long[K + M]; // 0, or the checksums of the bytes before
    ByteBuffer[] parity = Arrays.copyOfRange(shards, K, K + M);
    codec.encodeChecksums(Checksum.CRC32C, Arrays.copyOf(shards, K), parity, stored);

    boolean[] present = new boolean[K + M];
    Arrays.fill(present, true);
    for (int lost : new int[] {0, 3, 7, 12}) { // three data shards and one parity shard
      shards[lost].put(new byte[LENGTH]).clear();
      present[lost] = false;
    }
    long[] states = new long[K + M];
    boolean[] wrong = codec.reconstructChecksums(Checksum.CRC32C, shards, present, null, states, stored);

    long[] scrubbed = new long[K + M];
    boolean equal = codec.checkChecksums(Checksum.CRC32C, shards, scrubbed);
    equal &= Arrays.equals(scrubbed, stored) && Arrays.equals(wrong, new boolean[K + M]);
    equal &= stored[0] == Checksum.CRC32C.update(0, original[0]);
    for (int j = 0; j < K; j++) {
      equal &= shards[j].equals(ByteBuffer.wrap(original[j]));
    }
    System.out.println(equal ? "all shards are back" : "bytes differ");
  }
}
