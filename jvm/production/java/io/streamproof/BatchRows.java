package io.streamproof;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;
import java.util.UUID;
import org.apache.spark.internal.io.FileCommitProtocol;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.avro.AvroFileFormat;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.FileFormatWriter;
import org.apache.spark.sql.execution.datasources.json.JsonFileFormat;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import scala.Option;
import scala.collection.immutable.Map$;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/** The rows of a micro-batch, not computed yet; and, once they are, what that has counted. */
public final class BatchRows {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Dataset<Row> rows;
  private Map<String, Long> sums = Map.of();

  BatchRows(Dataset<Row> rows) {
    this.rows = rows;
  }

  /**
   * Computes the rows, once, and writes them to a directory that is not there yet, by the writer of the format ("json", "parquet",
   * "csv" or "avro") and Spark's usual committer.
   */
  public void write(String format, String directory, Map<String, String> options) {
    SparkSession session = (SparkSession) rows.sparkSession();
    QueryExecution query = ((org.apache.spark.sql.classic.Dataset<Row>) rows).queryExecution();
    scala.collection.immutable.Map<String, String> given = Map$.MODULE$.from(CollectionConverters.asScala(options));
    String committer = session.sessionState().conf().fileCommitProtocolClass();
    try (Execution execution = new Execution(query.executedPlan());
        Evictions evictions = new Evictions(session.sparkContext(), query.executedPlan())) {
      FileFormatWriter.write(
          session,
          query.executedPlan(),
          writer(format),
          FileCommitProtocol.instantiate(committer, UUID.randomUUID().toString(), directory, false),
          new FileFormatWriter.OutputSpec(directory, Map$.MODULE$.empty(), query.analyzed().output()),
          session.sessionState().newHadoopConfWithOptions(given),
          none(),
          Option.empty(),
          none(),
          given,
          0,
          FileFormatWriter.write$default$12());
      sums = execution.sums();
    }
  }

  /** The sums of {@link Execution} as JSON. */
  public String sums() throws JsonProcessingException {
    return JSON.writeValueAsString(sums);
  }

  /** What {@link Watermarks} says of the sources once the rows are computed, as JSON. */
  public String reached() throws JsonProcessingException {
    return JSON.writeValueAsString(watermarks().reached());
  }

  /** Has a source reach a watermark that no event of its own has led to. */
  public void lift(int source, long watermarkMs) {
    watermarks().lift(source, watermarkMs);
  }

  private Watermarks watermarks() {
    return new Watermarks(((org.apache.spark.sql.classic.Dataset<Row>) rows).queryExecution().executedPlan());
  }

  private static FileFormat writer(String format) {
    return switch (format) {
      case "json" -> new JsonFileFormat();
      case "parquet" -> new ParquetFileFormat();
      case "csv" -> new CsvFiles();
      case "avro" -> new AvroFileFormat();
      default -> throw new IllegalArgumentException("streamproof: rows are not staged as " + format);
    };
  }

  @SuppressWarnings("unchecked")
  private static <T> Seq<T> none() {
    return (Seq<T>) Nil$.MODULE$;
  }
}
