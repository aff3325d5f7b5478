// SPDX-License-Identifier: Apache-2.0
package io.smqtt.metric;

/**
 * Exponentially decaying rate per minute over one, five and fifteen minutes, as in the load topics of mosquitto: each value
 * decays towards the latest rate. One thread at a time.
 */
final class LoadAverage {

    private static final int[] MINUTES = {1, 5, 15};

    private final double[] perMinute = new double[MINUTES.length];
    private long lastCount;

    void update(long count, double elapsedSeconds) {
        double rate = (count - lastCount) * 60 / elapsedSeconds;
        lastCount = count;
        for (int i = 0; i < MINUTES.length; i++) {
            double kept = Math.exp(-elapsedSeconds / (MINUTES[i] * 60.0));
            perMinute[i] = rate + kept * (perMinute[i] - rate);
        }
    }

    /** The number of averages. */
    static int count() {
        return MINUTES.length;
    }

    /** The last level of the topic of one average. */
    static String level(int index) {
        return MINUTES[index] + "min";
    }

    double perMinute(int index) {
        return perMinute[index];
    }
}
