package gfsmith;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.Vector;
import java.util.concurrent.TimeUnit;
import net.spy.memcached.CachedData;
import net.spy.memcached.ConnectionFactoryBuilder;
import net.spy.memcached.FailureMode;
import net.spy.memcached.MemcachedClient;
import net.spy.memcached.transcoders.Transcoder;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.DBException;
import site.ycsb.Status;

/**
 * YCSB client for a server that speaks memcached's text protocol. A record has one field, whose
 * bytes are the value, so fieldlength is the size of the stored value. Each of YCSB's threads has
 * its own connections. The client library distributes the keys over several servers.
 *
 * <p>Properties: memcached.host, memcached.ports (separated by commas), memcached.timeout (milliseconds of an
 * operation, 20000).
 */
public final class Memcached extends DB {
  private static final String FIELD = "field0";

  /** Stores bytes without serialization or compression. */
  private static final Transcoder<byte[]> BYTES =
      new Transcoder<>() {
        @Override
        public boolean asyncDecode(CachedData data) {
          return false;
        }

        @Override
        public CachedData encode(byte[] bytes) {
          return new CachedData(0, bytes, getMaxSize());
        }

        @Override
        public byte[] decode(CachedData data) {
          return data.getData();
        }

        @Override
        public int getMaxSize() {
          return CachedData.MAX_SIZE;
        }
      };

  private MemcachedClient client;
  private long timeout;

  @Override
  public void init() throws DBException {
    var host = getProperties().getProperty("memcached.host", "127.0.0.1");
    var addresses = new ArrayList<InetSocketAddress>();
    for (var port : getProperties().getProperty("memcached.ports").split(",")) {
      addresses.add(new InetSocketAddress(host, Integer.parseInt(port)));
    }
    timeout = Long.parseLong(getProperties().getProperty("memcached.timeout", "20000"));
    try {
      var factory =
          new ConnectionFactoryBuilder()
              .setOpTimeout(timeout)
              .setUseNagleAlgorithm(false)
              // The default sends keys to another server until the right one is connected.
              .setFailureMode(FailureMode.Retry)
              .setDaemon(true)
              .build();
      client = new MemcachedClient(factory, addresses);
    } catch (java.io.IOException error) {
      throw new DBException(error);
    }
  }

  @Override
  public void cleanup() {
    client.shutdown(timeout, TimeUnit.MILLISECONDS);
  }

  @Override
  public Status read(String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
    try {
      var bytes = client.asyncGet(key, BYTES).get(timeout, TimeUnit.MILLISECONDS);
      if (bytes == null) {
        return Status.NOT_FOUND;
      }
      result.put(FIELD, new ByteArrayByteIterator(bytes));
      return Status.OK;
    } catch (Exception error) {
      return failed(error);
    }
  }

  @Override
  public Status insert(String table, String key, Map<String, ByteIterator> values) {
    try {
      var set = client.set(key, 0, values.get(FIELD).toArray(), BYTES);
      return set.get(timeout, TimeUnit.MILLISECONDS) ? Status.OK : Status.ERROR;
    } catch (Exception error) {
      return failed(error);
    }
  }

  /** An update replaces the whole record, as a set does. */
  @Override
  public Status update(String table, String key, Map<String, ByteIterator> values) {
    return insert(table, key, values);
  }

  @Override
  public Status delete(String table, String key) {
    try {
      return client.delete(key).get(timeout, TimeUnit.MILLISECONDS) ? Status.OK : Status.NOT_FOUND;
    } catch (Exception error) {
      return failed(error);
    }
  }

  @Override
  public Status scan(
      String table,
      String start,
      int count,
      Set<String> fields,
      Vector<HashMap<String, ByteIterator>> result) {
    return Status.NOT_IMPLEMENTED;
  }

  private static Status failed(Exception error) {
    System.err.println("gfsmith.Memcached: " + error);
    return Status.ERROR;
  }
}
