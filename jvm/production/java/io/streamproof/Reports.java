package io.streamproof;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.util.AccumulatorV2;

/** Carries the reports of finished tasks to the driver. Spark merges the values of completed attempts only. */
public final class Reports extends AccumulatorV2<Report, List<Report>> {
  private final List<Report> reports = new ArrayList<>();

  @Override
  public synchronized boolean isZero() {
    return reports.isEmpty();
  }

  @Override
  public synchronized AccumulatorV2<Report, List<Report>> copy() {
    Reports copy = new Reports();
    copy.reports.addAll(reports);
    return copy;
  }

  @Override
  public synchronized void reset() {
    reports.clear();
  }

  @Override
  public synchronized void add(Report report) {
    reports.add(report);
  }

  @Override
  public synchronized void merge(AccumulatorV2<Report, List<Report>> other) {
    reports.addAll(other.value());
  }

  @Override
  public synchronized List<Report> value() {
    return new ArrayList<>(reports);
  }

  /** Takes the reports of one batch out, so that a long-running driver does not keep them. */
  synchronized List<Report> drain(long batch) {
    List<Report> taken = new ArrayList<>();
    reports.removeIf(report -> report.batch() <= batch && (report.batch() < batch || taken.add(report)));
    return taken;
  }
}
