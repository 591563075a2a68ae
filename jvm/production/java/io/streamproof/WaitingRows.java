package io.streamproof;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Map$;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Rows that wait in files of JSON, as one DataFrame for all batches, which Spark analyses once.
 *
 * <p>Before each use {@link #of} says which files it reads, and the rows of which windows it gives.
 */
public final class WaitingRows {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final WaitingFiles files = new WaitingFiles();
  private final Ends ends = new Ends();
  private final Dataset<Row> rows;

  /**
   * @param end the column (bigint, microseconds) with the end of a row's window
   * @param columns of the files, as the JSON of their type
   * @param options how they are read, as Spark's reader of JSON takes them
   */
  public WaitingRows(SparkSession session, String end, String columns, Map<String, String> options) {
    StructType found = ((StructType) DataType.fromJson(columns)).asNullable();
    scala.collection.immutable.Map<String, String> given = Map$.MODULE$.from(CollectionConverters.asScala(options));
    WaitingJson format = new WaitingJson(end, ends);
    Dataset<Row> all =
        session.baseRelationToDataFrame(
            new HadoopFsRelation(files, files.partitionSchema(), found, Option.empty(), format, given, session));
    this.rows = all.filter(ends.column(all.col(end)));
  }

  /** The rows of the files whose windows are asked for. */
  public Dataset<Row> rows() {
    return rows;
  }

  /**
   * Sets what is read next.
   *
   * @param sizes by path the bytes of each file, as a JSON object
   * @param above the windows end above this instant, microseconds
   * @param upTo and up to this one
   */
  public void of(String sizes, long above, long upTo) throws JsonProcessingException {
    files.are(JSON.readValue(sizes, new TypeReference<Map<String, Long>>() {}));
    ends.are(above, upTo);
  }
}
