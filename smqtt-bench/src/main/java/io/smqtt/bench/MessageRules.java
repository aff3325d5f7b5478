// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import static io.smqtt.bench.ConnectionOptions.check;

/** Validation of message settings. */
final class MessageRules {

    private static final int MAX_PAYLOAD_BYTES = 64 << 20;
    private static final int MAX_IN_FLIGHT = 65_535;

    private MessageRules() {}

    /** @throws WrongUsage if a value is out of range */
    static LoadSettings checked(LoadSettings settings) {
        checkQos(settings.qos());
        check(
                settings.payloadBytes() >= Stamp.BYTES && settings.payloadBytes() <= MAX_PAYLOAD_BYTES,
                "-s " + settings.payloadBytes() + ": payloads are 16 bytes (a time stamp and numbers) to 64 MiB");
        check(settings.perSecond() >= 0, "--rate: cannot be negative");
        check(settings.window() >= 0, "--window: cannot be negative");
        check(
                settings.inFlight() > 0 && settings.inFlight() <= MAX_IN_FLIGHT,
                "-F " + settings.inFlight() + ": 1 to " + MAX_IN_FLIGHT + " messages in flight");
        check(settings.limit() >= 0, "-L: cannot be negative");
        return settings;
    }

    static void checkQos(int qos) {
        check(qos >= 0 && qos <= 2, "-q " + qos + ": QoS is 0, 1 or 2");
    }
}
