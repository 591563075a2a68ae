package io.streamproof;

import java.io.Serializable;
import java.util.Map;

/**
 * What one finished task attempt says it has diverted or tallied (PROTOCOL R5): never a directory listing.
 *
 * <p>{@code door} names the place in the plan, {@code batch}, {@code partition} and {@code attempt} the task. {@code file} is
 * null where rows are only counted.
 */
public record Report(
    String door,
    long batch,
    int partition,
    long attempt,
    String file,
    long size,
    String checksum,
    long rows,
    long records,
    long hash,
    double[] floats,
    double[] absolutes,
    Map<String, Long> reasons)
    implements Serializable {}
