import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.util.stream.IntStream;
import org.apache.hadoop.io.erasurecode.ErasureCoderOptions;
import org.apache.hadoop.io.erasurecode.rawcoder.RSRawDecoder;
import org.apache.hadoop.io.erasurecode.rawcoder.RSRawEncoder;

/** Answers the requests of tests/oracle/peers.py with HDFS's coder in Java. */
final class Peer {
  private static byte[][] shards(DataInputStream in, int count, int length) throws IOException {
    byte[][] all = new byte[count][length];
    for (byte[] shard : all) {
      in.readFully(shard);
    }
    return all;
  }

  private static byte[][] encode(DataInputStream in, int k, int m, int length) throws IOException {
    byte[][] parity = new byte[m][length];
    new RSRawEncoder(new ErasureCoderOptions(k, m)).encode(shards(in, k, length), parity);
    return parity;
  }

  private static byte[][] repair(DataInputStream in, int k, int m, int length) throws IOException {
    byte[] present = shards(in, 1, k + m)[0];
    byte[][] all = shards(in, k + m, length);
    int[] erased = IntStream.range(0, k + m).filter(i -> present[i] == 0).toArray();
    byte[][] inputs = all.clone();
    byte[][] outputs = new byte[erased.length][length];
    for (int index : erased) {
      inputs[index] = null;
    }
    new RSRawDecoder(new ErasureCoderOptions(k, m)).decode(inputs, erased, outputs);
    for (int n = 0; n < erased.length; n++) {
      all[erased[n]] = outputs[n];
    }
    return all;
  }

  public static void main(String[] arguments) throws IOException {
    DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
    OutputStream out = new BufferedOutputStream(System.out);
    while (true) {
      int[] header = new int[4];
      try {
        for (int n = 0; n < 4; n++) {
          header[n] = Integer.reverseBytes(in.readInt());
        }
      } catch (EOFException end) {
        break;
      }
      int k = header[1], m = header[2], length = header[3];
      byte[][] answer = header[0] == 0 ? encode(in, k, m, length) : repair(in, k, m, length);
      for (byte[] shard : answer) {
        out.write(shard);
      }
    }
    out.flush();
  }
}
