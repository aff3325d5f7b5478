// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.time.Duration;
import java.util.List;

/**
 * Properties and pace of the messages of a run.
 *
 * @param qos QoS of publishers: 0, 1 or 2
 * @param payloadBytes the size of a payload
 * @param retain whether messages are retained
 * @param userProperties User Properties of each message, MQTT 5 only
 * @param perSecond messages per second of all publishers together; 0 for a closed loop
 * @param window closed loop: messages of one publisher not yet received by their subscribers; 0 for no such window
 * @param inFlight messages of one publisher not yet acknowledged, QoS 1 and 2; at least 1
 * @param limit maximum number of messages of all publishers together; 0 for no limit
 * @param warmUp time before the measurement
 * @param duration duration of the measurement
 * @param drain maximum time to wait for the last deliveries
 * @param json the number {@code t} of payloads in JSON; empty for payloads of letters
 */
record LoadSettings(
        int qos,
        int payloadBytes,
        boolean retain,
        List<UserProperty> userProperties,
        double perSecond,
        int window,
        int inFlight,
        long limit,
        Duration warmUp,
        Duration duration,
        Duration drain,
        String json) {

    private static final long STALL_NANOS = 2_000_000_000L;

    /** Settings with payloads of letters. */
    LoadSettings(
            int qos,
            int payloadBytes,
            boolean retain,
            List<UserProperty> userProperties,
            double perSecond,
            int window,
            int inFlight,
            long limit,
            Duration warmUp,
            Duration duration,
            Duration drain) {
        this(
                qos,
                payloadBytes,
                retain,
                userProperties,
                perSecond,
                window,
                inFlight,
                limit,
                warmUp,
                duration,
                drain,
                "");
    }

    /** The payload of each message before it is stamped. */
    byte[] payload() {
        return json.isEmpty() ? PublishTemplate.letters(payloadBytes) : Stamp.json(payloadBytes, json);
    }

    /** The timeout of a window without progress, which is then abandoned; missing messages count as lost at the end. */
    long stallNanos() {
        return STALL_NANOS;
    }

    /** The share of a publisher in the first {@link #limit()} messages, which publishers send in turns. */
    long limitOf(int publisher, int publishers) {
        return limit == 0 ? Integer.MAX_VALUE : Math.max(0, (limit - publisher + publishers - 1) / publishers);
    }
}
