package io.streamproof;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
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
    call(
        "write",
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
        0);
  }

  /** Calls Spark's writer, by its name: some patches of 4.0, 4.1 and 4.2 have one more parameter than the others, which has a default. */
  private static Object call(String name, Object... arguments) {
    Method found = Stream.of(FileFormatWriter.class.getMethods()).filter(method -> method.getName().equals(name)).findFirst().get();
    List<Object> given = new ArrayList<>(List.of(arguments));
    for (int number = given.size() + 1; number <= found.getParameterCount(); number++) {
      given.add(call(name + "$default$" + number));
    }
    try {
      return found.invoke(null, given.toArray());
    } catch (IllegalAccessException | IllegalArgumentException unknown) {
      throw new IllegalStateException("streamproof: this Spark has another " + found, unknown);
    } catch (InvocationTargetException failed) {
      throw RowsWriter.<RuntimeException>as(failed.getCause());
    }
  }

  /** Scala throws what it does not declare. */
  @SuppressWarnings("unchecked")
  private static <T extends Throwable> T as(Throwable problem) throws T {
    throw (T) problem;
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
