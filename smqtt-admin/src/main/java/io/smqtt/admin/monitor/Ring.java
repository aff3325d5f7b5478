// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.monitor;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The last samples of one interval, each with the values of all {@link Series}. Guarded by its {@link History}. */
final class Ring {

    private static final Series[] SERIES = Series.values();

    private final int seconds;
    private final int joined;
    private final long[] times;
    private final float[] values;
    private int next;
    private int size;

    // the sample that is being joined from finer ones
    private final float[] open = new float[SERIES.length];
    private int inOpen;

    /**
     * Creates an empty ring.
     *
     * @param seconds the interval of its samples
     * @param joined number of finer samples in one of them
     * @param capacity number of its samples
     */
    Ring(int seconds, int joined, int capacity) {
        this.seconds = seconds;
        this.joined = joined;
        times = new long[capacity];
        values = new float[capacity * SERIES.length];
    }

    /** Adds a finer sample. */
    void add(long timeMillis, float[] sample) {
        for (Series series : SERIES) {
            int at = series.ordinal();
            open[at] = inOpen == 0 ? sample[at] : series.join(open[at], sample[at]);
        }
        inOpen++;
        if (inOpen < joined) {
            return;
        }
        inOpen = 0;
        times[next] = timeMillis;
        System.arraycopy(open, 0, values, next * SERIES.length, SERIES.length);
        next = (next + 1) % times.length;
        size = Math.min(size + 1, times.length);
    }

    /** The time that it covers when it is full. */
    int coveredSeconds() {
        return seconds * times.length;
    }

    /** The samples after a moment, the oldest one first, by their names in JSON. */
    List<Map<String, Object>> since(long timeMillis) {
        List<Map<String, Object>> all = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            int at = Math.floorMod(next - size + i, times.length);
            if (times[at] > timeMillis) {
                all.add(fields(at));
            }
        }
        return all;
    }

    private Map<String, Object> fields(int at) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("time_stamp", times[at]);
        fields.put("interval", seconds);
        for (Series series : SERIES) {
            float value = values[at * SERIES.length + series.ordinal()];
            fields.put(series.field(), series == Series.CPU ? Math.rint(value * 1_000) / 1_000 : (Object) (long) value);
        }
        return fields;
    }
}
