import java.io.File;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.hdfs.tools.ECAdmin;

/** {@code hdfs ec} against a NameNode in this process. Arguments: FOLDER for its data; those of the command. */
final class Listed {
  private Listed() {}

  public static void main(String[] arguments) throws Exception {
    Configuration configuration = new HdfsConfiguration();
    String[] command = Arrays.copyOfRange(arguments, 1, arguments.length);
    int status;
    try (MiniDFSCluster cluster =
        new MiniDFSCluster.Builder(configuration, new File(arguments[0])).numDataNodes(0).build()) {
      status = new ECAdmin(cluster.getConfiguration(0)).run(command);
    }
    System.exit(status);
  }
}
