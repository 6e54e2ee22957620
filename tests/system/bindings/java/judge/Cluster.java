import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.protocol.ExtendedBlock;
import org.apache.hadoop.hdfs.protocol.DatanodeInfo;
import org.apache.hadoop.hdfs.protocol.LocatedBlock;
import org.apache.hadoop.hdfs.protocol.LocatedStripedBlock;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.util.StripedBlockUtil;
import org.apache.hadoop.util.VersionInfo;
import org.gfsmith.hadoop.Coders;

/**
 * A real HDFS in this process: files are written and read, DataNodes stopped, blocks rebuilt and mended.
 * Arguments: POLICY, such as RS-6-3-1024k; MEBIBYTES of the file; FOLDER for all data.
 */
final class Cluster implements AutoCloseable {
  private static final String CODERS = "io.erasurecode.codec.rs.rawcoders";
  private static final int TIMEOUT_SECONDS = 300;
  private static final int BLOCK = 4 << 20;
  private static final int CELL = 1 << 20;

  private final Configuration configuration = new HdfsConfiguration();
  private final MiniDFSCluster cluster;
  private final int k, m;
  private final long bytes;
  private long callsBefore;

  /** Lets the scanners of DataNodes start again after seconds; otherwise a period takes hours. */
  private static void allowShortPeriods() throws ReflectiveOperationException {
    var field =
        Class.forName("org.apache.hadoop.hdfs.server.datanode.BlockScanner$Conf")
            .getDeclaredField("allowUnitTestSettings");
    field.setAccessible(true);
    field.setBoolean(null, true);
  }

