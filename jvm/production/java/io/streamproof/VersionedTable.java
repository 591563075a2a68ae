package io.streamproof;

import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SQLContext;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.sources.BaseRelation;
import org.apache.spark.sql.sources.PrunedScan;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;

/**
 * A table that each micro-batch reads in the version that is its own.
 *
 * <p>Spark plans a batch anew from the plan of the query, and asks a relation for its rows while it does so, in the thread of the query: the
 * number of the batch is known there. A folder of files would be listed once, when the query is planned for the first time.
 */
public final class VersionedTable extends BaseRelation implements PrunedScan {
  private static final String BATCH = "streaming.sql.batchId";
  private static final long IN_MEMORY = 3;

  private final SparkSession spark;
  private final StructType columns;
  private final TableVersions versions;

  private long asked = -1;
  private String[] answer;

  private VersionedTable(SparkSession spark, StructType columns, TableVersions versions) {
    this.spark = spark;
    this.columns = columns;
    this.versions = versions;
  }

  public static org.apache.spark.sql.Dataset<Row> rows(SparkSession spark, String columns, TableVersions versions) {
    return spark.baseRelationToDataFrame(new VersionedTable(spark, (StructType) DataType.fromJson(columns), versions));
  }

  @Override
  public SQLContext sqlContext() {
    return spark.sqlContext();
  }

  @Override
  public StructType schema() {
    return columns;
  }

  /** By it Spark decides whether a table is small enough to be broadcast: Parquet takes less on disk than in memory. */
  @Override
  public long sizeInBytes() {
    return Math.max(1, Long.parseLong(version()[0])) * IN_MEMORY;
  }

  /** The rows are Spark's own already. */
  @Override
  public boolean needConversion() {
    return false;
  }

  @Override
  @SuppressWarnings("unchecked")
  public RDD<Row> buildScan(String[] wanted) {
    String folder = "[" + quoted(version()[1]) + "]";
    Dataset<Row> rows = read(folder);
    org.apache.spark.sql.Column[] asked = new org.apache.spark.sql.Column[wanted.length];
    for (int number = 0; number < wanted.length; number++) {
      asked[number] = functions.col("`" + wanted[number].replace("`", "``") + "`");
    }
    Dataset<Row> pruned = (Dataset<Row>) rows.select(asked);
    return (RDD<Row>) (RDD<?>) pruned.queryExecution().toRdd();
  }

  private Dataset<Row> read(String folders) {
    try {
      return NamedFiles.rows(spark, "parquet", java.util.Map.of(), columns.json(), folders);
    } catch (java.io.IOException unreadable) {
      throw new java.io.UncheckedIOException(unreadable);
    }
  }

  /** Asked once for each batch, however often Spark wants to know; without a batch each time, since nothing is fixed then. */
  private synchronized String[] version() {
    String property = spark.sparkContext().getLocalProperty(BATCH);
    long batch = property == null ? -1 : Long.parseLong(property);
    if (answer == null || batch != asked || batch < 0) {
      answer = versions.of(batch).split("\t", 2);
      asked = batch;
    }
    return answer;
  }

  /** A text as JSON has it. */
  private static String quoted(String text) {
    StringBuilder written = new StringBuilder("\"");
    for (char each : text.toCharArray()) {
      if (each == '"' || each == '\\') {
        written.append('\\');
      }
      written.append(each);
    }
    return written.append('"').toString();
  }
}
