package io.streamproof;

import org.apache.hadoop.conf.Configuration;
import org.apache.spark.SparkEnv;
import org.apache.spark.deploy.SparkHadoopUtil;

/** Spark's Hadoop configuration on whichever process this is (R5), built once. */
final class HadoopConfiguration {
  private static volatile Configuration configuration;

  private HadoopConfiguration() {}

  static Configuration ofThisProcess() {
    Configuration known = configuration;
    if (known == null) {
      known = SparkHadoopUtil.get().newConfiguration(SparkEnv.get().conf());
      configuration = known;
    }
    return known;
  }
}