  private Cluster(String policy, long bytes, String folder) throws Exception {
    allowShortPeriods();
    String[] parts = policy.split("-");
    k = Integer.parseInt(parts[1]);
    m = Integer.parseInt(parts[2]);
    this.bytes = bytes;
    configuration.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, folder);
    configuration.set(CODERS, "rs_gfsmith");
    configuration.setLong("dfs.blocksize", BLOCK);
    configuration.setInt("dfs.heartbeat.interval", 1);
    configuration.setInt("dfs.namenode.redundancy.interval.seconds", 1);
    configuration.setInt("dfs.namenode.reconstruction.pending.timeout-sec", 20);
    configuration.setInt("dfs.namenode.replication.max-streams", 20);
    configuration.setInt("dfs.namenode.replication.max-streams-hard-limit", 20);
    configuration.setLong("dfs.block.scanner.volume.bytes.per.second", 64 << 20);
    configuration.setLong("internal.dfs.datanode.scan.period.ms.key", 4000);
    // After m of them have stopped, one is left over for the block of a damaged one.
    int nodes = k + 2 * m + 1;
    cluster = new MiniDFSCluster.Builder(configuration).numDataNodes(nodes).storagesPerDatanode(1).build();
    cluster.waitActive();
    cluster.getFileSystem().enableErasureCodingPolicy(policy);
    for (String coder : new String[] {"rs_gfsmith", "rs_java"}) {
      Path home = new Path("/" + coder);
      cluster.getFileSystem().mkdirs(home);
      cluster.getFileSystem().setErasureCodingPolicy(home, policy);
    }
  }

  @Override
  public void close() {
    cluster.shutdown(true);
  }

  private static Path file(String coder) {
    return new Path("/" + coder + "/file");
  }

  private DistributedFileSystem client(String coder) throws IOException {
    Configuration own = new Configuration(configuration);
    own.set(CODERS, coder);
    return (DistributedFileSystem) org.apache.hadoop.fs.FileSystem.newInstance(cluster.getURI(), own);
  }

  /** Starts a phase; {@link #coded} requires that gfsmith's coders ran in it. */
  private void begin() {
    callsBefore = Coders.calls();
  }

  private long calls() {
    return Coders.calls() - callsBefore;
  }

  private void coded(String phase) {
    Expect.require(calls() > 0, phase + ": the coders of gfsmith did not run");
    System.out.println(phase + ": " + calls() + " calls");
  }

  private String write(String coder) throws Exception {
    MessageDigest digest = sha256();
    Random random = new Random(27);
    byte[] part = new byte[1 << 20];
    try (DistributedFileSystem client = client(coder);
        OutputStream out = client.create(file(coder))) {
      for (long left = bytes; left > 0; left -= part.length) {
        random.nextBytes(part);
        int used = (int) Math.min(left, part.length);
        digest.update(part, 0, used);
        out.write(part, 0, used);
      }
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  private String read(String coder) throws Exception {
    try (DistributedFileSystem client = client(coder);
        InputStream in = client.open(file(coder))) {
      return digest(in);
    }
  }

  private Iterable<LocatedBlock> groups(String coder) throws IOException {
    String path = file(coder).toUri().getPath();
    return cluster.getFileSystem().getClient().getLocatedBlocks(path, 0, Long.MAX_VALUE).getLocatedBlocks();
  }

  private DataNode node(DatanodeInfo location) {
    return cluster.getDataNodes().stream()
        .filter(node -> node.getDatanodeUuid().equals(location.getDatanodeUuid()))
        .findFirst()
        .orElse(null);
  }

  /** Returns the file of a block on a running DataNode. */
  private File blockFile(DatanodeInfo location, ExtendedBlock block) throws IOException {
    return new File(node(location).getFSDataset().getBlockLocalPathInfo(block).getBlockPath());
  }

  /** Returns the files of all internal blocks: by number of group and index in the group, "2/13". */
  private Map<String, File> blocks(String coder) throws IOException {
    Map<String, File> found = new TreeMap<>();
    int number = 0;
    for (LocatedBlock located : groups(coder)) {
      LocatedStripedBlock group = (LocatedStripedBlock) located;
      for (int i = 0; i < group.getLocations().length; i++) {
        int index = group.getBlockIndices()[i];
        ExtendedBlock block =
            StripedBlockUtil.constructInternalBlock(group.getBlock(), CELL, k, index);
        if (node(group.getLocations()[i]) != null) {
          found.put(number + "/" + index, blockFile(group.getLocations()[i], block));
        }
      }
      number++;
    }
    return found;
  }

  /** Returns whether each group has all of its blocks on running DataNodes, and nothing is left to do. */
  private boolean whole(int expected) throws IOException {
    var names = cluster.getNamesystem();
    return names.getPendingReconstructionBlocks() == 0
        && names.getLowRedundancyBlocks() == 0
        && names.getCorruptReplicaBlocks() == 0
        && blocks("rs_gfsmith").size() == expected;
  }

  /** Waits for a condition. A block that HDFS deletes meanwhile makes it fail with an IOException. */
  private static void await(String what, Callable<Boolean> condition) throws Exception {
    long end = System.nanoTime() + TIMEOUT_SECONDS * 1_000_000_000L;
    IOException last = null;
    while (System.nanoTime() < end) {
      try {
        if (condition.call()) {
          return;
        }
      } catch (IOException reason) {
        last = reason;
      }
      Thread.sleep(200);
    }
    throw new AssertionError(what + ": not within " + TIMEOUT_SECONDS + " s", last);
  }

  private static String digest(File file) throws IOException {
    try (InputStream in = Files.newInputStream(file.toPath())) {
      return digest(in);
    }
  }

  private static String digest(InputStream in) throws IOException {
    MessageDigest digest = sha256();
    byte[] part = new byte[1 << 20];
    for (int got = in.read(part); got >= 0; got = in.read(part)) {
      digest.update(part, 0, got);
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException reason) {
      throw new AssertionError(reason);
    }
  }

  /** Returns the number of internal blocks of the file: a group shorter than k cells has fewer data blocks. */
  private int expectedBlocks(String coder) throws IOException {
    long total = 0;
    for (LocatedBlock group : groups(coder)) {
      total += Math.min(k, (group.getBlockSize() + CELL - 1) / CELL) + m;
    }
    return (int) total;
  }

  /** Waits until all blocks of a closed file are reported: HDFS closes a file when k of a group are. */
  private void awaitReports(String coder) throws Exception {
    int expected = expectedBlocks(coder);
    await("reports of the blocks of " + coder, () -> blocks(coder).size() == expected);
  }

  private Map<String, String> digests(String coder) throws IOException {
    Map<String, String> all = new TreeMap<>();
    for (var each : blocks(coder).entrySet()) {
      all.put(each.getKey(), digest(each.getValue()));
    }
    return all;
  }

  /** Requires that all block files have the wanted contents. */
  private void requireBlocks(Map<String, String> wanted, String what) throws IOException {
    Map<String, String> ours = digests("rs_gfsmith");
    Expect.require(ours.keySet().equals(wanted.keySet()), what + ": blocks " + ours.keySet() + ", " + wanted.keySet());
    for (String name : ours.keySet()) {
      Expect.require(ours.get(name).equals(wanted.get(name)), what + ": block " + name + " differs");
    }
  }

  /** Stops m DataNodes that have blocks of the first group. */
  private void stopNodes() throws Exception {
    LocatedBlock group = groups("rs_gfsmith").iterator().next();
    for (int i = 0; i < m; i++) {
      DataNode node = node(group.getLocations()[i]);
      cluster.stopDataNode(cluster.getDataNodes().indexOf(node));
    }
  }

  private void declareDead() throws Exception {
    var running = cluster.getDataNodes().stream().map(DataNode::getDatanodeUuid).toList();
    for (DatanodeInfo node : cluster.getFileSystem().getDataNodeStats()) {
      if (!running.contains(node.getDatanodeUuid())) {
        cluster.setDataNodeDead(node);
      }
    }
  }

  private static void flip(File file) throws IOException {
    try (RandomAccessFile content = new RandomAccessFile(file, "rw")) {
      content.seek(1000);
      int old = content.read();
      content.seek(1000);
      content.write(old ^ 1);
    }
  }

  private void run() throws Exception {
    System.out.println("Hadoop " + VersionInfo.getVersion());
    System.out.println("coders: " + cluster.getFileSystem().getAllErasureCodingCodecs());
    begin();
    String written = write("rs_gfsmith");
    coded("write");
    Expect.require(write("rs_java").equals(written), "the files differ");
    awaitReports("rs_gfsmith");
    awaitReports("rs_java");
    Map<String, String> wanted = digests("rs_java");
    requireBlocks(wanted, "written");

    stopNodes();
    begin();
    Expect.require(read("rs_gfsmith").equals(written), "the file read without DataNodes differs");
    coded("degraded read");

    begin();
    declareDead();
    await("reconstruction", () -> whole(wanted.size()));
    coded("reconstruction");
    requireBlocks(wanted, "rebuilt");

    mend("0/" + k, "scan", wanted, () -> true);
    mend("0/0", "read", wanted, () -> read("rs_gfsmith").equals(written));
    System.out.println(wanted.size() + " blocks of " + bytes + " bytes are equal");
  }

  /** Damages a block file, and waits until HDFS has found and replaced it. */
  private void mend(String name, String phase, Map<String, String> wanted, Callable<Boolean> reader)
      throws Exception {
    begin();
    flip(blocks("rs_gfsmith").get(name));
    Expect.require(reader.call(), "the file with a damaged block differs");
    await(
        phase,
        () -> {
          File file = blocks("rs_gfsmith").get(name);
          return file != null
              && digest(file).equals(wanted.get(name))
              && whole(wanted.size());
        });
    coded(phase);
    requireBlocks(wanted, "mended");
  }

  public static void main(String[] arguments) throws Exception {
    long bytes = (Long.parseLong(arguments[1]) << 20) + 12345;
    try (Cluster cluster = new Cluster(arguments[0], bytes, arguments[2])) {
      cluster.run();
    }
    System.exit(0); // Hadoop leaves threads
  }
}
