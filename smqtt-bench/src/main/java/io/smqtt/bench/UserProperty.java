// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import static io.smqtt.bench.ConnectionOptions.check;

import java.util.List;

/**
 * A User Property of MQTT 5.0.
 *
 * @param name its name
 * @param value its value
 */
record UserProperty(String name, String value) {

    private static final int MAX_BYTES = 65_535;

    /**
     * Reads the values of a flag.
     *
     * @throws WrongUsage if one has no {@code =}, is too long, or {@code version} has no properties
     */
    static List<UserProperty> of(List<String> texts, int version) {
        check(version == 5 || texts.isEmpty(), "--property needs -V 5");
        return texts.stream().map(UserProperty::of).toList();
    }

    private static UserProperty of(String text) {
        int at = text.indexOf('=');
        check(at > 0, "--property " + text + ": must be NAME=VALUE");
        UserProperty property = new UserProperty(text.substring(0, at), text.substring(at + 1));
        check(property.encodedBytes() <= MAX_BYTES, "--property " + property.name() + ": at most 64 KiB");
        return property;
    }

    /** Size in a packet, with its identifier. */
    int encodedBytes() {
        return 1 + ClientPackets.stringBytes(name) + ClientPackets.stringBytes(value);
    }
}
