package io.streamproof.proof;

import java.lang.reflect.Field;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.SparkContext;
import org.apache.spark.network.util.JavaUtils;

/** What Spark does over and over in the JVM of a proof, done at less cost; what it writes and reads is the same. */
public final class WarmJvm {
  private WarmJvm() {}

  /** To be called once the context is there; it holds until the JVM ends. */
  public static void prepare(SparkContext context) {
    deleteWithoutProcesses();
    forgetOrigins(context.hadoopConfiguration());
  }

  /**
   * Spark runs {@code rm -rf} for each local folder it deletes, several for every state partition of every batch. What it takes for
   * another system than a Unix it deletes in the JVM; nothing else looks at this field once Spark runs.
   */
  private static void deleteWithoutProcesses() {
    try {
      JavaUtils.class.getField("isUnix").setBoolean(null, false);
    } catch (ReflectiveOperationException olderSpark) {
      return; // it only costs time
    }
  }

  /**
   * Hadoop's settings go to the tasks of every stage, each with the compressed name of the file that it stood in: a thousand
   * compressions a time, of what nobody asks for. Copies of a configuration take over the names of the first, which has none then.
   */
  private static void forgetOrigins(Configuration configuration) {
    configuration.size(); // reads the files, and notes the names
    try {
      Field origins = Configuration.class.getDeclaredField("updatingResource");
      origins.setAccessible(true);
      ((Map<?, ?>) origins.get(configuration)).clear();
    } catch (ReflectiveOperationException | RuntimeException otherHadoop) {
      return; // it only costs time
    }
  }
}
