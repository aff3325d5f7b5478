// SPDX-License-Identifier: Apache-2.0
package io.smqtt.it.conformance;

/**
 * One normative statement.
 *
 * @param section number and title of the section it belongs to
 * @param number the statement's number without the {@code MQTT-} in front
 * @param asks what it asks, in our own words
 * @param reason why no test proves it; empty if one must
 */
record Statement(Standard standard, String section, String number, Binding binding, String asks, String reason) {

    Statement {
        if (asks.isBlank()) {
            throw new IllegalArgumentException("MQTT-" + number + " says nothing");
        }
        if (!binding.asksTheServer() && reason.isBlank()) {
            throw new IllegalArgumentException("MQTT-" + number + " does not bind the server and must say why");
        }
    }

    /** The tag as the standard prints it. */
    String tag() {
        return "MQTT-" + number;
    }

    /** Whether only a test can settle it. */
    boolean needsTest() {
        return binding.asksTheServer() && reason.isEmpty();
    }
}
