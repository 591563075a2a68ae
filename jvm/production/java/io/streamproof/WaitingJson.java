package io.streamproof;

import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.execution.datasources.json.JsonFileFormat;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.sources.GreaterThan;
import org.apache.spark.sql.sources.LessThanOrEqual;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.collection.Iterator;
import scala.collection.immutable.Map;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Spark's reader of JSON, which leaves a line as soon as it has seen that the end of its window is not one of those that are asked for.
 *
 * <p>The rest of such a line is parsed when its row is due, or is put together with others. If an end is damaged, a row that is due can be
 * left: the rows that were read are counted, and compared with the manifests.
 */
final class WaitingJson extends JsonFileFormat {
  private static final long serialVersionUID = 1L;

  private final String end;
  private final Ends ends;

  /** end names the column (bigint, microseconds) with the end of a row's window. */
  WaitingJson(String end, Ends ends) {
    this.end = end;
    this.ends = ends;
  }

  @Override
  public Function1<PartitionedFile, Iterator<InternalRow>> buildReader(
      SparkSession session,
      StructType all,
      StructType partitions,
      StructType wanted,
      Seq<Filter> filters,
      Map<String, String> options,
      Configuration configuration) {
    List<Filter> asked = List.of(new GreaterThan(end, ends.above()), new LessThanOrEqual(end, ends.upTo()));
    return super.buildReader(session, all, partitions, wanted, CollectionConverters.asScala(asked).toSeq(), options, configuration);
  }
}
