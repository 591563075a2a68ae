package io.streamproof;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.Map;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.QueryExecution;

/** The rows of a micro-batch, not computed yet; and, once they are, what that has counted. */
public final class BatchRows {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Dataset<Row> rows;
  private Map<String, Long> sums = Map.of();
  private String query;

  BatchRows(Dataset<Row> rows) {
    this.rows = rows;
  }

  /** Computes the rows, once, and writes them to a directory that is not there yet, see {@link RowsWriter}. */
  public void write(String format, String directory, Map<String, String> options) throws InterruptedException {
    SparkSession session = (SparkSession) rows.sparkSession();
    TaskTimes.listen(session);
    query = session.sparkContext().getLocalProperty(TaskTimes.QUERY);
    QueryExecution execution = query();
    try (Execution counted = new Execution(execution.executedPlan());
        Evictions evictions = new Evictions(session.sparkContext(), execution.executedPlan())) {
      RowsWriter.write(session, execution, format, directory, options);
      sums = counted.sums();
    }
  }

  /** The sums of {@link Execution} as JSON. */
  public String sums() throws JsonProcessingException {
    return JSON.writeValueAsString(sums);
  }

  /** How long the partitions of the state took once the rows are written, see {@link TaskTimes}: as JSON, null where that is not known. */
  public String times(long batch) throws JsonProcessingException, InterruptedException {
    return TaskTimes.of(rows.sparkSession(), query, batch);
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
    return new Watermarks(query().executedPlan());
  }

  private QueryExecution query() {
    return ((org.apache.spark.sql.classic.Dataset<Row>) rows).queryExecution();
  }
}
