// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

/**
 * The figures of one interval of about a second.
 *
 * @param seconds when it ended, since the first message
 * @param connected clients connected at its end
 * @param publishedPerSecond messages sent
 * @param deliveredPerSecond messages received
 * @param p50Micros median latency of received messages, microseconds
 * @param p99Micros 99th percentile of the same
 * @param maxMicros highest of the same
 */
record Sample(
        double seconds,
        long connected,
        double publishedPerSecond,
        double deliveredPerSecond,
        double p50Micros,
        double p99Micros,
        double maxMicros) {}
