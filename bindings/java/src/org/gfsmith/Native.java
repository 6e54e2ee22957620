package org.gfsmith;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** The native library: its methods, and how it is found. */
final class Native {
  /** The property that names the library's file; without it the archive's own library is loaded. */
  static final String PROPERTY = "org.gfsmith.library";

  // As in gfsmith.h and gfsmith_jni.c.
  static final int OK = 0, DIFFERS = 1;
  static final int EINVAL = -1, ENOMEM = -2;
  static final int ENCODE = 0, RECONSTRUCT = 1, CHECK = 2, UPDATE = 3;

  static {
    load();
  }

  private Native() {}

  private static void load() {
    String path = System.getProperty(PROPERTY);
    if (path != null) {
      System.load(Path.of(path).toAbsolutePath().toString());
      return;
    }
    String resource = "native/" + machine() + "/libgfsmith-java.so";
    try (InputStream library = Native.class.getResourceAsStream(resource)) {
      if (library == null) {
        throw new UnsatisfiedLinkError(
            "gfsmith: no library for this machine (" + machine() + "); " + PROPERTY + " can name one");
      }
      loadCopy(library);
    } catch (IOException reason) {
      throw new UnsatisfiedLinkError(
          "gfsmith: cannot write the library to " + System.getProperty("java.io.tmpdir") + ": " + reason);
    }
  }

  private static String machine() {
    String processor = System.getProperty("os.arch");
    return System.getProperty("os.name").toLowerCase(java.util.Locale.ROOT)
        + "-"
        + (processor.equals("amd64") ? "x86_64" : processor);
  }

  /** Only this user can write to the folder, and the name exists only with all bytes. */
  private static void loadCopy(InputStream library) throws IOException {
    Path folder = Files.createTempDirectory("gfsmith-java");
    Path part = folder.resolve("part");
    Path file = folder.resolve("libgfsmith-java.so");
    try {
      Files.copy(library, part);
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
      System.load(file.toString());
    } finally {
      // A loaded library needs its name no longer.
      Files.deleteIfExists(part);
      Files.deleteIfExists(file);
      Files.deleteIfExists(folder);
    }
  }

  /** The address of a codec, or a negative status. */
  static native long create(String code, int k, int m);

  /** The address of a codec, or a negative status. */
  static native long createMatrix(int polynomial, int k, int m, byte[] parity);

  static native void destroy(long codec);

  /**
   * Executes one operation; {@link Shards} describes the arguments. The result is a status, or for
   * CHECK also DIFFERS.
   */
  static native int run(
      long codec, int operation, int index, int inputs, Object[] objects, int[] numbers, int length);

  /**
   * Executes ENCODE, RECONSTRUCT or CHECK with checksums: {@code states} of all shards continue, {@code wrong} receives
   * the results of RECONSTRUCT if {@code expected} is not null. Only ENCODE has several stripes.
   */
  static native int runChecksums(
      long codec,
      int operation,
      int stripes,
      int inputs,
      Object[] objects,
      int[] numbers,
      int length,
      int kind,
      long[] states,
      long[] expected,
      boolean[] wrong);

  /** Continues the checksum of one shard, or with a sector above 0 computes that of each sector. */
  static int update(int kind, int sector, Shards data, long[] checksums) {
    return update(kind, sector, data.objects, data.numbers, data.length(), checksums);
  }

  private static native int update(
      int kind, int sector, Object[] objects, int[] numbers, int length, long[] checksums);

  /** The checksum of two pieces, from valid arguments. */
  static native long combine(int kind, long first, long second, long secondLength);

  /** The address of the tables of sketches, or a negative status. */
  static native long createSketch(int polynomial);

  static native void destroySketch(long tables);

  /** Adds the sketch of the data, which begin at an offset of their shard, to a sum of 8 bytes. */
  static int addToSketch(long tables, byte[] sum, long offset, Shards data) {
    return addToSketch(tables, sum, offset, data.objects, data.numbers, data.length());
  }

  private static native int addToSketch(
      long tables, byte[] sum, long offset, Object[] objects, int[] numbers, int length);

  static native String isa();

  static native String version();

  static native String message(int status);
}
