package io.streamproof;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.orc.TypeDescription;
import org.apache.spark.sql.execution.datasources.orc.OrcUtils;
import scala.Option;

/** The columns that an ORC file says it has; since 4.2 Spark knows two ways to read them. */
final class OrcColumns {
  private OrcColumns() {}

  static Option<TypeDescription> of(Path file, Configuration configuration) {
    return OrcUtils.readSchema(file, configuration, false, false);
  }
}
