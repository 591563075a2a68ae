package io.streamproof;

import java.util.EnumSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReportsSourceMetrics;
import org.apache.spark.sql.connector.read.streaming.SupportsAdmissionControl;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.execution.datasources.DataSource;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Spark's own source of topics, of which a batch takes as much as its {@link Intake} says.
 *
 * <p>Spark fixes the limit of a source when a query starts, and hands it to the source each time that it asks for the end of a batch. Nothing
 * else is done here: offsets, logs and readers are the connector's.
 */
public final class PacedTopics implements TableProvider {
  private final TableProvider connector = connector();

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return connector.inferSchema(options);
  }

  @Override
  public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> properties) {
    return new Topics((SupportsRead) connector.getTable(schema, partitioning, properties));
  }

  private static TableProvider connector() {
    try {
      return (TableProvider) DataSource.lookupDataSource("kafka", SQLConf.get()).getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException impossible) {
      throw new IllegalStateException("streamproof: Spark's connector for Kafka is another one", impossible);
    }
  }

  private record Topics(SupportsRead table) implements SupportsRead {
    @Override
    public String name() {
      return table.name();
    }

    @Override
    public Column[] columns() {
      return table.columns();
    }

    /** Spark 4.0 asks for it. */
    @Override
    @SuppressWarnings("deprecation")
    public StructType schema() {
      return table.schema();
    }

    @Override
    public Set<TableCapability> capabilities() {
      return EnumSet.of(TableCapability.MICRO_BATCH_READ);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      return () -> new Topic(table.newScanBuilder(options).build(), Intake.of(options.get(Intake.OPTION)));
    }
  }

  private record Topic(Scan scan, Intake intake) implements Scan {
    @Override
    public StructType readSchema() {
      return scan.readSchema();
    }

    @Override
    public String description() {
      return scan.description();
    }

    @Override
    public CustomMetric[] supportedCustomMetrics() {
      return scan.supportedCustomMetrics();
    }

    @Override
    public MicroBatchStream toMicroBatchStream(String checkpoint) {
      return new Records(scan.toMicroBatchStream(checkpoint), intake);
    }
  }

  private record Records(MicroBatchStream records, Intake intake)
      implements MicroBatchStream, SupportsTriggerAvailableNow, ReportsSourceMetrics {
    @Override
    public Offset latestOffset(Offset start, ReadLimit limit) {
      return ((SupportsAdmissionControl) records).latestOffset(start, ReadLimit.maxRows(intake.ask()));
    }

    @Override
    public Offset latestOffset() {
      return records.latestOffset();
    }

    @Override
    public ReadLimit getDefaultReadLimit() {
      return ((SupportsAdmissionControl) records).getDefaultReadLimit();
    }

    @Override
    public Offset reportLatestOffset() {
      return ((SupportsAdmissionControl) records).reportLatestOffset();
    }

    @Override
    public void prepareForTriggerAvailableNow() {
      ((SupportsTriggerAvailableNow) records).prepareForTriggerAvailableNow();
    }

    @Override
    public Map<String, String> metrics(Optional<Offset> latest) {
      return ((ReportsSourceMetrics) records).metrics(latest);
    }

    @Override
    public InputPartition[] planInputPartitions(Offset start, Offset end) {
      return records.planInputPartitions(start, end);
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
      return records.createReaderFactory();
    }

    @Override
    public Offset initialOffset() {
      return records.initialOffset();
    }

    @Override
    public Offset deserializeOffset(String json) {
      return records.deserializeOffset(json);
    }

    @Override
    public void commit(Offset end) {
      records.commit(end);
    }

    @Override
    public void stop() {
      records.stop();
    }

    /** As Spark's progress and its errors call the source. */
    @Override
    public String toString() {
      return records.toString();
    }
  }
}
