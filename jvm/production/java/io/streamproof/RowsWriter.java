package io.streamproof;

import java.util.Map;
import java.util.UUID;
import org.apache.spark.internal.io.FileCommitProtocol;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.avro.AvroFileFormat;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.CommandExecutionMode;
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

/** Writes the rows of an executed plan by Spark's writer of a format and its usual committer; a DataFrame's own writer plans them anew. */
public final class RowsWriter {
  private RowsWriter() {}

  /** Plans rows, computes them, and adds them as files to a directory: what is read may be another than when they were planned before. */
  public static void write(Dataset<Row> rows, String format, String directory, Map<String, String> options) {
    SparkSession session = (SparkSession) rows.sparkSession();
    LogicalPlan analyzed = ((org.apache.spark.sql.classic.Dataset<Row>) rows).queryExecution().analyzed();
    write(session, session.sessionState().executePlan(analyzed, CommandExecutionMode.ALL()), format, directory, options);
  }

  /**
   * Computes the rows, once, and writes them as files of their own to a directory.
   *
   * @param format "json", "parquet", "csv" or "avro"
   */
  static void write(SparkSession session, QueryExecution query, String format, String directory, Map<String, String> options) {
    scala.collection.immutable.Map<String, String> given = Map$.MODULE$.from(CollectionConverters.asScala(options));
    String committer = session.sessionState().conf().fileCommitProtocolClass();
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
