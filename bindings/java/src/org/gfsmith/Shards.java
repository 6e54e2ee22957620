package org.gfsmith;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * The shards of one call, as the native library reads them: for each one an object, and in one array
 * all offsets, all owners, all roles. gfsmith_jni.c states their meaning.
 */
final class Shards {
  /** Instead of an index: the argument is one shard. */
  static final int ALONE = -1;

  private static final int DIRECT = -1;
  private static final int ABSENT = 0, READ = 1, WRITE = 2;

  final Object[] objects;
  final int[] numbers;
  private final int count;
  private int filled;
  private int length;

  Shards(int count) {
    this(count, -1);
  }

  /** Describes shards of {@code length} bytes; below 0 the first one determines it. */
  Shards(int count, int length) {
    this.count = count;
    this.length = length;
    objects = new Object[count];
    numbers = new int[3 * count];
  }

  /** Returns the bytes of each shard. */
  int length() {
    return Math.max(length, 0);
  }

  void absent() {
    numbers[2 * count + filled++] = ABSENT;
  }

  void readAll(Object[] shards, String name) {
    for (int i = 0; i < shards.length; i++) {
      read(shards[i], name, i);
    }
  }

  void writeAll(Object[] shards, String name) {
    for (int i = 0; i < shards.length; i++) {
      write(shards[i], name, i);
    }
  }

  void read(Object shard, String name, int index) {
    add(shard, READ, name, index);
  }

  void write(Object shard, String name, int index) {
    if (shard instanceof ByteBuffer buffer && buffer.isReadOnly()) {
      throw new IllegalArgumentException(called(name, index) + " is read-only");
    }
    add(shard, WRITE, name, index);
  }

  private void add(Object shard, int role, String name, int index) {
    if (shard == null) {
      throw new IllegalArgumentException(called(name, index) + " is null");
    } else if (shard instanceof byte[] array) {
      keep(array, 0, array.length, role, name, index);
    } else {
      add((ByteBuffer) shard, role, name, index);
    }
  }

  /**
   * Adds a buffer from its position to its limit. Each is read once, since another thread may change them:
   * a limit is never beyond the buffer.
   */
  private void add(ByteBuffer buffer, int role, String name, int index) {
    int from = buffer.position();
    int bytes = buffer.limit() - from;
    if (bytes < 0) {
      throw new IllegalArgumentException(called(name, index) + " is changed during the call");
    }
    if (buffer.isDirect()) {
      requireOpen(buffer, from, bytes);
      keep(buffer, from, bytes, role, name, index);
    } else if (buffer.hasArray()) {
      keep(buffer.array(), buffer.arrayOffset() + from, bytes, role, name, index);
    } else { // The array of a read-only buffer is not accessible.
      byte[] copy = new byte[bytes];
      buffer.get(from, copy);
      keep(copy, 0, bytes, role, name, index);
    }
  }

  /**
   * Throws the exception of Java's own accesses if the memory of the buffer is that of a closed arena, or
   * of an arena of another thread: native code would access it even if it is freed.
   */
  private static void requireOpen(ByteBuffer buffer, int from, int bytes) {
    if (bytes > 0) {
      buffer.get(from);
    }
  }

  private void keep(Object object, int offset, int bytes, int role, String name, int index) {
    if (length < 0) {
      length = bytes;
    } else if (bytes != length) {
      throw new IllegalArgumentException(
          called(name, index) + " has " + bytes + " bytes, the shards before it have " + length);
    }
    for (int i = 0; i < filled; i++) {
      boolean written = role == WRITE || numbers[2 * count + i] == WRITE;
      if (written && objects[i] == object && Math.abs(numbers[i] - offset) < bytes) {
        throw new IllegalArgumentException(
            called(name, index) + " overlaps a shard before it, and the call writes one of them");
      }
    }
    objects[filled] = object;
    numbers[filled] = offset;
    numbers[count + filled] = object instanceof ByteBuffer ? DIRECT : owner(object);
    numbers[2 * count + filled] = role;
    filled++;
  }

  /** Refuses shards of several calls of which one is written and overlaps another one. */
  static void requireApart(Shards[] calls) {
    Map<Object, Long> memories = new IdentityHashMap<>();
    // The place of a shard in the order of memories and offsets; the lowest bit: it is written.
    long[] places =
        Arrays.stream(calls).flatMapToLong(shards -> shards.places(memories)).sorted().toArray();
    for (int i = 1; i < places.length; i++) {
      boolean written = ((places[i - 1] | places[i]) & 1) != 0;
      // Memories are far apart. Of three shards that overlap, two neighbours include the written one.
      if (written && (places[i] >> 1) - (places[i - 1] >> 1) < calls[0].length()) {
        throw new IllegalArgumentException("parity overlaps a shard of another stripe");
      }
    }
  }

  private LongStream places(Map<Object, Long> memories) {
    return IntStream.range(0, filled)
        .mapToLong(
            i -> {
              long memory = memories.computeIfAbsent(objects[i], object -> (long) memories.size());
              long written = numbers[2 * count + i] == WRITE ? 1 : 0;
              return memory << 33 | (long) numbers[i] << 1 | written;
            });
  }

  private static String called(String name, int index) {
    return index == ALONE ? name : name + "[" + index + "]";
  }

  /** Returns the first shard in the same array. */
  private int owner(Object array) {
    int first = 0;
    while (objects[first] != array) {
      first++;
    }
    return first;
  }
}
