import java.nio.ByteBuffer;
import java.util.stream.Stream;
import org.gfsmith.Codec;

/**
 * Codec refuses direct buffers whose memory is freed: those of a closed arena. By reflection, because
 * the classes have other names in Java 17, where they are in an incubator.
 */
final class Closed {
  private static final int LENGTH = 1 << 20;

  private final Class<?> arenas;
  private final Class<?> segments;
  private final Object arena;

  private Closed() throws ReflectiveOperationException {
    boolean old = Runtime.version().feature() == 17;
    arenas = Class.forName(old ? "jdk.incubator.foreign.ResourceScope" : "java.lang.foreign.Arena");
    segments = Class.forName((old ? "jdk.incubator" : "java.lang") + ".foreign.MemorySegment");
    arena = arenas.getMethod(old ? "newSharedScope" : "ofShared").invoke(null);
  }

  private ByteBuffer buffer() {
    try {
      Object segment =
          Runtime.version().feature() == 17
              ? segments.getMethod("allocateNative", long.class, arenas).invoke(null, LENGTH, arena)
              : arenas.getMethod("allocate", long.class).invoke(arena, LENGTH);
      return (ByteBuffer) segments.getMethod("asByteBuffer").invoke(segment);
    } catch (ReflectiveOperationException reason) {
      throw new AssertionError(reason);
    }
  }

  private static ByteBuffer[] concatenation(ByteBuffer[] first, ByteBuffer[] second) {
    return Stream.of(first, second).flatMap(Stream::of).toArray(ByteBuffer[]::new);
  }

  private static void refused(String call, Runnable run) {
    try {
      run.run();
    } catch (IllegalStateException reason) {
      return;
    }
    throw new AssertionError(call + " accepted");
  }

  public static void main(String[] arguments) throws ReflectiveOperationException {
    Closed memory = new Closed();
    Codec codec = Codec.create("cauchy", 2, 2);
    ByteBuffer[] data = {memory.buffer(), memory.buffer()};
    ByteBuffer[] open = {ByteBuffer.allocateDirect(LENGTH), ByteBuffer.allocateDirect(LENGTH)};
    ByteBuffer[] all = concatenation(data, open);
    codec.encode(data, open);
    if (!codec.check(all)) {
      throw new AssertionError("wrong parities");
    }
    memory.arenas.getMethod("close").invoke(memory.arena);
    refused("encode", () -> codec.encode(data, open));
    refused("encode into it", () -> codec.encode(open, data));
    refused("update", () -> codec.update(0, data[0], open));
    refused("check", () -> codec.check(all));
    refused("reconstruct", () -> codec.reconstruct(all, new boolean[] {false, false, true, true}));
    System.out.println("refused");
  }
}
