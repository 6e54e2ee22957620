import java.nio.ByteBuffer;
import org.gfsmith.Codec;

/** Moves the position of a buffer in one thread while another one encodes into it. */
final class Moved {
  private static final int LENGTH = 64;
  private static final int CALLS = 500000;

  private static volatile boolean done;
  private static volatile int steps;

  public static void main(String[] arguments) throws InterruptedException {
    ByteBuffer memory = ByteBuffer.allocateDirect(2 * LENGTH);
    ByteBuffer parity = memory.slice(0, LENGTH);
    ByteBuffer data = ByteBuffer.allocateDirect(LENGTH);
    for (int n = 0; n < LENGTH; n++) {
      data.put(n, (byte) 1);
    }
    Thread mover = new Thread(() -> move(parity));
    mover.start();
    Codec codec = Codec.create("cauchy", 1, 1);
    int refused = 0;
    for (int n = 0; n < CALLS; n++) {
      try {
        codec.encode(new ByteBuffer[] {data}, new ByteBuffer[] {parity});
      } catch (IllegalArgumentException otherLength) {
        refused++;
      }
    }
    done = true;
    mover.join();
    int beyond = 0;
    for (int n = LENGTH; n < 2 * LENGTH; n++) {
      beyond += memory.get(n) != 0 ? 1 : 0;
    }
    System.out.println(refused == CALLS ? "all calls were refused" : beyond + " bytes beyond the buffer");
  }

  private static void move(ByteBuffer buffer) {
    while (!done) {
      buffer.position(LENGTH / 2);
      steps = 1;
      buffer.position(0);
      steps = 2;
    }
  }
}
