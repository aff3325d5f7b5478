// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;

/** Milliseconds since a campaign began, and the same as the time of day that the logs of brokers have. Thread-safe. */
final class CampaignClock {

    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("HH:mm:ss.SSS").withZone(ZoneOffset.UTC);

    private final long beganNanos = System.nanoTime();
    private final Instant began = Instant.now();

    /** The present moment: 1 or more. */
    int millis() {
        return (int) ((System.nanoTime() - beganNanos) / 1_000_000) + 1;
    }

    /** The time of day, in UTC. */
    String text(int millis) {
        return TIME.format(began.plusMillis(millis));
    }
}
