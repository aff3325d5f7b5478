// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * A load in terms of devices and their actions per hour.
 *
 * @param devices number of devices
 * @param online the share of devices connected at once, 0 to 1
 * @param actionsPerHour actions of one device
 * @param messagesPerAction messages to the broker for each action
 * @param consumers clients of the backend; they share the devices' messages
 * @param commandsPerHour messages from the backend to each device
 * @param peakFactor the load at the busiest time, relative to the mean
 */
record BusinessSizing(
        int devices,
        double online,
        double actionsPerHour,
        double messagesPerAction,
        int consumers,
        double commandsPerHour,
        double peakFactor) {

    private static final double SECONDS_PER_HOUR = 3600;
    private static final int STEPS = 10_000;

    int connections() {
        return (int) Math.ceil(devices * online) + consumers;
    }

    /** Mean messages per second from the devices. */
    double meanUp() {
        return devices * actionsPerHour * messagesPerAction / SECONDS_PER_HOUR;
    }

    /** Mean messages per second to the devices. */
    double meanDown() {
        return devices * commandsPerHour / SECONDS_PER_HOUR;
    }

    double peakUp() {
        return meanUp() * peakFactor;
    }

    double peakDown() {
        return meanDown() * peakFactor;
    }

    /** Scales the load; a part that is not zero does not become zero. */
    BusinessSizing scaled(double scale) {
        return new BusinessSizing(
                Math.max(1, (int) Math.round(devices * scale)),
                online,
                actionsPerHour,
                messagesPerAction,
                Math.max(1, (int) Math.round(consumers * scale)),
                commandsPerHour,
                peakFactor);
    }

    /** Name and value of every line for display. */
    Map<String, String> rows() {
        Map<String, String> rows = new LinkedHashMap<>();
        rows.put("devices", devices + ", " + Math.round(online * 100) + " % connected at once");
        rows.put("connections", (connections() - consumers) + " devices + " + consumers + " consumers");
        rows.put("devices publish", rate(meanUp(), peakUp()));
        rows.put("devices receive", rate(meanDown(), peakDown()));
        rows.put("broker in + out at peak", String.format(Locale.ROOT, "%.1f/s", 2 * (peakUp() + peakDown())));
        return rows;
    }

    private static String rate(double mean, double peak) {
        return String.format(Locale.ROOT, "%.1f/s on the mean, %.1f/s at peak", mean, peak);
    }

    /** The largest scale, in steps of 1/10,000, within a number of connections; 0 if there is none. */
    double scaleFor(int connections) {
        int steps = (int) Math.min(STEPS, (long) connections * STEPS / connections());
        while (steps > 0 && scaled((double) steps / STEPS).connections() > connections) {
            steps--;
        }
        return (double) steps / STEPS;
    }

    /**
     * The load at peak as a plan: devices publish to their own topics and consumers share what they publish, consumers
     * publish commands to the topic that each device subscribes to.
     */
    Plan plan(String prefix, int qos) {
        int connected = Math.max(1, connections() - consumers);
        return new SizedPlan(prefix, qos, connected, consumers, peakUp(), peakDown()).plan();
    }
}
